"""Beyond a hundred lines a second, kinds are summed up; nothing goes uncounted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nevermind.notes import Event, Note, What
from nevermind.shell.journal_limits import PER_SECOND, RateLimit
from nevermind.shell.journal_lines import Member

LATE = Note(event=Event.DROP, what=What.LATE_PROGRESS, bytes=10)
NOISE = Note(event=Event.DROP, what=What.NOISE, bytes=1)
CANCEL = Note(event=Event.CANCEL, id=1)

WHY = "summed up: more than 100 lines in a second"


def flood(limit: RateLimit, note: Note, count: int, now: float) -> int:
    return sum(limit.admit(note, now) for _ in range(count))


def test_a_hundred_in_a_second_pass() -> None:
    limit = RateLimit()
    assert flood(limit, LATE, 100, now=0) == 100
    assert not limit.holds
    assert limit.release(None) == []


def test_what_is_over_is_counted_by_kind() -> None:
    limit = RateLimit()
    flood(limit, LATE, 100, now=0)
    assert flood(limit, LATE, 20, now=0.5) == 0
    assert flood(limit, NOISE, 3, now=0.6) == 0
    assert flood(limit, CANCEL, 1, now=0.9) == 0
    assert limit.holds
    assert limit.release(1.0) == [
        {"event": "drop", "what": "late-progress", "count": 20, "bytes": 200, "why": WHY},
        {"event": "drop", "what": "noise", "count": 3, "bytes": 3, "why": WHY},
        {"event": "cancel", "count": 1, "bytes": 0, "why": WHY},
    ]
    assert not limit.holds


def test_sums_wait_until_their_second_is_over() -> None:
    limit = RateLimit()
    flood(limit, LATE, 101, now=5)
    assert limit.release(5.999) == []
    assert len(limit.release(6.0)) == 1
    assert limit.release(6.0) == []


def test_at_the_end_nothing_waits() -> None:
    limit = RateLimit()
    flood(limit, LATE, 101, now=5)
    assert len(limit.release(None)) == 1


def test_the_next_second_starts_afresh() -> None:
    limit = RateLimit()
    flood(limit, LATE, 150, now=0)
    limit.release(1)
    assert flood(limit, LATE, 150, now=1) == 100


@given(
    st.lists(
        st.tuples(st.floats(0, 2), st.integers(1, 150), st.sampled_from([LATE, NOISE, CANCEL]))
    )
)
def test_every_line_is_written_or_counted(
    floods: list[tuple[float, int, Note]],
) -> None:
    limit, now, written, counted = RateLimit(), 0.0, 0, 0
    for pause, count, note in floods:
        now += pause
        counted += sum(_count(line) for line in limit.release(now))
        admitted = flood(limit, note, count, now)
        assert admitted <= PER_SECOND
        written += admitted
    counted += sum(_count(line) for line in limit.release(None))
    assert written + counted == sum(count for _, count, _ in floods)


def _count(line: dict[str, Member]) -> int:
    count = line["count"]
    assert isinstance(count, int)
    return count
