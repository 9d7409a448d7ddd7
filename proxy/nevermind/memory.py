"""A bounded memory that forgets its oldest entries.  Knows nothing of ids' meaning.

Two generations: entries go into the young one; when that holds ``count`` of
them it becomes the old one and the former old one is forgotten.  So at least
the newest ``count`` are known and never more than twice as many, at the price
of a plain dictionary.  (Evicting one entry at a time from the front of a
dictionary costs time proportional to what was evicted before.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class Generations(Generic[K, V]):
    """A mapping of bounded size; ``keep`` says which evicted entries must stay.

    ``count`` 0 remembers nothing at all.
    """

    __slots__ = ("_count", "_keep", "_old", "_old_later", "_room", "_young", "_young_later")

    def __init__(self, count: int, keep: Callable[[V], bool] | None = None) -> None:
        self._count = count
        self._keep = keep
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_later: list[tuple[Sequence[K], list[V]]] = []
        self._old_later: list[tuple[Sequence[K], list[V]]] = []
        self._room = count
        """Keys that the young dictionary may hold, besides those that are entered later."""

    def __len__(self) -> int:
        self._enter()
        return len(self._young) + len(self._old)

    def __contains__(self, key: K) -> bool:
        self._enter()
        return key in self._young or key in self._old

    def get(self, key: K) -> V | None:
        """What is remembered of ``key``, or None."""
        self._enter()
        found = self._young.get(key)
        return found if found is not None else self._old.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember ``key``; it counts as the newest from now on."""
        self._enter()
        self._old.pop(key, None)
        self.put_new(key, value)

    def put_new(self, key: K, value: V) -> None:
        """Remember ``key``, which is not known."""
        young = self._young
        young[key] = value
        if len(young) >= self._room:
            self._rotate()

    def put_all_new(self, keys: list[K], values: list[V]) -> None:
        """Remember keys, none of which is known or to be held fast, in one go.

        They are entered when somebody asks for any.  As long as nothing is cancelled
        nobody does, and most will have been forgotten by then: a quarter of the time that
        a pipelined answer takes.
        """
        if not self._count:
            return
        while len(keys) >= (room := self._room - len(self._young)):
            self._young_later.append((keys[:room], values[:room]))
            self._rotate()
            keys, values = keys[room:], values[room:]
        if keys:
            self._young_later.append((_in_short(keys), values))
            self._room -= len(keys)

    def exchange(self, key: K, value: V) -> None:
        """Remember something else of ``key``, which is known; it is no newer for that."""
        self._enter()
        (self._young if key in self._young else self._old)[key] = value

    def pop(self, key: K) -> V | None:
        """Forget ``key``; what was remembered of it, or None."""
        self._enter()
        found = self._young.pop(key, None)
        return found if found is not None else self._old.pop(key, None)

    def isdisjoint(self, keys: Iterable[K]) -> bool:
        """Whether none of ``keys`` (a collection, read twice) is known."""
        self._enter()
        return self._young.keys().isdisjoint(keys) and (
            not self._old or self._old.keys().isdisjoint(keys)
        )

    def values(self) -> Iterator[V]:
        """All that is remembered, oldest generation first."""
        self._enter()
        yield from self._old.values()
        yield from self._young.values()

    def clear(self) -> None:
        """Forget everything but what ``keep`` holds fast."""
        self._enter()
        self._old = self._kept(self._old)
        self._young = self._kept(self._young)

    def _enter(self) -> None:
        """Enter what was put off."""
        if self._old_later:
            _empty(self._old_later, self._old)
        if self._young_later:
            _empty(self._young_later, self._young)
            self._room = self._count

    def _rotate(self) -> None:
        kept = self._kept(self._old)
        self._old, self._old_later = self._young, self._young_later
        self._young, self._young_later = {}, []
        self._room = self._count
        if self._count == 0:
            self._old = self._kept(self._old)
        self._old.update(kept)

    def _kept(self, generation: dict[K, V]) -> dict[K, V]:
        keep = self._keep
        if keep is None:
            return {}
        return {key: value for key, value in generation.items() if keep(value)}


def _in_short(keys: list[K]) -> Sequence[K]:
    """The same keys; where they are distinct integers that count up, without an object for each.

    Most issuers count.  It is less memory by half, and what is not kept is used again at
    once, while it is still in the processor's cache: a twentieth of a pipelined answer.
    """
    numbers: Any = keys
    first, last = numbers[0], numbers[-1]
    if type(first) is int and type(last) is int and last - first == len(keys) - 1:
        try:
            if sorted(numbers) == numbers:
                return cast("Sequence[K]", range(first, last + 1))
        except TypeError:
            pass  # a string among them
    return keys


def _empty(later: list[tuple[Sequence[K], list[V]]], into: dict[K, V]) -> None:
    for keys, values in later:
        into.update(zip(keys, values, strict=True))
    later.clear()
