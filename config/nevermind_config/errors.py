"""What is wrong with a configuration, in one line."""

from __future__ import annotations


class ConfigError(Exception):
    """A configuration file cannot be followed.

    Its text is one line that names the file, the place in it (a line or a key),
    what was found there and what is allowed.
    """


class UnreadableError(ConfigError):
    """There is no such file, or it cannot be read.  ``why`` is the system's word for it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why
