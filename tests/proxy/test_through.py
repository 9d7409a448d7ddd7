"""Long messages on their way through: cut through where nothing can hold them, or too long to hold.

In pieces through a session; what a receiver gets is compared with what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.dialects import MCP
from nevermind.ids import spell
from nevermind.lifecycle import State
from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Policy
from nevermind.scanning import SCAN_LIMIT
from nevermind.through import CUT_THROUGH, Through, pass_on
from proxy.court import Court
from proxy.messages import OWED, Spelling, answer, call, cancel, error, note, progress, task
from proxy.wire import CLIENT, SERVER, Wire

BULK = b"x" * (3 * CUT_THROUGH)
LONGEST = CUT_THROUGH
"""What may be held, in the sessions in which long messages are too long."""


def long(message: bytes, *, last: bool = False, bulk: bytes = BULK) -> bytes:
    """``message`` made long by a member of its params or result, before or behind the others."""
    for name in (b"params", b"result", b"error"):
        start = b'"%b":{' % name
        if start in message:
            filler = b'"bulk":"%b"' % bulk
            at = message.index(start) + len(start)
            if not last:
                return message[:at] + filler + b"," + message[at:]
            end = message.rindex(b"}}") if message.endswith(b"}}") else message.rindex(b"},")
            return message[:end] + b"," + filler + message[end:]
    raise ValueError(message)


def id_last(message: bytes) -> bytes:
    """The same message, as TypeScript peers write it: the id behind everything else."""
    head, id_member, rest = message.partition(b'"id":')
    value, _, rest = rest.partition(b",")
    return head + rest[:-1] + b"," + id_member + value + b"}"


Shape = Callable[[bytes], bytes]
SHAPES: list[Shape] = [long, lambda message: id_last(long(message))]
"""The id comes first, or last."""


def result(id: Spelling, value: object = "done") -> bytes:
    """An answer whose result is an object."""
    return answer(id, {"value": value})


def overlong(**switches: object) -> Wire:
    """A session in which long messages are too long to be held."""
    return Wire(replace(Policy(max_message=LONGEST), **switches))  # type: ignore[arg-type]


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


class TestHeld:
    """What might be dropped or translated is not begun before it is whole."""

    def test_an_answer_to_a_cancelled_request(self) -> None:
        """It is dropped."""
        wire = Wire()
        wire.client(call(7), cancel(7))
        assert wire.server(long(result(7))) == b""

    def test_an_answer_whose_id_comes_last_while_one_is_cancelled(self) -> None:
        """It might be that one's."""
        wire = Wire()
        wire.client(call(7), call(8), cancel(8))
        assert not wire.begun(SERVER, id_last(long(result(7))))
        assert wire.begun(SERVER, long(note()))

    def test_an_answer_whose_id_comes_last_under_a_shield(self) -> None:
        """Nobody may have asked."""
        wire = Wire(Policy(shield=True))
        wire.client(call(7))
        assert not wire.begun(SERVER, id_last(long(result(7))))

    @pytest.mark.parametrize("spelling", [b"null", b"1.5", b"8"])
    def test_an_answer_to_nobody(self, spelling: bytes) -> None:
        """What becomes of it is decided when it is whole."""
        assert not Wire().begun(SERVER, long(result(spelling)))

    def test_an_array(self) -> None:
        """Its elements are judged one by one."""
        assert not Wire().begun(SERVER, b"[" + long(note()) + b"]")

    def test_noise(self) -> None:
        """It ends with its line."""
        assert not Wire().begun(SERVER, BULK)

    def test_a_message_of_which_nothing_can_be_told_yet(self) -> None:
        """Its method comes last."""
        assert not Wire().begun(CLIENT, b'{"params":{"a":"%b"},"method":"x","id":7}' % BULK)

    @pytest.mark.parametrize("message", [cancel(7, "x"), progress("t")])
    def test_a_cancel_and_progress(self, message: bytes) -> None:
        """However long they are."""
        assert not Wire().begun(CLIENT, long(message))

    def test_a_request_with_a_known_id(self) -> None:
        """It may need another."""
        wire = Wire()
        wire.client(call(7))
        assert not wire.begun(CLIENT, long(call(7)))
        wire.client(call(8), cancel(8))
        out = wire.client(long(call(8)))
        assert b'"id":8' not in out

    def test_a_request_whose_id_comes_last_while_one_is_cancelled(self) -> None:
        """It might be that one's."""
        wire = Wire()
        wire.client(call(8), cancel(8))
        assert not wire.begun(CLIENT, id_last(long(call(7))))

    def test_a_request_whose_id_is_none(self) -> None:
        """It is tracked nowhere."""
        assert not Wire().begun(CLIENT, long(call(b"1.5")))

    def test_one_request_too_many(self) -> None:
        """It passes untracked, when it is whole."""
        wire = Wire(Policy(live_limit=1))
        wire.client(call(1))
        assert not wire.begun(CLIENT, long(call(7)))

    def test_a_repeated_key(self) -> None:
        """Whose value counts is not known yet."""
        wire = Wire()
        wire.client(call(7), call(8))
        assert not wire.begun(SERVER, b'{"id":8,"id":7,' + long(result(7))[8:])

    def test_while_fresh_ids_are_about(self) -> None:
        """Anything might have to be translated."""
        wire = Wire()
        wire.client(call(7), cancel(7), call(7), call(8))
        assert not wire.begun(SERVER, long(result(8)))


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


