"""Ids are the same when their JSON type and exact value are, however they are spelled."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.ids import LONGEST, Key, read_key, read_string, shown, spell, twin

WHOLE = [
    (b"7", 7),
    (b"7.0", 7),
    (b"7.000", 7),
    (b"7e0", 7),
    (b"0.7e1", 7),
    (b"70e-1", 7),
    (b"7E+0", 7),
    (b"-7", -7),
    (b"-7.0", -7),
    (b"0", 0),
    (b"-0", 0),
    (b"-0.0e5", 0),
    (b"0e99999999999999999999999", 0),
    (b"12e3", 12000),
    (b"9007199254740993", 9007199254740993),
    (b"123456789012345678901234567890", 123456789012345678901234567890),
]
NEVER = [
    b"null",
    b"true",
    b"false",
    b"[7]",
    b'{"id":7}',
    b"1.5",
    b"1e-1",
    b"-0.5",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"01",
    b"+1",
    b".5",
    b"1.",
    b"1e",
    b"0x7",
    b" 7",
    b"7 ",
    b"",
    b"1e9999999999999999999",
]


@pytest.mark.parametrize(("raw", "key"), WHOLE)
def test_a_whole_number_is_its_value(raw: bytes, key: int) -> None:
    """``7``, ``7.0`` and ``7e0`` are one id, and minus zero is zero."""
    assert read_key(raw) == key
    assert type(read_key(raw)) is int


@pytest.mark.parametrize("raw", NEVER)
def test_what_is_never_an_id(raw: bytes) -> None:
    """Only strings and whole numbers are; an exponent beyond any memory is none either."""
    assert read_key(raw) is None


def test_a_string_is_its_text() -> None:
    """Escapes are spelling, the text counts; a lone surrogate is text too."""
    assert read_key(b'"a"') == read_key(b'"\\u0061"') == "a"
    assert read_key(b'""') == ""
    assert read_key(b'"\\ud83d\\ude00"') == read_key('"\U0001f600"'.encode())
    assert read_key(b'"\\ud800"') == "\ud800"
    assert read_key(b'"\t"') == "\t", "raw control characters are sent, and read"


def test_a_string_and_a_number_differ() -> None:
    """``7`` and ``"7"`` are two ids."""
    assert read_key(b"7") != read_key(b'"7"')


def test_a_string_that_cannot_be_read() -> None:
    """Bad UTF-8 has no text, and what is no string has none."""
    assert read_string(b'"\xff"') is None
    assert read_string(b'"a') is None
    assert read_string(b'"a" "b"') is None
    assert read_string(b"7") is None
    assert read_string(b"null") is None
    assert read_string(b"") is None


def test_a_value_that_is_no_string_is_not_read() -> None:
    """However deep it is: somebody may have sent it just to see."""
    assert read_string(b"[" * 100_000 + b"]" * 100_000) is None
    assert read_key(b"[" * 100_000) is None


def test_the_longest_id() -> None:
    """An id of up to 1 KiB, quotes included, is tracked."""
    assert read_key(b'"%b"' % (b"x" * (LONGEST - 2))) == "x" * (LONGEST - 2)
    assert read_key(b'"%b"' % (b"x" * (LONGEST - 1))) is None
    assert read_key(b"1" * LONGEST) == int("1" * LONGEST)
    assert read_key(b"1" * (LONGEST + 1)) is None


def test_a_huge_number_is_not_expanded() -> None:
    """``1e999999999`` must not cost a gigabyte; equal values are equal all the same."""
    huge = read_key(b"1e999999999")
    assert huge == (1, "1", 999999999)
    assert huge == read_key(b"10e999999998") == read_key(b"0.01E1000000001")
    assert huge != read_key(b"-1e999999999")
    assert huge != read_key(b"1e999999998")
    assert read_key(b"-120e5000") == (-1, "12", 5001)


def test_a_number_is_expanded_or_not_by_its_value() -> None:
    """Not by its spelling: else one value would have two keys."""
    edge = LONGEST - 1
    assert read_key(b"1e%d" % edge) == 10**edge == read_key(b"1" + b"0" * edge)
    assert read_key(b"1e%d" % LONGEST) == (1, "1", LONGEST) == read_key(b"0.1e%d" % (LONGEST + 1))


@pytest.mark.parametrize(
    ("key", "raw", "told"),
    [
        (7, b"7", 7),
        (-(10**30), b"-1000000000000000000000000000000", -(10**30)),
        ("a", b'"a"', "a"),
        ('\u00e9"\ud800', b'"\\u00e9\\"\\ud800"', '\u00e9"\ud800'),
        ((1, "12", 5001), b"12e5001", "12e5001"),
        ((-1, "1", 5000), b"-1e5000", "-1e5000"),
    ],
)
def test_a_key_can_be_spelled(key: Key, raw: bytes, told: int | str) -> None:
    """In one way for each value; it is read as the same, and told to people as it is."""
    assert spell(key) == raw
    assert read_key(raw) == key
    assert shown(key) == told


def test_twins_spell_the_same_integer() -> None:
    """SDKs of both families turn ``"7"`` into ``7`` and back."""
    pairs: list[tuple[Key, Key]] = [(7, "7"), (-7, "-7"), (0, "0"), (10**30, "1" + "0" * 30)]
    for number, text in pairs:
        assert twin(number) == text
        assert twin(text) == number


@pytest.mark.parametrize("key", ["", "a", "07", "+7", "7.0", "7e0", " 7", "-", "\u0667"])
def test_other_strings_have_no_twin(key: str) -> None:
    """Only the plain decimal form has: ``-?(0|[1-9][0-9]*)``."""
    assert twin(key) is None


def test_other_numbers_have_no_twin() -> None:
    """What is not expanded is not spelled out either, and a long string is not read."""
    assert twin((1, "1", 5000)) is None
    assert twin("1" * (LONGEST + 1)) is None


def test_minus_zero_as_a_string_means_zero() -> None:
    """But nobody writes zero so."""
    assert twin("-0") == 0
    assert twin(0) == "0"


@given(st.integers(-(10**40), 10**40), st.integers(0, 12))
def test_every_spelling_of_a_number_is_the_same_key(number: int, shift: int) -> None:
    """With the point moved and the exponent making up for it."""
    plain = b"%d" % number
    sign, digits = (b"-", plain[1:]) if number < 0 else (b"", plain)
    moved = digits.zfill(shift + 1)
    cut = len(moved) - shift
    if shift:
        whole = moved[:cut].lstrip(b"0") or b"0"
        assert read_key(b"%b%b.%be%d" % (sign, whole, moved[cut:], shift)) == number
    assert read_key(b"%b%be-%d" % (sign, digits + b"0" * shift, shift)) == number
    assert read_key(plain) == number


@given(
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)
)
def test_a_number_is_an_id_if_it_is_whole(text: str) -> None:
    """Compared with decimal arithmetic."""
    value = Decimal(text)
    expected = int(value) if value == value.to_integral_value() else None
    assert read_key(text.encode("ascii")) == expected


@given(st.text(max_size=100))
def test_a_string_in_any_spelling_is_the_same_key(text: str) -> None:
    """With all that can be escaped escaped, and as it is."""
    assert read_key(json.dumps(text).encode()) == text
    if text.isprintable():
        assert read_key(json.dumps(text, ensure_ascii=False).encode()) == text


@given(st.binary(max_size=40) | st.sampled_from(WHOLE).map(lambda pair: pair[0]))
def test_any_bytes_at_all(raw: bytes) -> None:
    """Never an exception, and a key can be looked up."""
    key = read_key(raw)
    assert key is None or key in dict.fromkeys([key])
    assert read_string(raw) is None or isinstance(read_string(raw), str)
