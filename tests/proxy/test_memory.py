"""A bounded memory: the newest are known, the oldest go, what is held fast stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.memory import Generations


def filled(count: int, *keys: int) -> Generations[int, str]:
    """A memory into which ``keys`` went, one after the other."""
    memory: Generations[int, str] = Generations(count)
    for key in keys:
        memory.put(key, f"v{key}")
    return memory


def test_what_is_put_is_known() -> None:
    """And what is not is not."""
    memory = filled(10, 1, 2)
    assert memory.get(1) == "v1"
    assert memory.get(3) is None
    assert 2 in memory
    assert 3 not in memory
    assert len(memory) == 2
    assert list(memory.values()) == ["v1", "v2"]


def test_the_oldest_go_first() -> None:
    """A generation at a time."""
    memory = filled(3, 1, 2, 3, 4, 5)
    assert [key in memory for key in (1, 2, 3, 4, 5)] == [True] * 5
    memory.put(6, "v6")
    assert [key in memory for key in (1, 2, 3, 4, 5, 6)] == [False] * 3 + [True] * 3
    assert list(memory.values()) == ["v4", "v5", "v6"]


def test_putting_again_makes_it_the_newest() -> None:
    """With its new value."""
    memory = filled(3, 1, 2, 3)
    memory.put(1, "again")
    memory.put(4, "v4")
    memory.put(5, "v5")
    assert memory.get(1) == "again"
    assert 2 not in memory


def test_forgetting_one() -> None:
    """From either generation; what was remembered is given back."""
    memory = filled(3, 1, 2, 3, 4)
    assert memory.pop(4) == "v4"
    assert memory.pop(1) == "v1"
    assert memory.pop(1) is None
    assert [key in memory for key in (1, 2, 3, 4)] == [False, True, True, False]


def test_something_else_of_a_known_key() -> None:
    """In its place: it is no newer for that."""
    memory = filled(2, 1, 2, 3)
    memory.exchange(1, "old")
    memory.exchange(3, "young")
    assert list(memory.values()) == ["old", "v2", "young"]
    memory.put(4, "v4")
    assert list(memory.values()) == ["young", "v4"]


def test_new_keys_by_themselves_or_together() -> None:
    """The bound holds for them too."""
    memory = filled(3, 1)
    memory.put_new(2, "v2")
    assert len(memory) == 2
    memory.put_new(3, "v3")
    memory.put_all_new([4], ["v4"])
    assert memory.get(1) == "v1"
    memory.put_all_new([5, 6, 7], ["v5", "v6", "v7"])
    assert list(memory.values()) == ["v4", "v5", "v6", "v7"]


@pytest.mark.parametrize(
    "keys",
    [[5], [5, 6, 7], [7, 6, 5], [5, 7, 6, 8], [5, 9, 7], [5, "x", 7], [-1, 0, 1], ["a", "b"]],
)
def test_keys_that_count_up_and_others(keys: list[int | str]) -> None:
    """Each is known, with its own value, and nothing else is."""
    memory: Generations[int | str, str] = Generations(100)
    memory.put_all_new(keys, [f"v{key}" for key in keys])
    assert [memory.get(key) for key in keys] == [f"v{key}" for key in keys]
    assert len(memory) == len(keys)
    assert 99 not in memory


def test_very_many_together() -> None:
    """No more than the bound is kept of them, and those the newest."""
    memory = filled(3, 1, 2)
    memory.put_all_new([*range(10, 20)], [f"v{key}" for key in range(10, 20)])
    assert list(memory.values()) == ["v17", "v18", "v19"]
    assert 1 not in memory


def test_no_common_keys() -> None:
    """With either generation."""
    memory = filled(2, 1, 2, 3)
    assert memory.isdisjoint({4, 5})
    assert not memory.isdisjoint({3, 4})
    assert not memory.isdisjoint({2, 4})
    assert filled(2).isdisjoint({1})


def test_a_memory_of_nothing() -> None:
    """``--remember 0``."""
    memory = filled(0, 1, 2)
    assert len(memory) == 0
    memory.put_all_new([3], ["v3"])
    memory.put_new(4, "v4")
    assert memory.isdisjoint({1, 2, 3, 4})


def test_clearing() -> None:
    """Everything goes."""
    memory = filled(2, 1, 2, 3)
    memory.clear()
    assert len(memory) == 0


@pytest.mark.parametrize("count", [0, 1, 2])
def test_what_is_held_fast_is_never_evicted(count: int) -> None:
    """Nor cleared; it goes when it is no longer held."""
    held = {"v1"}
    memory: Generations[int, str] = Generations(count, keep=lambda value: value in held)
    for key in range(1, 20):
        memory.put(key, f"v{key}")
    assert memory.get(1) == "v1"
    assert len(memory) <= 2 * count + 1
    memory.clear()
    assert list(memory.values()) == ["v1"]
    held.clear()
    for key in range(20, 25):
        memory.put(key, f"v{key}")
    assert 1 not in memory
    memory.clear()
    assert len(memory) == 0


@given(st.integers(0, 5), st.lists(st.integers(0, 12), max_size=60), st.booleans())
def test_at_least_the_newest_are_known_and_at_most_twice_as_many(
    count: int, keys: list[int], together: bool
) -> None:
    """Whatever is put, in whatever order, by itself or with others."""
    memory: Generations[int, int] = Generations(count)
    order: list[int] = []
    for at, key in enumerate(keys):
        if key in memory:
            memory.put(key, at)
        elif together:
            memory.put_all_new([key], [at])
        else:
            memory.put_new(key, at)
        order = [k for k in order if k != key] + [key]
        assert len(memory) == len(list(memory.values())) <= 2 * count
        newest = order[len(order) - min(count, len(order)) :]
        assert all(k in memory for k in newest)
        for k in range(13):
            found = memory.get(k)
            assert found is None or keys[found] == k, "the last value of the key"
            assert (found is not None) == (k in memory) == (not memory.isdisjoint({k}))
