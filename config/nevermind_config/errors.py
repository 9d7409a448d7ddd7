"""What is wrong with a configuration, in one line."""

from __future__ import annotations


class ConfigError(Exception):
    """A configuration file cannot be followed.

    Its text is one line that names the file, the place in it (a line or a key),
    what was found there and what is allowed.
    """
