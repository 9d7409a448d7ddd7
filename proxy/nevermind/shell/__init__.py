"""The I/O around the sans-I/O core: processes, descriptors, signals, time.

Start-up order matters here, so this package imports nothing: ``spawn`` runs before all
else, ``pump`` can carry messages before Trio is there, ``relay`` brings it in.
"""
