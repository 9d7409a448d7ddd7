"""Enums whose members are hashed in C.  Knows nothing of what they stand for."""

from __future__ import annotations

import enum


class Singletons(enum.Enum):
    """An enum for keys of dictionaries that every message is looked up in.

    Members are equal only to themselves, so that the hash of any object will do.  The one
    that ``Enum`` has is a call into Python: a message would pay for it twice, a drop half a
    dozen times.
    """

    __hash__ = object.__hash__
