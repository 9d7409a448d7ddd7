"""Fresh wire ids: issued once, of the type of the id that they stand for, seen by nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nevermind.fresh import FreshIds
from nevermind.ids import Key, twin

BLOCK = 4096


def fresh(nonce: str = "5eed", *seen: Key) -> FreshIds:
    """The fresh ids of a session in which these keys were seen."""
    return FreshIds(nonce, set(seen).__contains__)


def test_strings_have_a_prefix_that_nobody_can_guess() -> None:
    """And are counted."""
    ids = fresh("5eed")
    assert [ids.issue("a"), ids.issue("a"), ids.issue("")] == [
        "nevermind-5eed-1",
        "nevermind-5eed-2",
        "nevermind-5eed-3",
    ]


def test_integers_are_within_32_bits() -> None:
    """LSP allows no more; beyond 2**53 JavaScript would spoil them."""
    ids = fresh()
    first = ids.issue(7)
    assert isinstance(first, int)
    assert 2**30 <= first < 2**31
    assert ids.issue(7) == first + 1
    assert ids.issue(10**30) == first + 2


def test_huge_numbers_get_integers_too() -> None:
    """They are numbers."""
    assert isinstance(fresh().issue((1, "1", 5000)), int)


def test_the_nonce_decides_where_integers_begin() -> None:
    """An empty one will do."""
    assert fresh("1").issue(7) != fresh("2").issue(7)
    assert fresh("").issue(7) == fresh("0").issue(7) == 2**30


def test_nothing_is_issued_twice() -> None:
    """Nor is anything in the range issued that was seen before it was begun."""
    ids = fresh("0", 2**30 + 5)
    found = [ids.issue(7) for _ in range(3 * BLOCK)]
    assert len(set(found)) == 3 * BLOCK
    assert found[0] == 2**30 + BLOCK, "something was seen in the first block"
    assert found[-1] == found[0] + 3 * BLOCK - 1


def test_at_the_end_the_search_goes_on_at_the_beginning() -> None:
    """Whatever the nonce."""
    blocks = (2**31 - 1 - 2**30) // BLOCK
    ids = fresh(f"{blocks - 1:x}")
    found = [ids.issue(7) for _ in range(BLOCK + 1)]
    assert found[BLOCK - 1] == 2**31 - 1 - BLOCK
    assert found[BLOCK] == 2**30


def test_a_peer_that_has_used_every_range() -> None:
    """The search ends, and a string has to do."""
    looked: list[Key] = []

    def seen(key: Key) -> bool:
        looked.append(key)
        return True

    ids = FreshIds("0", seen)
    assert ids.issue(7) == "nevermind-0-1"
    assert 1 < len(looked) < 100
    assert ids.issue(7) == "nevermind-0-2"
    assert 1 < len(looked) < 100, "it is not repeated for every id"
    assert ids.issued("nevermind-0-2")


class TestIssued:
    """Whether an id is one of ours."""

    def test_before_anything_was(self) -> None:
        """No id is."""
        ids = fresh("0")
        assert not ids.issued(2**30)
        assert not ids.issued("nevermind-0-1")
        assert not ids.issued(str(2**30))

    def test_the_whole_range_is(self) -> None:
        """Also what was not yet: nobody else may use it now."""
        ids = fresh("0")
        ids.issue(7)
        assert ids.issued(2**30)
        assert ids.issued(2**30 + BLOCK - 1)
        assert not ids.issued(2**30 + BLOCK)
        assert not ids.issued(2**30 - 1)
        assert not ids.issued((1, "1", 5000))

    def test_an_integer_that_was_coerced(self) -> None:
        """Servers turn numbers into strings."""
        ids = fresh("0")
        ids.issue(7)
        assert ids.issued(str(2**30))
        assert not ids.issued("x")
        assert not ids.issued("7")

    def test_a_string(self) -> None:
        """By its prefix."""
        ids = fresh("0")
        ids.issue("a")
        assert ids.issued("nevermind-0-1")
        assert not ids.issued("nevermind-1-1")
        assert not ids.issued(2**30), "only strings were issued"

    @given(st.lists(st.sampled_from([7, "a"]), max_size=20))
    def test_all_that_was(self, likes: list[Key]) -> None:
        """With the JSON type of what it stands for, and its twin."""
        ids = fresh("beef")
        for like in likes:
            key = ids.issue(like)
            assert type(key) is type(like)
            assert ids.issued(key)
            other = twin(key)
            assert other is None or ids.issued(other)
