"""The kinds of value a setting can have, how each is read from text and from TOML.

Knows nothing of where it came from (argv, environment, a file).  All of
this runs before the server is started and must not delay it: plain classes,
no imports (``dataclasses`` or ``enum`` alone cost 8 to 17 ms).
"""

from __future__ import annotations

Value = str | int | float | bool | tuple[str, ...] | None
"""What a setting holds once it is read.  None: nothing was chosen."""

_UNITS = {
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KIB": 1024,
    "MIB": 1024**2,
    "GIB": 1024**3,
}

_MOST = 2**62
"""Larger counts and sizes are typing errors, and C code would refuse them."""


class Kind:
    """A kind of value; this one, from which the others are made, is any text.

    ``metavar`` is what help shows in the value's place; ``allowed`` says in
    words what a configuration file may hold.  ``discreet``: what is wrong may
    be a secret in the wrong place, and is not quoted.
    """

    metavar = "TEXT"
    allowed = "a text"
    discreet = False

    def hides(self, value: Value) -> bool:  # noqa: ARG002
        """Whether ``show`` leaves out of ``value`` what may be a secret."""
        return False

    def read(self, text: str) -> Value:
        """The value that ``text`` spells; ValueError says what is wrong with it."""
        return text

    def take(self, found: object) -> Value:
        """The value that ``found``, out of a TOML file, stands for; ValueError if none."""
        if not isinstance(found, str):
            raise ValueError("not a text")
        return self.read(found)

    def show(self, value: Value) -> str:
        """``value`` as a user would write it."""
        return str(value)


class Choice(Kind):
    """One of a few words, spelled exactly."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.metavar = "[" + "|".join(words) + "]"
        self.allowed = ", ".join(words)

    def read(self, text: str) -> str:
        if text not in self.words:
            raise ValueError(f"{text!r} is not one of {', '.join(self.words)}")
        return text


class Flag(Kind):
    """On or off.  On the command line it takes no value: ``--x`` or ``--no-x``."""

    metavar = ""
    allowed = "true, false"
    _ON = ("1", "true", "yes", "on")
    _OFF = ("0", "false", "no", "off")

    def read(self, text: str) -> bool:
        word = text.lower()
        if word in self._ON:
            return True
        if word in self._OFF:
            return False
        raise ValueError(f"{text!r} is neither on nor off")

    def take(self, found: object) -> bool:
        if not isinstance(found, bool):
            raise ValueError("not a boolean")
        return found

    def show(self, value: Value) -> str:
        return "on" if value else "off"


class Count(Kind):
    """How many of something: a whole number from 1."""

    metavar = "COUNT"
    allowed = "a whole number from 1"

    def read(self, text: str) -> int:
        number = _whole(text)
        if number is None or not 1 <= number <= _MOST:
            most = f" to {_MOST}" if text.isascii() and text.isdigit() and text.strip("0") else ""
            raise ValueError(f"{text!r} is not a whole number from 1{most}")
        return number

    def take(self, found: object) -> int:
        return self.read(_digits(found))


class Size(Kind):
    """An amount of bytes, such as 65536, 64KiB or 10MB."""

    metavar = "SIZE"
    allowed = 'a number of bytes from 1, or a text such as "64KiB" or "10MB"'

    def read(self, text: str) -> int:
        digits = text.rstrip("BGIKMbgikm")
        number = _whole(digits)
        unit = _UNITS.get(text[len(digits) :].upper() or "B")
        if number is None or unit is None or not 1 <= number * unit <= _MOST:
            raise ValueError(f"{text!r} is not a size such as 65536, 64KiB or 10MB")
        return number * unit

    def take(self, found: object) -> int:
        return self.read(found if isinstance(found, str) else _digits(found))

    def show(self, value: Value) -> str:
        for name, unit in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
            if isinstance(value, int) and value and value % unit == 0:
                return f"{value // unit}{name}"
        return str(value)


class Seconds(Kind):
    """A length of time in seconds, fractions allowed; 0 is none at all."""

    metavar = "SECONDS"
    allowed = "a number of seconds from 0"
    _MOST = 10**9
    """30 years: far from what a clock or ``poll`` cannot take."""

    def read(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        plain = text.isascii() and text.strip("0123456789.") == ""
        if not plain or not 0 <= number <= self._MOST:
            most = f" (at most {self._MOST})" if plain and number > 0 else ""
            raise ValueError(f"{text!r} is not a number of seconds from 0, e.g. 60 or 0.5{most}")
        return number

    def take(self, found: object) -> float:
        if isinstance(found, float) and 0 <= found <= self._MOST:
            return found
        return self.read(_digits(found))

    def show(self, value: Value) -> str:
        return f"{value:.9f}".rstrip("0").rstrip(".")


class Limit(Kind):
    """A length of time after which something is done; ``off`` (None): it never is."""

    metavar = "SECONDS"
    allowed = 'a number of seconds from 0, or "off"'
    _SECONDS = Seconds()

    def read(self, text: str) -> float | None:
        return None if text == "off" else self._SECONDS.read(text)

    def take(self, found: object) -> float | None:
        return None if found == "off" else self._SECONDS.take(found)

    def show(self, value: Value) -> str:
        return "off" if value is None else self._SECONDS.show(value)


class File(Kind):
    """The path of a file; ``~`` at its head is the user's home."""

    metavar = "FILE"
    allowed = "the name of a file"

    def read(self, text: str) -> str:
        if not text or "\0" in text:
            raise ValueError(f"{text!r} is not the name of a file")
        return text


class Name(Kind):
    """The name of something that the user or we have defined, such as a dialect."""

    metavar = "NAME"
    allowed = "a name"

    def read(self, text: str) -> str:
        if not text.strip() or not text.isprintable():
            raise ValueError(f"{text!r} is not a name")
        return text


def _digits(found: object) -> str:
    """A whole number out of a TOML file, as text; "" for anything else."""
    whole = isinstance(found, int) and not isinstance(found, bool) and abs(found) <= _MOST
    return str(found) if whole else ""


def _whole(text: str) -> int | None:
    # int() alone would also take "1_000", " 7" and digits of other scripts; and a text of
    # thousands of digits makes it raise
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
