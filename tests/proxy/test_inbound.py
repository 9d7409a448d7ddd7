"""One direction of a session: what a peer writes in lines, byte for byte."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.framing.lines import STILL_LIMIT, STILL_S
from nevermind.lifecycle import State
from nevermind.notes import What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.scanning import BOM
from proxy.messages import answer, batch, call, cancel, note, progress
from proxy.wire import CLIENT, SERVER, Wire

BOTH_WAYS = pytest.mark.parametrize("quick", [True, False], ids=("blocks", "line by line"))
ANY_CHUNKS = pytest.mark.parametrize("chunk", [1, 7, 4096])


def framed(*messages: bytes, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    """These messages, each with a header."""
    return b"".join(header % len(message) + message for message in messages)


def cancelled(policy: Policy | None = None, *, chunk: int = 4096, quick: bool = True) -> Wire:
    """Request 7 has been cancelled, request 8 is in flight."""
    wire = Wire(policy or Policy(), chunk=chunk, quick=quick)
    wire.client(call(7), cancel(7), call(8))
    wire.session.take_notes()
    return wire


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
        header = b"content-length:\t%d\r\nX-Other: 1\r\n\r\n"
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


class TestLongMessages:
    """What is on its way while it is still arriving; see ``through``."""

    LONG = b'{"id":8,"result":{"a":"%b"}}' % (b"x" * 50_000)

    def test_what_follows_one(self) -> None:
        """In the same chunk."""
        wire = cancelled(chunk=20_000)
        stream = self.LONG + b"\n" + answer(7) + b"\n" + note(1) + b"\n"
        assert wire.feed(SERVER, stream) == self.LONG + b"\n" + note(1) + b"\n"

    def test_what_comes_before_one(self) -> None:
        """Likewise."""
        wire = cancelled(chunk=20_000)
        stream = note(1) + b"\n" + self.LONG + b"\n"
        assert wire.feed(SERVER, stream) == stream

    def test_one_that_may_not_go_on(self) -> None:
        """It is asked once, and waits."""
        wire = cancelled()
        late = self.LONG.replace(b'"id":8', b'"id":7')
        assert wire.feed(SERVER, late + b"\n" + note(1) + b"\n") == note(1) + b"\n"

    @pytest.mark.parametrize("longest", [100_000, 20_000])
    def test_the_stream_ends_in_one(self, longest: int) -> None:
        """What has begun is delivered."""
        wire = cancelled(Policy(max_message=longest))
        got = wire.feed(SERVER, self.LONG[:-5])
        assert got + wire.ends(SERVER) == self.LONG[:-5]

    def test_a_small_bound(self) -> None:
        """As much as it takes to tell what a message is is held all the same."""
        wire = cancelled(Policy(max_message=10), chunk=8)
        assert wire.feed(SERVER, answer(8) + b"\n" + answer(7) + b"\n") == answer(8) + b"\n"
        assert wire.state(8) is State.ANSWERED
        late = self.LONG.replace(b'"id":8', b'"id":7')
        assert wire.feed(SERVER, late + b"\n") == b""

    def test_a_lent_buffer(self) -> None:
        """Is taken like any other, while nothing long is on its way."""
        wire = cancelled()
        inbound = wire.session.stream(SERVER)
        inbound.receive_lent(bytearray(note(1) + b"\n###"), len(note(1)) + 1, 0.0)
        assert wire.taken(CLIENT) == note(1) + b"\n"
        got = wire.feed(SERVER, self.LONG[:20_000])
        inbound.receive_lent(bytearray(self.LONG[20_000:]), 10_000, 0.0)
        got += wire.taken(CLIENT)
        inbound.receive_lent(bytearray(self.LONG[30_000:] + b"\n#"), len(self.LONG) - 29_999, 0.0)
        assert got + wire.taken(CLIENT) == self.LONG + b"\n"


class TestOurOwn:
    """Messages of ours take their turn between those of others."""

    def answers(self, wire: Wire) -> bytes:
        """What we say to the client, when it is said."""
        return wire.taken(CLIENT)

    def told(self) -> Wire:
        """A session that answers cancelled requests a second after the cancel."""
        wire = Wire(Policy(answer_cancelled=1.0))
        wire.client(call(7), cancel(7))
        return wire

    def test_between_lines(self) -> None:
        """At once."""
        wire = self.told()
        assert b"-32800" in wire.still(SERVER, 2.0)

    def test_not_within_a_line(self) -> None:
        """What is held of one has not begun to go out."""
        wire = self.told()
        wire.feed(SERVER, note(1)[:10])
        assert wire.still(SERVER, 2.0).count(b"\n") == 1
        assert wire.feed(SERVER, note(1)[10:] + b"\n") == note(1) + b"\n"

    def test_behind_a_message_without_a_newline(self) -> None:
        """We put one, and drop the peer's own when it comes."""
        wire = self.told()
        wire.feed(SERVER, note(1))
        assert wire.still(SERVER) == note(1)
        ours = wire.still(SERVER, 2.0)
        assert ours.startswith(b'\n{"jsonrpc"')
        assert ours.endswith(b"}\n")
        assert wire.feed(SERVER, b" \r\n" + note(2) + b"\n") == note(2) + b"\n"

    def test_not_within_a_long_message(self) -> None:
        """But behind it."""
        wire = self.told()
        message = b'{"method":"x","params":{"a":"%b"}}' % (b"x" * 100_000)
        wire.client(call(8))
        long = b'{"id":8,"result":{"a":"%b"}}' % (b"x" * 100_000)
        got = wire.feed(SERVER, long[:50_000])
        assert got != b""
        assert wire.still(SERVER, 2.0) == b""
        got += wire.feed(SERVER, long[50_000:] + b"\n" + message[:10])
        assert got.startswith(long + b"\n")
        assert b"-32800" in got

    def test_not_within_a_body_that_has_stalled(self) -> None:
        """The line that it has become ends first."""
        wire = self.told()
        stream = framed(note(1))
        wire.feed(SERVER, stream[:-10])
        assert wire.still(SERVER) == stream[:-10]
        assert wire.still(SERVER, 2.0) == b""
        got = wire.feed(SERVER, stream[-10:] + b"\n")
        assert got.startswith(stream[-10:] + b"\n")
        assert b"-32800" in got


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