class TestOverlong:
    """A message that is too long to be held: streamed, its ends looked at, never truncated."""

    @pytest.mark.parametrize(
        "message",
        [
            long(call(7)),
            id_last(long(call(7))),
            long(result(7)),
            id_last(long(error(7))),
            long(note()),
            b"[" + long(note()) + b"]",
            BULK,
            b'{"id":7,"x":"%b' % BULK,
        ],
    )
    @pytest.mark.parametrize("sender", list(Peer))
    def test_it_passes(self, sender: Peer, message: bytes) -> None:
        """Whatever it is, with what follows it."""
        wire = overlong()
        assert wire.say(sender, message, note()) == message + b"\n" + note() + b"\n"
        assert wire.session.statistics().forwarded == 2

    def test_it_is_not_held(self) -> None:
        """But for its last bytes."""
        wire = overlong()
        wire.feed(CLIENT, b'{"params":"' + BULK)
        held = len(BULK) - wire.session.statistics().forwarded
        assert held > 0
        sent = wire.feed(CLIENT, BULK)
        assert len(sent) == len(BULK)

    @pytest.mark.parametrize("shape", SHAPES)
    def test_requests_and_answers_are_known(self, shape: Shape) -> None:
        """With the id at either end."""
        wire = overlong()
        wire.client(shape(call(7)))
        assert wire.state(7) is State.IN_FLIGHT
        wire.server(shape(result(7)))
        assert wire.state(7) is State.ANSWERED

    @pytest.mark.parametrize("message", [long(result(7)), long(error(7))])
    def test_a_late_answer_is_dropped(self, message: bytes) -> None:
        """If its head proves it; how long it was is told."""
        wire = overlong()
        wire.client(call(7), cancel(7))
        wire.session.take_notes()
        assert wire.say(SERVER, message, note()) == note() + b"\n"
        [told] = wire.notes
        assert (told.what, told.id, told.bytes) == (What.LATE_RESPONSE, 7, len(message) + 1)
        assert told.outcome == ("error" if b"error" in message else "result")

    def test_a_late_answer_whose_id_comes_last(self) -> None:
        """It has gone out by then."""
        wire = overlong()
        wire.client(call(7), cancel(7))
        message = id_last(long(result(7)))
        assert wire.server(message) == message
        assert wire.ledger.overrun == 1

    def test_a_late_answer_that_may_create_a_task(self) -> None:
        """Its head says "task", somewhere."""
        wire = overlong()
        wire.client(call(7, token="t"), cancel(7))
        message = long(task(7), last=True)
        assert wire.server(message) == message

    def test_a_late_answer_with_a_repeated_key(self) -> None:
        """Which is not certain."""
        wire = overlong()
        wire.client(call(7), cancel(7))
        message = b'{"id":8,"id":7,' + long(result(7))[8:]
        assert wire.server(message) == message

    def test_a_late_answer_that_the_switches_forward(self) -> None:
        """It passes."""
        wire = overlong(late_response=LateResponse.FORWARD)
        wire.client(call(7), cancel(7))
        assert wire.server(long(result(7))) == long(result(7))

    def test_an_answer_that_nobody_asked_for(self) -> None:
        """A shield drops it."""
        wire = overlong(shield=True)
        assert wire.server(long(result(7))) == b""

    @pytest.mark.parametrize(
        "message",
        [
            b"[" + long(call(7)) + b"]",
            b'{"params":{"a":"%b"},"id":7}' % BULK,
            b'{"x":"%b"}' % BULK,
        ],
        ids=("array", "no method", "nothing"),
    )
    def test_what_cannot_be_tracked_may_have_asked(self, message: bytes) -> None:
        """Nothing that has ended is certain any more."""
        wire = overlong()
        wire.client(call(6), cancel(6))
        wire.client(message)
        assert wire.state(6) is State.ABSENT
        assert Event.FORGET in [one.event for one in wire.notes]

    @pytest.mark.parametrize(
        "message", [BULK, long(note()), long(call(b"null")), id_last(long(call(b"[7]")))]
    )
    def test_what_has_not_asked(self, message: bytes) -> None:
        """Noise, a notification, a request that nobody can name."""
        wire = overlong()
        wire.client(call(6), cancel(6))
        wire.client(message)
        assert wire.state(6) is State.TOMBSTONE

    def test_a_method_that_comes_last(self) -> None:
        """With the id."""
        wire = overlong()
        wire.client(b'{"params":{"a":"%b"},"method":"x","id":7}' % BULK)
        assert wire.state(7) is State.IN_FLIGHT

    def test_the_stream_ends(self) -> None:
        """What is held goes on, and the message counts."""
        wire = overlong()
        message = id_last(long(call(7)))
        got = wire.feed(CLIENT, message)
        wire.session.receive_eof(CLIENT, 0.0)
        assert got + wire.taken(SERVER) == message
        assert wire.state(7) is State.IN_FLIGHT


