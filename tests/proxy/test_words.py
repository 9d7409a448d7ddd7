"""Words in a message that comes in pieces: found wherever the pieces end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.words import WordSearch

WORDS = (b"abc", b"bcbcb", b"x")


def searched(words: tuple[bytes, ...], *pieces: bytes) -> bool:
    """Whether one of ``words`` is found in these pieces."""
    search = WordSearch(words)
    for piece in pieces:
        search.feed(piece, len(piece))
    return search.found


@pytest.mark.parametrize(
    "pieces", [[b"..abc.."], [b"..a", b"bc"], [b"a", b"b", b"c"], [b"ab", b"", b"c"]]
)
def test_found(pieces: list[bytes]) -> None:
    """In one piece, or torn between several."""
    assert searched(WORDS, *pieces)


@pytest.mark.parametrize("pieces", [[], [b""], [b"..ab", b".c"], [b"ab", b"bc"], [b"c", b"ba"]])
def test_not_found(pieces: list[bytes]) -> None:
    """Not there, or not in this order."""
    assert not searched(WORDS, *pieces)


def test_no_words() -> None:
    """Then there is nothing to find."""
    assert not searched((), b"abc")


def test_found_once() -> None:
    """Is found for good."""
    assert searched(WORDS, b"abc", b"...")


def test_only_so_much_of_a_buffer() -> None:
    """What stands behind is not of the message."""
    search = WordSearch(WORDS)
    search.feed(bytearray(b"..abc"), 4)
    assert not search.found
    search.feed(bytearray(b"c.abc"), 1)
    assert search.found


class TestHerald:
    """A byte that stands before each word, or is spelled with a backslash."""

    @pytest.mark.parametrize(
        ("pieces", "found"),
        [
            ([b"_abc"], True),
            ([b"_", b"...", b"ab", b"c"], True),
            ([b"..\\u005f", b"abc"], True),
            ([b"....", b".abc"], False),
            ([b"abc_", b"..."], True),
            ([b"abc", b"_..."], False),
        ],
    )
    def test_nothing_is_looked_for_before_it(self, pieces: list[bytes], found: bool) -> None:
        """A word that no herald came before is no whole word of what is looked for."""
        search = WordSearch((b"abc",), herald=b"_")
        for piece in pieces:
            search.feed(piece, len(piece))
        assert search.found is found

    def test_only_so_much_of_a_buffer(self) -> None:
        """A herald that stands behind is not of the message."""
        search = WordSearch((b"abc",), herald=b"_")
        search.feed(bytearray(b"...._"), 4)
        search.feed(bytearray(b"abc"), 3)
        assert not search.found


@given(
    st.text(alphabet="abcx.", max_size=40).map(str.encode),
    st.lists(st.integers(0, 40), max_size=6),
    st.lists(st.sampled_from(WORDS), max_size=3).map(tuple),
)
def test_any_pieces(text: bytes, cuts: list[int], words: tuple[bytes, ...]) -> None:
    """Yield what the whole yields."""
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[start:stop] for start, stop in pairwise(places)]
    assert searched(words, *pieces) == any(word in text for word in words)
