"""One direction of a session: what a peer writes in lines, byte for byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.scanning import BOM
from proxy.chunked import ANY_CHUNKS, BOTH_WAYS, cancelled
from proxy.header_frames import framed
from proxy.messages import answer, batch, call, cancel, note, progress
from proxy.wire import CLIENT, SERVER, Wire


@ANY_CHUNKS
@BOTH_WAYS
class TestLines:
    """Lines pass or are dropped, each as it came."""

    def test_they_pass_as_they_came(self, chunk: int, quick: bool) -> None:
        """White space, CR, blank lines, a BOM, whatever is no JSON: not a byte changes."""
        lines = (
            b' {"id" : 1,\t"method":"x"} \r\n',
            b"\n \n\r\n",
            BOM + b'{"id":2,"method":"x"}\n',
            b"listening on 7\n",
            b'{"id":3,"method":"x","params":NaN}\n',
            b'{"id":4,"method":"x"}{"id":5,"method":"x"}\n',
            b'[{"id":6,"method":"x"} , {"method":"y"}]\n',
            b"\xff\x00\x85\n",
        )
        wire = Wire(chunk=chunk, quick=quick)
        assert wire.feed(CLIENT, b"".join(lines)) == b"".join(lines)
        assert wire.session.statistics().forwarded == 11
        for key in (1, 2, 3, 6):
            assert wire.state(key) is State.IN_FLIGHT

    def test_a_dropped_line_leaves_nothing_behind(self, chunk: int, quick: bool) -> None:
        """Neither its end nor its white space."""
        wire = cancelled(chunk=chunk, quick=quick)
        stream = b"%b\r\n %b \r\n\n%b\n" % (note(1), answer(7), answer(8))
        assert wire.feed(SERVER, stream) == b"%b\r\n\n%b\n" % (note(1), answer(8))
        assert wire.held == [What.LATE_RESPONSE]

    def test_a_changed_line_keeps_its_end(self, chunk: int, quick: bool) -> None:
        """In an array, or under a fresh id."""
        wire = cancelled(chunk=chunk, quick=quick)
        stream = batch(answer(7), note(1)) + b" \r\n"
        assert wire.feed(SERVER, stream) == batch(note(1)) + b" \r\n"
        out = wire.feed(CLIENT, b" " + call(7) + b"\r\n")
        [use] = wire.ledger.books[CLIENT].requests.live.values()
        assert isinstance(use.wire, int)
        assert out == b" " + call(use.wire) + b"\r\n"

    def test_when_all_is_dropped(self, chunk: int, quick: bool) -> None:
        """Nothing is sent, not even nothing."""
        wire = cancelled(chunk=chunk, quick=quick)
        assert wire.feed(SERVER, answer(7) + b"\n") == b""
        assert wire.feed(SERVER, answer(7, {}) + b"\n") == b""
        assert wire.feed(SERVER, (answer(7) + b"\n" + answer(7, {}) + b"\n") * 2) == b""
        assert wire.session.outbox[CLIENT].end == 0

    def test_a_rest_waits_for_its_newline(self, chunk: int, quick: bool) -> None:
        """For as long as it keeps coming."""
        wire = Wire(chunk=chunk, quick=quick)
        assert wire.feed(CLIENT, call(7)) == b""
        assert wire.feed(CLIENT, b"\n" + call(8)) == call(7) + b"\n"
        assert wire.ends(CLIENT) == call(8)
        assert wire.state(8) is State.IN_FLIGHT

    def test_the_end_of_the_stream(self, chunk: int, quick: bool) -> None:
        """An unterminated rest is judged like a line."""
        wire = cancelled(chunk=chunk, quick=quick)
        assert wire.feed(SERVER, note(1) + b"\n" + answer(7)) == note(1) + b"\n"
        assert wire.ends(SERVER) == b""
        assert wire.held == [What.LATE_RESPONSE]
        assert wire.ends(CLIENT) == b""


class TestNoise:
    """What a server prints between its messages."""

    NOISE = (b"listening on 7\n", b"\n", b" \r\n", b'"{}"\n', b"[1]\n", b"[ 7, {}]\n", b"\r\n")
    OTHERS = (b"{broken\n", b"[{]\n", b"[[1]]\n", b" [ ]\n", BOM + b"{}\n")

    @BOTH_WAYS
    @ANY_CHUNKS
    def test_it_passes(self, chunk: int, quick: bool) -> None:
        """Unless somebody says otherwise."""
        wire = Wire(chunk=chunk, quick=quick)
        stream = b"".join((*self.NOISE, *self.OTHERS))
        assert wire.feed(SERVER, stream) == stream

    @BOTH_WAYS
    @ANY_CHUNKS
    @pytest.mark.parametrize("fate", [Noise.STDERR, Noise.DROP])
    def test_it_is_kept_from_the_host(self, fate: Noise, chunk: int, quick: bool) -> None:
        """What begins like a message is none; the client's is not touched."""
        wire = Wire(Policy(noise=fate), chunk=chunk, quick=quick)
        stream = b"".join((*self.NOISE, *self.OTHERS, note(1) + b"\n", note(2) + b"\n"))
        kept = b"".join((*self.OTHERS, note(1) + b"\n", note(2) + b"\n"))
        assert wire.feed(SERVER, stream) == kept
        assert wire.held == [What.NOISE] * len(self.NOISE)
        assert wire.diverted == (b"".join(self.NOISE) if fate is Noise.STDERR else b"")
        assert wire.feed(CLIENT, stream) == stream

    def test_without_its_newline(self) -> None:
        """It is noise at the end of the stream too."""
        wire = Wire(Policy(noise=Noise.STDERR))
        wire.feed(SERVER, note(1) + b"\nbye")
        assert wire.ends(SERVER) == b""
        assert wire.held == [What.NOISE]
        assert wire.diverted == b"bye"


@given(
    st.lists(
        st.sampled_from(
            [
                *(note(1), call(1), call(2, token="t"), answer(7), answer(8), cancel(1)),
                *(progress("t"), framed(note(2)), framed(answer(7)), b"noise", b"{", b"}"),
                *(
                    b"\n",
                    b"\n",
                    b"\n",
                    b"\r\n",
                    b" ",
                    b"[",
                    b"]",
                    BOM,
                    b"Content-Length: 2\r\n\r\n",
                ),
            ]
        )
        | st.binary(max_size=10),
        max_size=12,
    ),
    st.lists(st.integers(0, 300), max_size=4),
    st.sampled_from(list(Peer)),
    st.booleans(),
)
def test_any_bytes_in_any_chunks(
    pieces: list[bytes], cuts: list[int], sender: Peer, quick: bool
) -> None:
    """Never an exception; what goes on does not depend on the chunks, nor on the quick look."""
    stream = b"".join(pieces)
    places = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    whole, cut = cancelled(), cancelled(quick=quick)
    got = whole.feed(sender, stream) + whole.ends(sender)
    parts = b""
    for start, stop in pairwise(places):
        parts += cut.feed(sender, stream[start:stop])
    assert parts + cut.ends(sender) == got
    assert got == stream or whole.held