class TestTranslation:
    """An overlong message whose id is used again, or was given by us."""

    @pytest.mark.parametrize("shape", SHAPES)
    def test_there_and_back(self, shape: Shape) -> None:
        """With the id at either end, spelled as it was."""
        wire = overlong()
        wire.client(call(b"7.0"), cancel(7))
        wire.session.take_notes()
        message = shape(call(b"7.0"))
        sent = wire.client(message)
        [use] = wire.ledger.books[CLIENT].requests.live.values()
        fresh = spell(use.wire)
        assert sent == message.replace(b"7.0", fresh)
        [told] = wire.notes
        assert (told.event, told.id, told.bytes) == (Event.ALIAS, 7, len(message) + 1)
        assert wire.server(shape(result(fresh))) == shape(result(b"7.0"))
        assert wire.server(result(7)) == b"", "the old use's answer is late"

    def test_a_token_in_the_tail(self) -> None:
        """It is changed there, if the id is there too."""
        wire = overlong()
        wire.client(call(7, token="t"), cancel(7))
        sent = wire.client(id_last(long(call(7, token="t"))))
        [use] = wire.ledger.books[CLIENT].requests.live.values()
        [token] = use.tokens
        assert sent == id_last(long(call(spell(use.wire), token=spell(token))))
        assert wire.server(progress(spell(token))) == progress("t")
        assert wire.server(progress("t")) == b""

    def test_a_token_in_the_other_end(self) -> None:
        """It is too late to change it: it is nobody's from then on, and passes."""
        wire = overlong()
        wire.client(call(7, token="t"), cancel(7))
        sent = wire.client(long(call(7, token="t")))
        assert sent.endswith(b'{"progressToken":"t"}}}')
        assert wire.server(progress("t")) == progress("t")

    def test_a_token_in_the_head(self) -> None:
        """It is changed there."""
        wire = overlong()
        wire.client(call(7, token="t"), cancel(7))
        sent = wire.client(long(call(7, token="t"), last=True))
        [use] = wire.ledger.books[CLIENT].requests.live.values()
        [token] = use.tokens
        assert sent == long(call(spell(use.wire), token=spell(token)), last=True)
        assert wire.server(progress(spell(token))) == progress("t")

    def test_forwarding_instead(self) -> None:
        """``--id-reuse forward``."""
        wire = overlong(id_reuse=IdReuse.FORWARD)
        wire.client(call(7), cancel(7))
        assert wire.client(long(call(7))) == long(call(7))
        assert wire.server(result(7)) == result(7)

    def test_one_that_has_gone_out_already(self) -> None:
        """A request that timed out while its next use, with the id last, was on its way."""
        wire = Wire(Policy(timeout=10.0))
        wire.client(call(7))
        message = id_last(long(call(7))) + b"\n"
        got = wire.feed(CLIENT, message[:-1])
        wire.session.expire(20.0)
        wire.taken(CLIENT)
        got += wire.feed(CLIENT, message[-1:])
        assert got.endswith(b'"id":7}\n') or b'"id":7}\n' in got
        assert wire.state(7) is State.IN_FLIGHT
        assert wire.server(result(7)) == result(7)


