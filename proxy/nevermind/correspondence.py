"""One direction of a session whose messages come whole: what arrives over WebSocket.

The counterpart of ``inbound``, without framing, stillness or cut-through: a
message that is too long for us never gets here.  The verdicts are ``judge``'s.
"""

from __future__ import annotations

from nevermind.judge import Judge
from nevermind.mailbox import Mailbox, Queue
from nevermind.messages import Message, as_framed, as_line
from nevermind.noise import is_noise
from nevermind.peers import Peer
from nevermind.policy import Noise
from nevermind.through import pass_on


class Correspondence:
    """What ``sender`` writes, on its way to ``queue``."""

    deadline: float | None = None
    """A whole message waits for nothing."""

    def __init__(self, judge: Judge, sender: Peer, queue: Queue) -> None:
        self._judge = judge
        self._sender = sender
        self._queue = queue
        self._encode = as_framed if judge.dialect.header_framed else as_line
        noise = judge.policy.noise
        self._noise = noise if sender is Peer.SERVER and noise is not Noise.FORWARD else None

    def receive(self, message: Message, now: float) -> None:
        """Judge ``message`` and queue what goes on."""
        judge = self._judge
        body = message.body
        if self._noise is not None and is_noise(body):
            judge.divert(as_line(body), aside=self._noise is Noise.STDERR)
            return
        out = pass_on(judge, self._sender, body, now)
        if out is not None:
            if isinstance(self._queue, Mailbox):
                self._queue.put(message if out is body else message._replace(body=out))
            else:
                self._queue.append(self._encode(out))

    def expire(self, now: float) -> None:
        """Time has passed: nothing to do."""

    def end(self, now: float) -> None:
        """``sender`` has closed its side: nothing is held."""
