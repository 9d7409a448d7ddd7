"""Long messages whose end belies their beginning, and those that wait unsent."""

from __future__ import annotations

import pytest

from nevermind.notes import Event, Note, What
from nevermind.peers import Peer
from nevermind.session import Session

CLIENT, SERVER = Peer
FILL = b"x" * 20_000
CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"text":"%b"}}\n' % FILL


def say(session: Session, sender: Peer, data: bytes, *, torn: int | None = None) -> bytes:
    """What reaches the other peer of ``data``, read in two pieces if ``torn``."""
    for piece in (data[:torn], data[torn:]) if torn else (data,):
        session.receive_data(sender, piece, 1.0)
    return read(session, sender.other)


def read(session: Session, peer: Peer) -> bytes:
    """What ``peer`` has yet to be sent."""
    outbox = session.outbox[peer]
    data = b"".join(outbox.buffers(1000))
    outbox.wrote(len(data))
    return data


class TestRepeatedId:
    """A repeated key has its last value, and that may come when the message has gone on."""

    def test_a_request_under_an_id_that_was_cancelled(self) -> None:
        """Its answer passes: the tombstone may not be what is meant."""
        session = Session()
        say(session, CLIENT, CALL + CANCEL)
        request = b'{"id":2,"method":"b","params":{"a":"%b"},"id":1}\n' % FILL
        assert say(session, CLIENT, request, torn=17_000) == request
        answer = b'{"id":1,"result":{}}\n'
        assert say(session, SERVER, answer) == answer

    def test_an_answer_to_another_request(self) -> None:
        """A cancel of the one that its head named goes on: it may wait still."""
        session = Session()
        say(session, CLIENT, CALL + CALL.replace(b":1,", b":2,"))
        answer = b'{"id":1,"result":{"a":"%b"},"id":2}\n' % FILL
        assert say(session, SERVER, answer, torn=17_000) == answer
        assert say(session, CLIENT, CANCEL) == CANCEL

    def test_the_same_id_twice_is_no_riddle(self) -> None:
        """Nothing is forgotten."""
        session = Session()
        say(session, CLIENT, CALL)
        answer = b'{"id":1,"result":{"a":"%b"},"id":1}\n' % FILL
        assert say(session, SERVER, answer, torn=17_000) == answer
        assert say(session, CLIENT, CANCEL) == b""

    def test_what_does_not_end_as_an_object(self) -> None:
        """It was no answer after all: a cancel is not redundant."""
        session = Session()
        say(session, CLIENT, CALL)
        garbled = ANSWER.replace(b'"}}\n', b'" and then it died\n')
        assert say(session, SERVER, garbled, torn=17_000) == garbled
        assert say(session, CLIENT, CANCEL) == CANCEL


class TestUnreadableId:
    """An answer has asked for nothing, whatever its id is."""

    @pytest.mark.parametrize("spelled", [b"null", b"1.5", b'"\\ud800"', b'"%b"' % (b"z" * 2000)])
    def test_tombstones_stand(self, spelled: bytes) -> None:
        """The late answer is still recognised."""
        session = Session()
        say(session, SERVER, CALL + CANCEL)
        answer = b'{"result":{"a":"%b"},"jsonrpc":"2.0","id":%b}\n' % (FILL, spelled)
        assert say(session, SERVER, answer, torn=17_000) == answer
        assert say(session, CLIENT, b'{"id":1,"result":{}}\n') == b""
        notes = [note for note in session.take_notes() if isinstance(note, Note)]
        assert Event.FORGET not in [note.event for note in notes]


class TestUnsent:
    """What has not begun to go out is retracted, in however many pieces it came."""

    def test_an_answer_behind_others(self) -> None:
        """It is taken out whole; its neighbours stay."""
        session = Session()
        say(session, CLIENT, CALL)
        before, after = b'{"method":"before"}\n', b'{"method":"after"}\n'
        for piece in (before, ANSWER[:17_000], ANSWER[17_000:19_000], ANSWER[19_000:], after):
            session.receive_data(SERVER, piece, 1.0)
        assert say(session, CLIENT, CANCEL) == b""
        assert read(session, CLIENT) == before + after
        assert session.statistics().dropped[What.LATE_RESPONSE] == 1
        assert session.outbox[CLIENT].pending == 0

    def test_an_answer_that_has_begun(self) -> None:
        """It is delivered to its end."""
        session = Session()
        say(session, CLIENT, CALL)
        session.receive_data(SERVER, ANSWER[:17_000], 1.0)
        session.outbox[CLIENT].wrote(1)
        session.receive_data(SERVER, ANSWER[17_000:], 1.0)
        assert say(session, CLIENT, CANCEL) == b""
        assert read(session, CLIENT) == ANSWER[1:]

    def test_an_answer_of_which_a_piece_is_gone(self) -> None:
        """Likewise, though what is left waits in pieces that nobody has touched."""
        session = Session()
        say(session, CLIENT, CALL)
        session.receive_data(SERVER, ANSWER[:17_000], 1.0)
        session.outbox[CLIENT].wrote(17_000)
        session.receive_data(SERVER, ANSWER[17_000:19_000], 1.0)
        session.receive_data(SERVER, ANSWER[19_000:], 1.0)
        assert say(session, CLIENT, CANCEL) == b""
        assert read(session, CLIENT) == ANSWER[17_000:]
