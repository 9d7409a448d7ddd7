"""A bounded memory that forgets its oldest entries.  Knows nothing of ids' meaning.

Two generations: entries go into the young one; when that holds ``count`` of
them it becomes the old one and the former old one is forgotten.  So at least
the newest ``count`` are known and never more than twice as many, at the price
of a plain dictionary.  (Evicting one entry at a time from the front of a
dictionary costs time proportional to what was evicted before.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Generations(Generic[K, V]):
    """A mapping of bounded size; ``keep`` says which evicted entries must stay.

    ``count`` 0 remembers nothing at all.
    """

    __slots__ = ("_count", "_keep", "old", "young")

    def __init__(self, count: int, keep: Callable[[V], bool] | None = None) -> None:
        self._count = count
        self._keep = keep
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self.young) + len(self.old)

    def __contains__(self, key: K) -> bool:
        return key in self.young or key in self.old

    def get(self, key: K) -> V | None:
        """What is remembered of ``key``, or None."""
        found = self.young.get(key)
        return found if found is not None else self.old.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember ``key``; it counts as the newest from now on."""
        self.old.pop(key, None)
        self.young[key] = value
        if len(self.young) >= self._count:
            self._rotate()

    def put_new(self, key: K, value: V) -> None:
        """Remember ``key``, which is not known."""
        self.young[key] = value
        if len(self.young) >= self._count:
            self._rotate()

    def put_all_new(self, pairs: Iterable[tuple[K, V]]) -> None:
        """Remember keys, none of which is known or to be held fast, in one go."""
        self.young.update(pairs)
        spare = len(self.young) - self._count
        if spare > 0:
            self.young = dict(islice(self.young.items(), spare, None))
        if spare >= 0:
            self._rotate()

    def exchange(self, key: K, value: V) -> None:
        """Remember something else of ``key``, which is known; it is no newer for that."""
        (self.young if key in self.young else self.old)[key] = value

    def pop(self, key: K) -> V | None:
        """Forget ``key``; what was remembered of it, or None."""
        found = self.young.pop(key, None)
        return found if found is not None else self.old.pop(key, None)

    def isdisjoint(self, keys: Iterable[K]) -> bool:
        """Whether none of ``keys`` (a collection, read twice) is known."""
        return self.young.keys().isdisjoint(keys) and (
            not self.old or self.old.keys().isdisjoint(keys)
        )

    def values(self) -> Iterator[V]:
        """All that is remembered, oldest generation first."""
        yield from self.old.values()
        yield from self.young.values()

    def clear(self) -> None:
        """Forget everything but what ``keep`` holds fast."""
        self.old = self._kept(self.old)
        self.young = self._kept(self.young)

    def _rotate(self) -> None:
        kept = self._kept(self.old)
        self.old = self.young
        self.young = {}
        if self._count == 0:
            self.old = self._kept(self.old)
        self.old.update(kept)

    def _kept(self, generation: dict[K, V]) -> dict[K, V]:
        keep = self._keep
        if keep is None:
            return {}
        return {key: value for key, value in generation.items() if keep(value)}
