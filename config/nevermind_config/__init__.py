"""Settings: what can be chosen, under which names, with which values and defaults."""
