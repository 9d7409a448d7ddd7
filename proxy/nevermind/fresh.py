"""Fresh wire ids: names that nobody else has used, issued once.

Needed when an issuer uses an id again while its tombstone stands.  Fresh ids
keep the JSON type of the id that they stand for: integers within 32 bits (LSP
allows no more), strings with a random prefix.  Knows nothing of requests: what
is in use already it asks.
"""

from __future__ import annotations

from collections.abc import Callable

from nevermind.ids import Key, twin

_BLOCK = 4096
_LOWEST = 1 << 30
_HIGHEST = (1 << 31) - 1
_TRIES = 64
"""Blocks that may turn out to be in use.  To make it so takes a peer that wants to."""


class FreshIds:
    """The fresh ids and tokens of one issuer's requests.

    ``nonce`` is random hex that makes strings unlike any other's and decides
    where the integers begin.  ``seen`` says whether a key is known already.
    """

    __slots__ = ("_blocks", "_count", "_exhausted", "_left", "_next", "_prefix", "_seen")

    def __init__(self, nonce: str, seen: Callable[[Key], bool]) -> None:
        self._prefix = f"nevermind-{nonce}-"
        self._seen = seen
        self._count = 0
        self._blocks: set[int] = set()
        self._left = 0
        self._exhausted = False
        span = (_HIGHEST - _LOWEST) // _BLOCK
        self._next = _LOWEST + int(nonce or "0", 16) % span * _BLOCK

    def issue(self, like: Key) -> Key:
        """A key that was never issued, of the JSON type of ``like``.

        A string in any case once no range of integers can be found.
        """
        if not isinstance(like, str) and self._left == 0 and not self._exhausted:
            self._exhausted = not self._open_block()
        if isinstance(like, str) or self._exhausted:
            self._count += 1
            return f"{self._prefix}{self._count}"
        self._left -= 1
        self._next += 1
        return self._next - 1

    def issued(self, key: Key) -> bool:
        """Whether ``key``, or the integer that it spells, lies in a range issued here."""
        if isinstance(key, str):
            if self._count and key.startswith(self._prefix):
                return True
            if not self._blocks:
                return False
            other = twin(key)
            return isinstance(other, int) and other // _BLOCK in self._blocks
        return isinstance(key, int) and key // _BLOCK in self._blocks

    def _open_block(self) -> bool:
        for _ in range(_TRIES):
            start = self._next - self._next % _BLOCK
            if start + _BLOCK > _HIGHEST:
                start = _LOWEST
            self._next = start + _BLOCK
            block = start // _BLOCK
            if block not in self._blocks and not any(
                self._seen(key) for key in range(start, start + _BLOCK)
            ):
                self._blocks.add(block)
                self._next = start
                self._left = _BLOCK
                return True
        return False
