"""The beginning of a frame, held until more comes.  Knows nothing of where frames end."""

from __future__ import annotations


class Held:
    """What a framing holds, in the pieces in which it came.

    ``size`` is in bytes, ``touched`` when the last piece came.  ``awaited`` is how many
    bytes the begun frame needs, 0 where that cannot be told.
    """

    __slots__ = ("_parts", "awaited", "size", "touched")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0
        self.awaited = 0
        self.touched = 0.0

    def keep(self, rest: bytes, now: float) -> None:
        """Hold ``rest``, the beginning of a frame, until more comes."""
        if rest:
            self._parts.append(rest)
            self.size += len(rest)
            self.touched = now

    def take(self) -> bytes:
        """Give up all that is held."""
        held = b"".join(self._parts)
        self._parts.clear()
        self.size = self.awaited = 0
        return held

    def _with(self, data: bytes) -> bytes:
        """Give up all that is held, and ``data`` behind it."""
        if not self.size:
            return data
        self._parts.append(data)
        return self.take()
