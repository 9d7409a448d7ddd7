"""Long messages that are not begun before they are whole."""

from __future__ import annotations

import pytest

from nevermind.policy import LateResponse, Policy
from proxy.long_messages import BULK, id_last, long, result
from proxy.messages import OWED, call, cancel, note, progress
from proxy.wire import CLIENT, SERVER, Wire


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

    def test_an_answer_whose_id_comes_last_while_one_is_cancelled_and_owed_an_answer(self) -> None:
        """A switch may say that this one is dropped all the same."""
        wire = Wire(Policy(late_response=LateResponse.DROP), OWED)
        wire.client(call(7), cancel(7, dialect=OWED))
        assert wire.server(id_last(long(result(7)))) == b""

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

    def test_where_line_ends_are_left_out(self) -> None:
        """How far it goes shows only while it is held: it is judged when it is still."""
        wire = Wire()
        wire.client(call(6), call(7), call(8), cancel(8))
        wire.feed(SERVER, result(6))
        assert wire.still(SERVER) == result(6)
        assert wire.feed(SERVER, long(result(7))) == b""
        assert wire.still(SERVER) == long(result(7))
        wire.feed(SERVER, result(8))
        assert wire.still(SERVER) == b"", "it is late, and told from what went before"

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