class TestWholeMessages:
    """Messages that came whole: judged by their ends only if nothing else can read them."""

    def test_a_short_one(self) -> None:
        """As ever."""
        court = Court()
        assert pass_on(court.judge, CLIENT, call(7), 0.0) == call(7)
        assert court.state(7) is State.IN_FLIGHT

    def test_a_long_one(self) -> None:
        """A C decoder reads it."""
        court = Court()
        message = long(call(7), bulk=b"x" * SCAN_LIMIT)
        assert pass_on(court.judge, CLIENT, message, 0.0) is message
        assert court.state(7) is State.IN_FLIGHT
        court.client(cancel(7))
        assert pass_on(court.judge, SERVER, long(result(7), bulk=b"x" * SCAN_LIMIT), 0.0) is None

    def test_a_long_one_that_it_refuses(self) -> None:
        """By its ends: tracked, dropped, translated."""
        court = Court()
        odd = b'{"id":%b,"method":"x","params":{"a":NaN,"b":"%b"}}'
        message = odd % (b"7", b"x" * SCAN_LIMIT)
        assert pass_on(court.judge, CLIENT, message, 0.0) is message
        assert court.state(7) is State.IN_FLIGHT
        court.client(cancel(7))
        late = b'{"id":7,"result":{"a":NaN,"b":"%b"}}' % (b"x" * SCAN_LIMIT)
        assert pass_on(court.judge, SERVER, late, 0.0) is None
        out = pass_on(court.judge, CLIENT, message, 0.0)
        wire = spell(court.alias(7).wire)
        assert out == odd % (wire, b"x" * SCAN_LIMIT)


class TestAnnounced:
    """Behind a header that says how long the message is: nothing at its end may grow."""

    def again(self) -> Court:
        """Request 7 is cancelled."""
        court = Court()
        court.client(call(7))
        court.client(cancel(7))
        return court

    def carried(self, court: Court, sender: Peer, message: bytes) -> tuple[bytes, int]:
        """What comes of ``message``, and by how much its beginning grew."""
        through = Through(court.judge, sender, message, announced=True)
        out = through.begin(message[:CUT_THROUGH], 0.0, overlong=True)
        out += through.feed(message[CUT_THROUGH:-5])
        return out + through.finish(message[-5:], 0.0), through.grown

    def test_an_id_in_the_head(self) -> None:
        """The header is still to come: it grows."""
        court = self.again()
        out, grown = self.carried(court, CLIENT, long(call(7)))
        wire = spell(court.alias(7).wire)
        assert out == long(call(wire))
        assert grown == len(wire) - 1

    def test_a_request_whose_id_comes_last(self) -> None:
        """Its id can't be changed: what has ended is forgotten instead."""
        court = self.again()
        message = id_last(long(call(7)))
        assert self.carried(court, CLIENT, message) == (message, 0)
        assert court.state(7) is State.ABSENT

    def test_an_answer_whose_id_comes_last(self) -> None:
        """The issuer's own id is shorter: spaces make up for it."""
        court = self.again()
        court.client(call(7))
        wire = spell(court.alias(7).wire)
        message = id_last(long(result(wire)))
        out, grown = self.carried(court, SERVER, message)
        assert out == message.replace(wire, b"7".ljust(len(wire)))
        assert grown == 0

    def test_an_id_that_was_spelled_at_length(self) -> None:
        """It stays as it is."""
        court = Court()
        spelled = b"7." + b"0" * 30
        court.client(call(spelled))
        court.client(cancel(7))
        court.client(call(spelled))
        message = id_last(long(result(spell(court.alias(7).wire))))
        assert self.carried(court, SERVER, message) == (message, 0)


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
