"""One session: two peers, bytes in, bytes out.  The whole engine behind one class.

Sans-I/O: time, data and the end of a stream are inputs; what to send waits in
``outbox``, what to tell in ``take_notes``.  Every decision is taken before the
call that brought the bytes returns.
"""

from __future__ import annotations

from collections.abc import Callable

from nevermind.dialects import MCP, Dialect
from nevermind.framed import FramedInbound
from nevermind.framing.content_length import ContentLength
from nevermind.framing.lines import Lines
from nevermind.inbound import Inbound
from nevermind.judge import Judge
from nevermind.notes import Diverted, Note, Statistics
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.retraction import Retraction


class Session:
    """The proxy between one client and one server.

    ``nonce`` is random hex, for fresh wire ids that nobody can guess.
    ``quick`` False leaves out the look at whole blocks, for comparison: it
    never changes a verdict.  Times are monotonic seconds.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        dialect: Dialect = MCP,
        *,
        nonce: str = "0",
        quick: bool = True,
    ) -> None:
        self._judge = Judge(policy or Policy(), dialect, nonce)
        limit = self._judge.policy.queue_limit
        self.outbox = {peer: Outbox(limit) for peer in Peer}
        self._inbound = {peer: self._direction(peer, quick) for peer in Peer}

    def receive_data(self, sender: Peer, data: bytes, now: float) -> None:
        """``sender`` wrote ``data``: judge it and queue what goes on."""
        self._inbound[sender].receive(data, now)

    def receiver(self, sender: Peer) -> Callable[[bytes, float], None]:
        """``receive_data`` for one sender, without the way through this class."""
        return self._inbound[sender].receive

    def receive_eof(self, sender: Peer, now: float) -> None:
        """``sender`` will write no more: what is held goes on or is dropped."""
        self._inbound[sender].end(now)

    def expire(self, now: float) -> None:
        """Act on all deadlines up to ``now``."""
        for inbound in self._inbound.values():
            inbound.expire(now)

    def next_deadline(self) -> float | None:
        """When ``expire`` should be called next, if nothing comes before."""
        due = [inbound.deadline for inbound in self._inbound.values()]
        return min((at for at in due if at is not None), default=None)

    def may_read(self, sender: Peer) -> bool:
        """Whether ``sender`` should be read: False while its output waits for room."""
        return not self.outbox[sender.other].full

    def take_notes(self) -> list[Note | Diverted]:
        """What happened since the last call."""
        notes = self._judge.notes
        if notes:
            self._judge.notes = []
        return notes

    def statistics(self) -> Statistics:
        """What this session has done so far."""
        judge, ledger = self._judge, self._judge.ledger
        return Statistics(
            forwarded=judge.forwarded,
            dropped=dict(judge.dropped),
            cancelled=ledger.cancelled,
            never_answered=ledger.cancelled - ledger.overrun,
            longest_overrun_s=ledger.longest_overrun,
            in_flight=ledger.in_flight(),
            waiting=ledger.waiting(),
        )

    def _direction(self, sender: Peer, quick: bool) -> Inbound | FramedInbound:
        judge, outbox, back = self._judge, self.outbox[sender.other], self.outbox[sender]
        longest = judge.policy.max_message
        if judge.dialect.header_framed:
            retraction = Retraction(judge, back, ContentLength(longest))
            return FramedInbound(judge, sender, outbox, retraction)
        retraction = Retraction(judge, back, Lines(longest))
        return Inbound(judge, sender, outbox, retraction, quick=quick)
