"""The meter under a WebSocket: what it counts, however the bytes are cut."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from nevermind.shell.transports.frames import FrameMeter

LIMIT = 1000


@dataclass
class Sent:
    """One frame as its sender means it."""

    opcode: Opcode
    payload: bytes
    fin: bool
    masked: bool

    def data(self) -> bytes:
        return Frame(self.opcode, self.payload, fin=self.fin).serialize(mask=self.masked)


sizes = st.one_of(st.integers(0, 130), st.sampled_from([125, 126, 127, 500, 999, 65535, 65536]))
controls = st.builds(
    Sent,
    st.sampled_from([Opcode.PING, Opcode.PONG, Opcode.CLOSE]),
    st.integers(0, 125).map(bytes),
    st.just(True),
    st.booleans(),
)
frames = st.one_of(
    controls,
    st.builds(
        Sent,
        st.sampled_from([Opcode.TEXT, Opcode.BINARY, Opcode.CONT]),
        sizes.map(bytes),
        st.booleans(),
        st.booleans(),
    ),
)


def expected(sent: list[Sent]) -> tuple[int, int, int, int, bool]:
    """Bytes that may go on, payload and messages, size of what is too big, if it was closed."""
    passed = received = messages = message = 0
    closed = False
    for each in sent:
        if closed:
            pass
        elif each.opcode >= Opcode.CLOSE:
            closed = each.opcode is Opcode.CLOSE
        else:
            message += len(each.payload)
            if message > LIMIT:
                return passed, received, messages, message, closed
            received += len(each.payload)
            message = 0 if each.fin else message
            messages += each.fin
        passed += len(each.data())
    return passed, received, messages, 0, closed


@given(sent=st.lists(frames, max_size=8), cuts=st.lists(st.integers(0, 3000), max_size=20))
def test_it_sees_the_same_frames_however_the_bytes_are_cut(
    sent: list[Sent], cuts: list[int]
) -> None:
    data = b"".join(each.data() for each in sent)
    meter = FrameMeter(LIMIT)
    at = passed = 0
    for cut in [*sorted(cuts), len(data)]:
        piece = data[at : max(at, cut)]
        at += len(piece)
        through = meter.feed(piece)
        passed += through
        if meter.too_big:
            break
    wanted, *counted = expected(sent)
    assert [meter.received, meter.messages, meter.too_big, meter.closed] == counted
    # of a header that is cut, the beginning is gone before anybody can know
    assert wanted <= passed <= wanted + (13 if meter.too_big else 0)


@pytest.mark.parametrize("masked", [False, True])
def test_a_frame_that_is_too_big_is_held_back_from_its_first_byte(masked: bool) -> None:
    before = Sent(Opcode.TEXT, b"before", fin=True, masked=masked).data()
    large = Sent(Opcode.TEXT, bytes(LIMIT + 1), fin=True, masked=masked).data()
    meter = FrameMeter(LIMIT)
    assert meter.feed(before + large) == len(before)
    assert meter.too_big == LIMIT + 1


def test_control_frames_do_not_count_as_part_of_a_message() -> None:
    parts = [
        Sent(Opcode.TEXT, bytes(LIMIT), fin=False, masked=False),
        Sent(Opcode.PING, bytes(125), fin=True, masked=False),
        Sent(Opcode.CONT, b"", fin=True, masked=False),
        Sent(Opcode.TEXT, bytes(LIMIT), fin=True, masked=False),
    ]
    data = b"".join(part.data() for part in parts)
    meter = FrameMeter(LIMIT)
    assert meter.feed(data) == len(data)
    assert (meter.received, meter.too_big) == (2 * LIMIT, 0)
