"""One direction of a session whose messages come whole."""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.messages import Message
from nevermind.notes import Diverted, Note, What
from nevermind.peers import Peer
from nevermind.policy import Noise, Policy
from nevermind.session import Session
from proxy.messages import answer, batch, call, cancel, note

CLIENT, SERVER = Peer.CLIENT, Peer.SERVER


def session(policy: Policy | None = None, *messaging: Peer, dialect: Dialect = MCP) -> Session:
    """A session in which request 7 has been cancelled."""
    found = Session(policy, dialect, messaging=messaging or tuple(Peer))
    for message in (call(7), cancel(7), call(8)):
        if CLIENT in found.mailbox:
            found.receive_message(CLIENT, Message(message, text=True), 0.0)
        else:
            found.receive_data(CLIENT, message + b"\n", 0.0)
    found.take_notes()
    return found


def heard(found: Session, peer: Peer) -> list[Message]:
    """The messages that wait for ``peer``."""
    box, messages = found.mailbox[peer], []
    while (message := box.begin()) is not None:
        messages.append(message)
        box.sent()
    return messages


def test_what_passes_is_the_message_that_came() -> None:
    """Text or binary, line ends and all."""
    found = session()
    for message in (Message(b'{"id":8,\n"result":{}}', text=True), Message(b"\xff", text=False)):
        found.receive_message(SERVER, message, 0.0)
        assert heard(found, CLIENT) == [message]


def test_what_is_late_is_dropped() -> None:
    """And what is left of an array goes on as what it was."""
    found = session()
    found.receive_message(SERVER, Message(answer(7), text=True), 0.0)
    assert heard(found, CLIENT) == []
    found.receive_message(SERVER, Message(batch(answer(7), note()), text=False), 0.0)
    assert heard(found, CLIENT) == [Message(batch(note()), text=False)]


def test_to_a_peer_that_speaks_in_lines() -> None:
    """Line ends within become spaces."""
    found = session(None, SERVER)
    found.receive_message(SERVER, Message(b'{"id":8,\r\n"result":{}}', text=True), 0.0)
    assert b"".join(found.outbox[CLIENT].buffers()) == b'{"id":8,  "result":{}}\n'


def test_to_a_peer_that_speaks_with_headers() -> None:
    """As they were."""
    framed = Dialect(name="framed", header_framed=True)
    found = Session(dialect=framed, messaging=(SERVER,))
    found.receive_message(SERVER, Message(b'{"id":8,\n"result":{}}', text=True), 0.0)
    sent = b"".join(found.outbox[CLIENT].buffers())
    assert sent == b'Content-Length: 21\r\n\r\n{"id":8,\n"result":{}}'


@pytest.mark.parametrize("noise", [Noise.STDERR, Noise.DROP])
def test_noise(noise: Noise) -> None:
    """It is kept from the host; the client's is not touched."""
    found = session(Policy(noise=noise))
    found.receive_message(SERVER, Message(b"listening\non 7", text=True), 0.0)
    assert heard(found, CLIENT) == []
    told, *aside = found.take_notes()
    assert isinstance(told, Note)
    assert told.what is What.NOISE
    assert aside == ([Diverted(b"listening on 7\n")] if noise is Noise.STDERR else [])
    heard(found, SERVER)
    found.receive_message(CLIENT, Message(b"hello", text=True), 0.0)
    assert heard(found, SERVER) == [Message(b"hello", text=True)]


def test_time_and_the_end_change_nothing() -> None:
    """A whole message waits for nothing."""
    found = session()
    assert found.next_deadline() is None
    found.expire(100.0)
    found.receive_eof(SERVER, 100.0)
    assert heard(found, CLIENT) == []
