"""Long messages on their way through, cut through where nothing can hold them.

In pieces through a session; what a receiver gets is compared with what was sent.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.lifecycle import State
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.through import CUT_THROUGH
from proxy.long_messages import BULK, id_last, long, overlong, result
from proxy.messages import answer, call, cancel, error, note, progress
from proxy.ours import cancelled
from proxy.wire import CLIENT, SERVER, Wire


class TestCutThrough:
    """A long message goes on while it arrives, once its head proves that nothing can hold it."""

    def test_a_short_one_does_not(self) -> None:
        """It is whole after a read or two."""
        wire = Wire(chunk=100)
        assert not wire.begun(CLIENT, call(7))
        assert not wire.begun(CLIENT, long(call(8), bulk=b"x" * (CUT_THROUGH - 200)))

    @pytest.mark.parametrize("message", [long(call(7)), long(call(7, token="t"), last=True)])
    def test_a_request(self, message: bytes) -> None:
        """With its id in its head it is tracked at once."""
        wire = Wire()
        wire.feed(CLIENT, message[:-1])
        assert wire.state(7) is State.IN_FLIGHT
        wire.feed(CLIENT, message[-1:] + b"\n")
        assert wire.server(result(7)) == result(7)
        assert wire.state(7) is State.ANSWERED
        assert wire.session.statistics().forwarded == 2

    def test_a_request_whose_id_comes_last(self) -> None:
        """It is tracked when it is whole."""
        wire = Wire()
        assert wire.begun(CLIENT, id_last(long(call(7, token="t"))))
        assert wire.state(7) is State.IN_FLIGHT
        assert wire.server(result(7)) == result(7)
        assert wire.server(progress("t")) == b"", "its token too: stale now"

    def test_a_notification(self) -> None:
        """It has no id, and asks for nothing."""
        wire = Wire()
        wire.client(call(6))
        wire.server(answer(6))
        message = long(note())
        assert wire.begun(CLIENT, message)
        assert wire.state(6) is State.ANSWERED, "nothing is forgotten"

    @pytest.mark.parametrize("message", [long(result(7)), long(error(7))])
    def test_an_answer(self, message: bytes) -> None:
        """To a request in flight."""
        wire = Wire()
        wire.client(call(7))
        assert wire.begun(SERVER, message)
        assert wire.state(7) is State.ANSWERED
        assert wire.client(cancel(7)) == b""

    @pytest.mark.parametrize("message", [id_last(long(result(7))), id_last(long(error(7)))])
    def test_an_answer_whose_id_comes_last(self, message: bytes) -> None:
        """As long as nothing could make it late."""
        wire = Wire()
        wire.client(call(7))
        assert wire.begun(SERVER, message)
        assert wire.state(7) is State.ANSWERED

    def test_one_that_is_ambiguous(self) -> None:
        """It passes in any case."""
        wire = Wire()
        wire.client(call(7), call(7))
        assert wire.begun(SERVER, long(result(7)))
        assert wire.state(7) is State.IN_FLIGHT


class TestLent:
    """A buffer that is only lent while a long message passes."""

    def lend(self, wire: Wire, data: bytes) -> bytes:
        """The server writes ``data`` into a buffer; what the client gets of it."""
        buffer = bytearray(data + b"#" * 100)
        wire.session.stream(SERVER).receive_lent(buffer, len(data), 0.0)
        wire.session.outbox[CLIENT].copy_lent()
        buffer[:] = b"!" * len(buffer)
        return wire.taken(CLIENT)

    @pytest.mark.parametrize("size", [100, 4096, 10_000])
    @pytest.mark.parametrize("too_long", [False, True])
    def test_it_passes(self, size: int, too_long: bool) -> None:
        """In pieces small and large; its end is judged as ever."""
        wire = overlong() if too_long else Wire()
        wire.client(call(7))
        message = long(result(7)) + b"\n"
        got = wire.feed(SERVER, message[: CUT_THROUGH + 4096])
        assert wire.session.stream(SERVER).passing
        for at in range(CUT_THROUGH + 4096, len(message), size):
            got += self.lend(wire, message[at : at + size])
        assert got == message
        assert wire.state(7) is State.ANSWERED
        assert not wire.session.stream(SERVER).passing

    def test_a_message_of_ours_behind_it(self) -> None:
        """It has waited for the end that is in the buffer, and goes out behind it."""
        wire = Wire(Policy(answer_cancelled=0))
        wire.client(call(7), call(8))
        message = long(result(7)) + b"\n"
        got = wire.feed(SERVER, message[: CUT_THROUGH + 4096])
        wire.client(cancel(8))
        buffer = bytearray(message[CUT_THROUGH + 4096 :])
        wire.session.stream(SERVER).receive_lent(buffer, len(buffer), 0.0)
        wire.session.outbox[CLIENT].copy_lent()
        buffer[:] = b"!" * len(buffer)
        got += wire.taken(CLIENT)
        assert got == message + cancelled(8) + b"\n"

    def test_what_is_dropped(self) -> None:
        """Of that nothing is kept."""
        wire = overlong()
        wire.client(call(7), cancel(7))
        message = long(result(7)) + b"\n"
        assert wire.feed(SERVER, message[: CUT_THROUGH + 4096]) == b""
        assert self.lend(wire, message[CUT_THROUGH + 4096 :]) == b""

    def test_an_id_that_comes_last(self) -> None:
        """It is in the last piece, or in the one before."""
        for cut in (-2, -6, -5000):
            wire = Wire()
            wire.client(call(7))
            message = id_last(long(result(7))) + b"\n"
            wire.feed(SERVER, message[: CUT_THROUGH + 4096])
            self.lend(wire, message[CUT_THROUGH + 4096 : cut])
            wire.feed(SERVER, message[cut:])
            assert wire.state(7) is State.ANSWERED

    def test_a_task_across_the_border(self) -> None:
        """It is found."""
        middle = b'{"id":7,"result":{"a":"%b","task":{"taskId":"t-1"},"b":"%b"}}' % (BULK, BULK)
        place = middle.index(b'"task"')
        for cut in range(place - 1, place + 8):
            wire = Wire()
            wire.client(call(7, token="t"))
            wire.feed(SERVER, middle[: CUT_THROUGH + 4096])
            self.lend(wire, middle[CUT_THROUGH + 4096 : cut])
            self.lend(wire, middle[cut:])
            wire.feed(SERVER, b"\n")
            assert wire.server(progress("t")) == progress("t")

    def test_when_nothing_passes(self) -> None:
        """It is like any other."""
        wire = Wire()
        wire.client(call(7))
        assert self.lend(wire, result(7) + b"\n") == result(7) + b"\n"


@given(
    st.sampled_from([long(call(7, token="t")), long(result(7)), long(note()), long(error(7))]),
    st.booleans(),
    st.booleans(),
    st.lists(st.integers(1, len(BULK) + 300), max_size=5),
)
def test_any_chunking(message: bytes, last: bool, too_long: bool, cuts: list[int]) -> None:
    """What goes on is what came, and the ledger knows the same in the end."""
    body = id_last(message) if last and b'"id"' in message else message
    stream = call(8) + b"\n" + body + b"\n" + note() + b"\n"
    places = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    for sender in Peer:
        wire = overlong() if too_long else Wire()
        wire.say(sender.other, call(7))
        got = b""
        for start, stop in pairwise(places):
            got += wire.feed(sender, stream[start:stop])
        assert got == stream
        plain = Wire(chunk=1 << 20)
        plain.say(sender.other, call(7))
        plain.feed(sender, stream)
        for key in (7, 8):
            for issuer in Peer:
                assert wire.state(key, issuer) is plain.state(key, issuer)
