"""Blocks of lines at once: the same verdicts and the same bytes as line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from e2e.harness.field_cases import Arrow, FieldCase, Id, Said, load_cases
from nevermind import spans
from nevermind.dialects import MCP, Dialect
from nevermind.ids import spell
from nevermind.notes import Diverted, Note
from nevermind.peers import Peer
from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Noise, Policy
from proxy.messages import OWED, answer, batch, call, cancel, error, note, progress, task
from proxy.texts import messages
from proxy.wire import CLIENT, SERVER, Wire

IDS: list[int | str] = [1, 2, 3, "1", "a"]
ODD_LINES = [
    *(b"", b" ", b"noise", b"[]", b"{", call(b"1.0"), call(b"null"), call(1) + b"\r"),
    *(call(1) + call(2), answer(1, {}) + b" " + answer(2, {}), b'{"id":1,\n"method":"x"}'),
    *(b'{"id":1,"method":"x"}],[{"id":2,"method":"x"}', b'{"id":1,"method":"x\n"}'),
]


@dataclass(frozen=True)
class Turn:
    """One peer writes some lines in one go."""

    sender: Peer
    lines: tuple[bytes, ...]


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line: most often one that has to do with others."""
    one = draw(st.sampled_from(IDS))
    token = draw(st.sampled_from([None, None, None, "t", 1]))
    match draw(st.integers(0, 19)):
        case 0 | 1 | 2 | 3:
            return call(one)
        case 4:
            return call(one, token=token)
        case 5 | 6 | 7 | 8:
            return answer(one, {})
        case 9:
            return answer(one, draw(st.sampled_from([None, "text", {"task": None}])))
        case 10:
            return error(one)
        case 11 | 12 | 13:
            return cancel(one)
        case 14:
            return progress("t" if token is None else token)
        case 15:
            return task(one, modern=draw(st.booleans()))
        case 16:
            return note()
        case 17:
            return batch(call(one), cancel(one), answer(one, {}))
        case 18:
            return draw(st.sampled_from(ODD_LINES))
        case _:
            return draw(messages())


TURNS = st.lists(
    st.builds(
        Turn, st.sampled_from(list(Peer)), st.lists(lines(), min_size=1, max_size=6).map(tuple)
    ),
    max_size=10,
)
POLICIES = st.builds(
    Policy,
    cancel=st.sampled_from([FirstCancel.FORWARD, *FirstCancel]),
    late_response=st.sampled_from([None, None, *LateResponse]),
    late_progress=st.sampled_from([None, None, *Fate]),
    redundant_cancel=st.sampled_from([Fate.DROP, *Fate]),
    id_reuse=st.sampled_from([IdReuse.ALIAS, *IdReuse]),
    shield=st.booleans(),
    noise=st.sampled_from([None, None, *Noise]),
    remember=st.sampled_from([65_536, 65_536, 2]),
    live_limit=st.sampled_from([1 << 18, 1 << 18, 3]),
)


def outcome(wire: Wire, turns: list[Turn], cuts: list[int]) -> Iterator[object]:
    """What comes of each turn, and of all of them."""
    for turn in turns:
        stream = b"".join(line + b"\n" for line in turn.lines)
        places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
        got = b""
        for start, stop in pairwise(places):
            got += wire.feed(turn.sender, stream[start:stop])
        notes = wire.session.take_notes()
        yield turn, got, [one for one in notes if isinstance(one, Note)]
        yield b"".join(one.data for one in notes if isinstance(one, Diverted))
    yield wire.session.statistics()


@settings(max_examples=100)
@given(POLICIES, st.sampled_from([MCP, OWED]), TURNS, st.lists(st.integers(0, 2000), max_size=3))
def test_generated_traffic(
    policy: Policy, dialect: Dialect, turns: list[Turn], cuts: list[int]
) -> None:
    """The same verdicts, bytes, notes and statistics, in blocks and line by line."""
    blocks = Wire(policy, dialect, chunk=1 << 20)
    careful = Wire(policy, dialect, chunk=1 << 20, quick=False)
    expected = list(outcome(careful, turns, cuts))
    assert list(outcome(blocks, turns, [])) == expected
    again = Wire(policy, dialect, chunk=1 << 20)
    assert list(outcome(again, turns, cuts)) == expected


SWITCHES: dict[str, dict[str, object]] = {
    "--cancel absorb": {"cancel": FirstCancel.ABSORB},
    "--id-reuse forward": {"id_reuse": IdReuse.FORWARD},
    "--late-progress forward": {"late_progress": Fate.FORWARD},
    "--late-response drop": {"late_response": LateResponse.DROP},
    "--noise drop": {"noise": Noise.DROP},
    "--noise stderr": {"noise": Noise.STDERR},
    "--redundant-cancel forward": {"redundant_cancel": Fate.FORWARD},
    "--shield": {"shield": True},
    "--stale-progress forward": {"stale_progress": Fate.FORWARD},
}


def playable() -> list[tuple[FieldCase, str]]:
    """The field cases that lines and switches can tell, each with its variants."""
    return [
        (case, options)
        for case in load_cases()
        for options in case.variants
        if "--dialect" not in case.options
        and options in ("", *SWITCHES)
        and sum(len(step.data) for step in case.wire if isinstance(step, Said)) < 1_000_000
    ]


def turns_of(case: FieldCase, options: str) -> Iterator[tuple[Peer, list[Said]]]:
    """Who says what: as many messages in one go as may be."""
    said = [step for step in case.steps(options) if isinstance(step, Said)]

    def who(step: Said) -> tuple[Peer, Id]:
        client = step.arrow in (Arrow.TO_SERVER, Arrow.KEPT_FROM_SERVER)
        return (CLIENT if client else SERVER), step.id

    for (sender, _), steps in groupby(said, key=who):
        yield sender, list(steps)


@pytest.mark.parametrize(
    ("case", "options"),
    playable(),
    ids=lambda part: part.id if isinstance(part, FieldCase) else part,
)
@pytest.mark.parametrize("quick", [True, False], ids=("blocks", "line by line"))
@pytest.mark.parametrize("chunk", [5, 1 << 20])
def test_field_cases(case: FieldCase, options: str, quick: bool, chunk: int) -> None:
    """Each message has its fate, in whatever chunks it comes."""
    policy = Policy(**SWITCHES.get(options, {}))  # type: ignore[arg-type]
    wire = Wire(policy, quick=quick, chunk=chunk)
    for sender, steps in turns_of(case, options):
        stream = expected = b""
        for step in steps:
            said, arrives = step.data, b"" if step.arrow.is_drop else step.data
            if step.id is Id.FOR_FRESH:
                [*_, use] = wire.ledger.books[CLIENT].requests.newest.values()
                said = spans.replace(said, [(("id",), spell(use.wire))])
            stream += said
            expected += arrives
        got = wire.feed(sender, stream) + wire.still(sender)
        if steps[0].cut:
            got += wire.ends(sender)
        if steps[0].id is Id.MADE_FRESH:
            [*_, use] = wire.ledger.books[CLIENT].requests.newest.values()
            expected = spans.replace(expected, [(("id",), spell(use.wire))])
        assert got == expected
