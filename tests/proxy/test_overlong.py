"""Messages too long to be held: streamed, tracked and translated by their two ends."""

from __future__ import annotations

import pytest

from nevermind.ids import spell
from nevermind.lifecycle import State
from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import IdReuse, LateResponse, Policy
from nevermind.scanning import SCAN_LIMIT
from nevermind.through import CUT_THROUGH, Through, pass_on
from proxy.court import Court
from proxy.long_messages import BULK, SHAPES, Shape, id_last, long, overlong, result
from proxy.messages import call, cancel, error, note, progress, task
from proxy.wire import CLIENT, SERVER, Wire


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
