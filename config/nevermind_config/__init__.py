"""Settings: what can be chosen, under which names, with which values and defaults.

``options`` is the table, ``values`` the kinds of value in it; both are read
before the server is started and import nothing.  ``settings`` makes the
engine's own values of what was chosen.
"""
