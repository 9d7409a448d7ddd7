"""A session whose peers speak in whole messages, one of them or both: the same rules."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from nevermind.dialects import MCP
from nevermind.messages import Message
from nevermind.notes import Diverted, Event, Note, What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.session import Session

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
OTHER = b'{"jsonrpc":"2.0","id":2,"method":"tools/call"}'
CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message"}'

CLIENT, SERVER = Peer.CLIENT, Peer.SERVER
PAIRINGS = [(CLIENT,), (SERVER,), (CLIENT, SERVER)]


class Wire:
    """A session and what its peers have been sent, a message each."""

    def __init__(self, *messaging: Peer, policy: Policy | None = None) -> None:
        self.session = Session(policy, messaging=messaging)
        self.messaging = messaging

    def says(self, sender: Peer, *bodies: bytes) -> None:
        for body in bodies:
            if sender in self.messaging:
                self.session.receive_message(sender, Message(body, text=True), 1.0)
            else:
                self.session.receive_data(sender, body + b"\n", 1.0)

    def heard(self, peer: Peer) -> list[bytes]:
        """All that waits for ``peer``, now sent."""
        if peer not in self.messaging:
            outbox = self.session.outbox[peer]
            data = b"".join(outbox.buffers(1000))
            outbox.clear()
            return data.splitlines()
        mailbox = self.session.mailbox[peer]
        bodies = []
        while (message := mailbox.begin()) is not None:
            mailbox.sent()
            bodies.append(message.body)
        return bodies

    def dropped(self) -> list[What | None]:
        notes = self.session.take_notes()
        return [n.what for n in notes if isinstance(n, Note) and n.event is Event.DROP]


@pytest.mark.parametrize("messaging", PAIRINGS)
class TestTheRules:
    def test_a_late_answer_and_a_repeated_cancel_go_nowhere(
        self, messaging: tuple[Peer, ...]
    ) -> None:
        wire = Wire(*messaging)
        wire.says(CLIENT, CALL, CANCEL, CANCEL, NOTE)
        assert wire.heard(SERVER) == [CALL, CANCEL, NOTE]
        wire.says(SERVER, RESULT, NOTE)
        assert wire.heard(CLIENT) == [NOTE]
        assert wire.dropped() == [What.REDUNDANT_CANCEL, What.LATE_RESPONSE]

    def test_a_batch_is_judged_element_by_element(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging)
        wire.says(CLIENT, CALL, CANCEL)
        wire.says(SERVER, b"[" + RESULT + b", " + NOTE + b"]", b"[" + RESULT + b"]")
        assert wire.heard(CLIENT) == [b"[" + NOTE + b"]"]

    def test_a_fresh_id_is_put_in_and_taken_out(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging)
        wire.says(CLIENT, CALL, CANCEL, CALL)
        *_, again = wire.heard(SERVER)
        assert again != CALL
        fresh = b'"id":%d' % json.loads(again)["id"]
        wire.says(SERVER, RESULT, RESULT.replace(b'"id":1', fresh))
        assert wire.heard(CLIENT) == [RESULT]

    def test_an_answer_that_waits_is_taken_back(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging)
        wire.says(CLIENT, CALL)
        wire.says(SERVER, NOTE, RESULT, NOTE)
        wire.says(CLIENT, CANCEL)
        assert wire.heard(CLIENT) == [NOTE, NOTE]
        assert wire.heard(SERVER) == [CALL]

    def test_the_servers_own_requests_are_cancelled_alike(
        self, messaging: tuple[Peer, ...]
    ) -> None:
        wire = Wire(*messaging)
        wire.says(SERVER, CALL, CANCEL)
        wire.says(CLIENT, RESULT)
        assert wire.heard(SERVER) == []
        assert wire.heard(CLIENT) == [CALL, CANCEL]

    def test_what_nobody_can_read_passes(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging)
        odd = [b"{bad", b"null", b"[]", b'{"id":NaN}', b"\xff\xfe", b'"text"', b"[" * 5000]
        wire.says(CLIENT, *odd)
        assert wire.heard(SERVER) == odd

    @pytest.mark.parametrize("noise", [Noise.STDERR, Noise.DROP])
    def test_noise_goes_where_the_switch_says(
        self, messaging: tuple[Peer, ...], noise: Noise
    ) -> None:
        wire = Wire(*messaging, policy=Policy(noise=noise))
        wire.says(SERVER, b"listening on 8080", NOTE)
        assert wire.heard(CLIENT) == [NOTE]
        notes = wire.session.take_notes()
        diverted = [note.data for note in notes if isinstance(note, Diverted)]
        assert diverted == ([b"listening on 8080\n"] if noise is Noise.STDERR else [])

    def test_a_clients_noise_is_no_noise(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging, policy=Policy(noise=Noise.DROP))
        wire.says(CLIENT, b"hello")
        assert wire.heard(SERVER) == [b"hello"]

    def test_a_full_queue_stops_the_other_peer_only(self, messaging: tuple[Peer, ...]) -> None:
        wire = Wire(*messaging, policy=Policy(queue_limit=100))
        wire.says(SERVER, NOTE, NOTE)
        assert [wire.session.may_read(peer) for peer in (CLIENT, SERVER)] == [True, False]
        wire.heard(CLIENT)
        assert wire.session.may_read(SERVER)


class TestFromMessagesToLines:
    def test_line_ends_between_tokens_become_spaces(self) -> None:
        wire = Wire(CLIENT)
        wire.says(CLIENT, b'{\r\n"id":1,\n"method":"x"}')
        assert wire.heard(SERVER) == [b'{  "id":1, "method":"x"}']

    def test_an_answer_with_line_ends_is_known_by_its_line(self) -> None:
        wire = Wire(SERVER)
        wire.says(CLIENT, CALL)
        wire.says(SERVER, b'{"id":1,\n"result":{}}', NOTE)
        wire.says(CLIENT, CANCEL)
        assert wire.heard(CLIENT) == [NOTE]

    def test_to_a_peer_with_headers_they_get_one_and_keep_their_bytes(self) -> None:
        dialect = replace(MCP, header_framed=True)
        session = Session(dialect=dialect, messaging=[CLIENT])
        body = b'{\n"id":1,"method":"x"}'
        session.receive_message(CLIENT, Message(body, text=True), 1.0)
        sent = b"".join(session.outbox[SERVER].buffers())
        assert sent == b"Content-Length: 22\r\n\r\n" + body
        session.receive_data(SERVER, b"Content-Length: 36\r\n\r\n" + RESULT, 1.0)
        message = session.mailbox[CLIENT].begin()
        assert message == Message(RESULT, text=True)


class TestFromLinesToMessages:
    def test_a_last_line_without_end_is_sent_when_the_server_ends(self) -> None:
        wire = Wire(CLIENT)
        wire.session.receive_data(SERVER, NOTE, 1.0)
        wire.session.receive_eof(SERVER, 1.0)
        assert wire.heard(CLIENT) == [NOTE]

    def test_one_that_was_already_going_out_too(self) -> None:
        """Its head had shown that nothing can hold it back."""
        wire = Wire(CLIENT)
        wire.says(CLIENT, CALL)
        body = RESULT[:-2] + b'"x":"' + b"y" * 50_000 + b'"}}'
        wire.session.receive_data(SERVER, body, 1.0)
        assert wire.heard(CLIENT) == []
        wire.session.receive_eof(SERVER, 1.0)
        assert wire.heard(CLIENT) == [body]

    def test_a_long_one_is_one_message_however_it_arrives(self) -> None:
        wire = Wire(CLIENT)
        wire.says(CLIENT, CALL)
        body = RESULT[:-2] + b'"x":"' + b"y" * 300_000 + b'"}}'
        data = body + b"\n" + NOTE + b"\n"
        for at in range(0, len(data), 1000):
            wire.session.receive_data(SERVER, data[at : at + 1000], 1.0)
        assert wire.heard(CLIENT) == [body, NOTE]


class TestFromMessagesToMessages:
    def test_every_byte_and_the_kind_are_kept(self) -> None:
        wire = Wire(CLIENT, SERVER)
        messages = [
            Message(b'{\r\n"id":1,"method":"x"}\n', text=True),
            Message(b"", text=True),
            Message(NOTE, text=False),
        ]
        for message in messages:
            wire.session.receive_message(CLIENT, message, 1.0)
        got = []
        while (sent := wire.session.mailbox[SERVER].begin()) is not None:
            got.append(sent)
            wire.session.mailbox[SERVER].sent()
        assert got == messages

    def test_a_translated_one_keeps_its_kind(self) -> None:
        wire = Wire(CLIENT, SERVER)
        wire.says(CLIENT, CALL, CANCEL)
        wire.heard(SERVER)
        wire.session.receive_message(CLIENT, Message(CALL, text=False), 1.0)
        sent = wire.session.mailbox[SERVER].begin()
        assert sent is not None
        assert sent.body != CALL
        assert sent.text is False


def test_a_peer_that_ends_in_whole_messages_leaves_nothing_behind() -> None:
    session = Session(messaging=[CLIENT, SERVER])
    for peer in Peer:
        session.receive_eof(peer, 1.0)
        session.expire(2.0)
    assert session.next_deadline() is None
    assert session.take_notes() == []
