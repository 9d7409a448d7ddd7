"""One direction of a session: long messages on their way, and ours between those of others."""

from __future__ import annotations

import pytest

from nevermind.lifecycle import State
from nevermind.policy import Policy
from proxy.chunked import cancelled
from proxy.header_frames import framed
from proxy.messages import answer, call, cancel, note
from proxy.wire import CLIENT, SERVER, Wire


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
