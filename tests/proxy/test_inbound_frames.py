"""One direction of a session: peers that send no line end, and peers that send headers."""

from __future__ import annotations

import pytest

from nevermind.framing.lines import STILL_LIMIT, STILL_S
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.policy import Noise, Policy
from proxy.chunked import ANY_CHUNKS, BOTH_WAYS, cancelled
from proxy.header_frames import framed
from proxy.messages import answer, batch, call, note
from proxy.wire import CLIENT, SERVER, Wire


class TestStillness:
    """A peer that never sends the newline is understood all the same."""

    def test_when_it_is_looked_at(self) -> None:
        """A while after the last byte."""
        wire = Wire()
        assert wire.session.next_deadline() is None
        wire.feed(CLIENT, call(7))
        assert wire.session.next_deadline() == STILL_S
        assert wire.still(CLIENT, STILL_S / 2) == b""
        assert wire.still(CLIENT, STILL_S / 2) == call(7)
        assert wire.session.next_deadline() is None
        assert wire.state(7) is State.IN_FLIGHT

    def test_whole_messages_at_its_head(self) -> None:
        """Are judged and sent one by one; what follows waits on."""
        wire = cancelled()
        assert wire.feed(SERVER, note(1) + answer(7) + b" " + note(2) + b'{"half":') == b""
        assert wire.still(SERVER) == note(1) + b" " + note(2)
        assert wire.held == [What.LATE_RESPONSE]
        assert wire.session.next_deadline() is None
        assert wire.feed(SERVER, b"1}\n") == b'{"half":1}\n'

    def test_an_array(self) -> None:
        """Is a message too."""
        wire = cancelled()
        wire.feed(SERVER, batch(answer(7), note(1)))
        assert wire.still(SERVER) == batch(note(1))

    @pytest.mark.parametrize("rest", [b"listening", b'{"half":', b'"text"', b"17", b" "])
    def test_what_is_no_whole_message(self, rest: bytes) -> None:
        """Waits on; it is not looked at again before more comes."""
        wire = Wire()
        wire.feed(SERVER, rest)
        assert wire.still(SERVER) == b""
        assert wire.session.next_deadline() is None
        assert wire.still(SERVER) == b""
        assert wire.feed(SERVER, b"\n") == rest + b"\n"

    def test_a_very_long_rest(self) -> None:
        """It would take too long to look."""
        wire = Wire(quick=False)
        message = b'{"x":"%b"}' % (b"x" * STILL_LIMIT)
        wire.feed(CLIENT, message)
        assert wire.session.next_deadline() is None
        assert wire.feed(CLIENT, b"\n") == message + b"\n"

    @pytest.mark.parametrize("end", [b"\n", b" \r\n", b"\t\n"])
    @pytest.mark.parametrize("chunk", [1, 4096])
    def test_the_line_end_shares_its_fate(self, end: bytes, chunk: int) -> None:
        """It goes where the message went, if it comes at last."""
        wire = cancelled(chunk=chunk)
        wire.feed(SERVER, answer(8))
        assert wire.still(SERVER) == answer(8)
        assert wire.feed(SERVER, end + note(1) + b"\n") == end + note(1) + b"\n"
        wire.feed(SERVER, answer(7))
        assert wire.still(SERVER) == b""
        assert wire.feed(SERVER, end + note(2) + b"\n") == note(2) + b"\n"

    def test_a_message_on_the_same_line(self) -> None:
        """Is a message of its own."""
        wire = cancelled()
        wire.feed(SERVER, answer(7))
        wire.still(SERVER)
        assert wire.feed(SERVER, b" " + answer(8) + b"\n") == answer(8) + b"\n"

    def test_several_rests(self) -> None:
        """Each by itself."""
        wire = cancelled()
        for part in (note(1), note(2)):
            wire.feed(SERVER, part)
            assert wire.still(SERVER) == part
        wire.feed(SERVER, b"  ")
        assert wire.ends(SERVER) == b""

    def test_time_that_passes_for_nothing(self) -> None:
        """Nothing is held."""
        wire = Wire()
        assert wire.still(CLIENT, 100.0) == b""


@BOTH_WAYS
@ANY_CHUNKS
class TestHeaders:
    """A peer that speaks with headers, where lines are spoken."""

    def test_it_is_understood(self, chunk: int, quick: bool) -> None:
        """Frame by frame; lines go on behind."""
        wire = Wire(chunk=chunk, quick=quick)
        stream = framed(call(1), call(2)) + call(3) + b"\n" + framed(call(4))
        assert wire.feed(CLIENT, stream) == stream
        for key in (1, 2, 3, 4):
            assert wire.state(key) is State.IN_FLIGHT

    def test_a_dropped_frame_goes_with_its_header(self, chunk: int, quick: bool) -> None:
        """Nothing of it is left."""
        wire = cancelled(chunk=chunk, quick=quick)
        stream = framed(note(1), answer(7), note(2))
        assert wire.feed(SERVER, stream) == framed(note(1), note(2))

    def test_a_changed_frame_has_another_length(self, chunk: int, quick: bool) -> None:
        """The rest of the header is as it came."""
        wire = cancelled(chunk=chunk, quick=quick)
        header = b"content-length:\t<n>\r\nX-Other: 1\r\n\r\n"
        stream = framed(batch(answer(7), note(1)), header=header)
        assert wire.feed(SERVER, stream) == framed(batch(note(1)), header=header)

    def test_a_body_that_stalls(self, chunk: int, quick: bool) -> None:
        """It passes as it is, and so does what comes of it."""
        wire = Wire(chunk=chunk, quick=quick)
        stream = framed(call(7))
        assert wire.feed(CLIENT, stream[:-10]) == b""
        assert wire.still(CLIENT) == stream[:-10]
        assert wire.feed(CLIENT, stream[-10:] + b"\n") == stream[-10:] + b"\n"
        assert wire.feed(CLIENT, call(8) + b"\n") == call(8) + b"\n"
        assert wire.state(8) is State.IN_FLIGHT

    def test_a_body_whose_end_never_comes(self, chunk: int, quick: bool) -> None:
        """Nor anything else: it passes as it is."""
        wire = cancelled(chunk=chunk, quick=quick)
        stream = framed(answer(7))[:-1]
        assert wire.feed(SERVER, stream) == b""
        assert wire.ends(SERVER) == stream

    def test_noise_between_frames(self, chunk: int, quick: bool) -> None:
        """A header is none."""
        wire = Wire(Policy(noise=Noise.DROP), chunk=chunk, quick=quick)
        stream = b"listening\n" + framed(note(1)) + b"\n" + framed(note(2))
        assert wire.feed(SERVER, stream) == framed(note(1), note(2))
        assert wire.feed(SERVER, framed(b"{]")) == framed(b"{]"), "a body that is no JSON passes"
