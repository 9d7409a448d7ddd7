"""Text becomes a value, or a sentence says why it cannot."""

from __future__ import annotations

import re

import pytest

from nevermind_config.values import (
    Choice,
    Count,
    File,
    Flag,
    Kind,
    Limit,
    Name,
    Seconds,
    Size,
)

KIB, MIB, GIB = 1024, 1024**2, 1024**3


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Choice("drop", "forward"), "forward", "forward"),
        (Flag(), "1", True),
        (Flag(), "Yes", True),
        (Flag(), "true", True),
        (Flag(), "ON", True),
        (Flag(), "0", False),
        (Flag(), "no", False),
        (Flag(), "False", False),
        (Flag(), "off", False),
        (Count(), "1", 1),
        (Count(), "65536", 65_536),
        (Count(), "007", 7),
        (Size(), "1", 1),
        (Size(), "100B", 100),
        (Size(), "64KiB", 64 * KIB),
        (Size(), "64MiB", 64 * MIB),
        (Size(), "2gib", 2 * GIB),
        (Size(), "10kB", 10_000),
        (Size(), "10MB", 10_000_000),
        (Size(), "1GB", 10**9),
        (Seconds(), "0", 0.0),
        (Seconds(), "5", 5.0),
        (Seconds(), "0.25", 0.25),
        (Seconds(), ".5", 0.5),
        (Seconds(), "1000000000", 1e9),
        (Limit(), "0.5", 0.5),
        (Limit(), "off", None),
        (Name(), "lsp", "lsp"),
        (Name(), "my server", "my server"),
        (File(), "log.txt", "log.txt"),
        (File(), "~/a b.log", "~/a b.log"),
    ],
)
def test_a_good_value_is_read(kind: Kind, text: str, value: object) -> None:
    read = kind.read(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Choice("drop", "forward"), "Drop"),
        (Choice("drop", "forward"), ""),
        (Choice("drop", "forward"), "drop "),
        (Flag(), "2"),
        (Flag(), "maybe"),
        (Count(), "0"),
        (Count(), "-1"),
        (Count(), "+1"),
        (Count(), "1.0"),
        (Count(), "1_000"),
        (Count(), " 1"),
        (Count(), "٣"),
        (Count(), "9" * 19),
        (Count(), "9" * 5000),
        (Count(), "64KiB"),
        (Size(), "0"),
        (Size(), "0MiB"),
        (Size(), "MiB"),
        (Size(), "64 MiB"),
        (Size(), "64M"),
        (Size(), "64iB"),
        (Size(), "1.5MiB"),
        (Size(), "-1"),
        (Size(), "9999999999999999GiB"),
        (Seconds(), "-1"),
        (Seconds(), "nan"),
        (Seconds(), "inf"),
        (Seconds(), "1e3"),
        (Seconds(), "5s"),
        (Seconds(), ""),
        (Seconds(), "."),
        (Seconds(), "1.2.3"),
        (Seconds(), "٣"),
        (Seconds(), "1000000001"),
        (Limit(), "Off"),
        (Limit(), "-1"),
        (Name(), ""),
        (Name(), " "),
        (Name(), "a\nb"),
        (File(), ""),
        (File(), "a\0b"),
    ],
)
def test_a_bad_value_is_refused_by_its_name(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))) as refusal:
        kind.read(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        (Size(), 64 * MIB, "64MiB"),
        (Size(), 3 * GIB, "3GiB"),
        (Size(), 1536, "1536"),
        (Size(), 2 * KIB, "2KiB"),
        (Flag(), False, "off"),
        (Flag(), True, "on"),
        (Count(), 7, "7"),
        (Choice("a", "b"), "a", "a"),
        (Seconds(), 0.5, "0.5"),
        (Seconds(), 0.0, "0"),
        (Seconds(), 10.0, "10"),
        (Seconds(), 1e7, "10000000"),
        (Seconds(), 1e-6, "0.000001"),
        (Limit(), 0.5, "0.5"),
        (Limit(), None, "off"),
    ],
)
def test_a_value_is_shown_as_a_user_would_write_it(
    kind: Kind, value: str | float | None, shown: str
) -> None:
    assert kind.show(value) == shown
    assert kind.read(shown) == value


def test_the_kind_that_others_are_made_from_takes_any_text() -> None:
    assert Kind().read("any") == Kind().take("any") == "any"
    with pytest.raises(ValueError, match="not a text"):
        Kind().take(7)
