"""Connections to one peer each, all behind the one small protocol in ``transport``.

A transport knows its medium and nothing of sessions: what is received is handed over as it
came, what is to be sent is taken from a queue.
"""
