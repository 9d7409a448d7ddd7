"""Long messages whose token or task shows long after they have gone on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nevermind.dialects import MCP
from nevermind.lifecycle import State
from nevermind.policy import Policy
from nevermind.through import CUT_THROUGH
from proxy.long_messages import BULK, long, overlong, result
from proxy.messages import OWED, call, cancel, error, progress, task
from proxy.wire import CLIENT, SERVER, Wire


class TestTokensFarBehind:
    """A token behind the head of a request that has gone on already."""

    def test_at_the_end(self) -> None:
        """It is the request's."""
        wire = Wire()
        message = long(call(7, token="t"))
        assert b'"t"' in message[-20:]
        wire.client(message)
        assert wire.server(progress("t")) == progress("t")
        wire.client(cancel(7))
        assert wire.server(progress("t")) == b""

    def test_in_the_middle(self) -> None:
        """Whose it is can't be told: old claims are void."""
        wire = Wire()
        wire.client(call(6, token="t"), cancel(6))
        assert wire.server(progress("t")) == b""
        middle = b'{"id":7,"method":"x","params":{"a":"%b","_meta":{"progressToken":"t"},"b":"%b"}}'
        assert wire.client(middle % (BULK, BULK)) != b""
        assert wire.server(progress("t")) == progress("t")

    def test_in_the_middle_with_the_id_last(self) -> None:
        """Likewise."""
        wire = overlong()
        wire.client(call(6, token="t"), cancel(6))
        middle = b'{"method":"x","params":{"a":"%b","_meta":{"progressToken":"t"},"b":"%b"},"id":7}'
        wire.client(middle % (BULK, BULK))
        assert wire.state(7) is State.IN_FLIGHT
        assert wire.server(progress("t")) == progress("t")

    def test_across_the_border_of_two_chunks(self) -> None:
        """It is seen all the same, wherever the border is."""
        middle = b'{"id":7,"method":"x","params":{"a":"%b","_meta":{"progressToken":"t"},"b":"%b"}}'
        message = middle % (BULK, BULK) + b"\n"
        place = message.index(b'"progressToken"')
        for cut in range(place - 2, place + 18):
            wire = Wire()
            wire.client(call(6, token="t"), cancel(6))
            for part in (message[:CUT_THROUGH], message[CUT_THROUGH:cut], message[cut:]):
                wire.session.receive_data(CLIENT, part, 0.0)
            assert wire.server(progress("t")) == progress("t")

    def test_of_a_request_that_has_been_cancelled_by_then(self) -> None:
        """By a timeout, say: nothing is claimed."""
        wire = Wire(Policy(timeout=10.0))
        message = long(call(7, token="t")) + b"\n"
        wire.feed(CLIENT, message[:-1])
        wire.session.expire(20.0)
        wire.taken(CLIENT)
        wire.feed(CLIENT, message[-1:])
        assert wire.state(7) is State.TOMBSTONE
        assert wire.server(progress("t")) == progress("t")

    def test_of_a_request_with_a_record_of_its_own(self) -> None:
        """It has one token more."""
        both = (
            b'{"id":7,"method":"x","params":{"workDoneToken":"w","a":"%b",'
            b'"_meta":{"progressToken":"t"}}}'
        )
        dialect = replace(OWED, request_tokens=(*OWED.request_tokens, *MCP.request_tokens))
        wire = Wire(dialect=dialect)
        wire.client(both % BULK)
        found = wire.ledger.books[CLIENT].tokens.look_up("t")
        assert found is not None
        assert found == wire.ledger.books[CLIENT].tokens.look_up("w")


class TestTasksFarBehind:
    """A long answer that creates a task shows it somewhere, or not at all."""

    @pytest.mark.parametrize("last", [False, True])
    def test_in_an_end(self, last: bool) -> None:
        """Its token lives on."""
        wire = Wire()
        wire.client(call(7, token="t"))
        wire.server(long(task(7), last=last))
        assert wire.server(progress("t")) == progress("t")
        assert wire.client(cancel(7)) == cancel(7)

    def test_in_the_middle(self) -> None:
        """Where there are tokens it is looked for."""
        wire = Wire()
        wire.client(call(7, token="t"))
        middle = b'{"id":7,"result":{"a":"%b","task":{"taskId":"t-1"},"b":"%b"}}' % (BULK, BULK)
        assert wire.begun(SERVER, middle)
        assert wire.server(progress("t")) == progress("t")

    def test_of_an_id_with_two_uses(self) -> None:
        """The token that both carried lives on, whatever becomes of the other use."""
        wire = Wire()
        wire.client(call(7, token="t"), call(7, token="t"))
        assert wire.begun(SERVER, long(task(7)))
        wire.server(error(7))
        assert wire.server(progress("t")) == progress("t")

    def test_no_task(self) -> None:
        """The token is stale."""
        wire = Wire()
        wire.client(call(7, token="t"))
        assert wire.begun(SERVER, long(result(7)))
        assert wire.server(progress("t")) == b""

    @pytest.mark.parametrize("message", [error(7), task(7)])
    def test_where_there_can_be_none(self, message: bytes) -> None:
        """In an error, or in another dialect."""
        dialect = MCP if b"error" in message else replace(MCP, creates_tasks=False)
        wire = Wire(dialect=dialect)
        wire.client(call(7, token="t"))
        wire.server(long(message))
        assert wire.server(progress("t")) == b""
