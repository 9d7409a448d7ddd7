"""One session: two peers, bytes in, bytes out.  The whole engine behind one class.

Sans-I/O: time, data and the end of a stream are inputs; what to send waits in
``outbox``, what to tell in ``take_notes``.  Every decision is taken before the
call that brought the bytes returns.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING

from nevermind.correspondence import Correspondence
from nevermind.dialects import MCP, Dialect
from nevermind.framing.lines import Lines
from nevermind.framing.whole import Whole
from nevermind.inbound import Inbound
from nevermind.judge import Judge
from nevermind.mailbox import Mailbox, Queue
from nevermind.messages import Message
from nevermind.notes import Diverted, Note, Statistics
from nevermind.outbox import Outbox
from nevermind.peers import Peer
from nevermind.policy import Policy
from nevermind.retraction import Retraction

if TYPE_CHECKING:
    from nevermind.framed import FramedInbound
    from nevermind.framing.content_length import ContentLength


class Session:
    """The proxy between one client and one server.

    ``nonce`` is random hex, for fresh wire ids that nobody can guess.
    ``quick`` False leaves out the look at whole blocks, for comparison: it
    never changes a verdict.  ``messaging`` are the peers that speak in whole
    messages (WebSocket): each has a ``mailbox`` where others have an
    ``outbox``.  Times are monotonic seconds.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        dialect: Dialect = MCP,
        *,
        nonce: str = "0",
        quick: bool = True,
        messaging: Collection[Peer] = (),
    ) -> None:
        self._judge = Judge(policy or Policy(), dialect, nonce)
        limit, longest = self._judge.policy.queue_limit, self._judge.policy.max_message
        lines = not dialect.header_framed
        self.outbox = {peer: Outbox(limit, lines=lines) for peer in Peer if peer not in messaging}
        self.mailbox = {peer: Mailbox(limit, longest, self._framing()) for peer in messaging}
        self._queues: dict[Peer, Queue] = {**self.outbox, **self.mailbox}
        self._author = self._judge.author
        self._author.queues = self._queues
        self.timed = self._author.active
        """Something may fall due at any time; else only while a stream has a ``deadline``."""
        self._correspondence = {peer: self._correspond(peer) for peer in messaging}
        self._streams = {peer: self._direction(peer, quick) for peer in self.outbox}
        self._judge.retract_from = {peer: self._back(peer).retract for peer in Peer}
        for peer, queue in self._queues.items():
            self._judge.ledger.books[peer].mark = partial(_mark, queue)
        self._inbound: dict[Peer, Inbound | FramedInbound | Correspondence] = {
            **self._streams,
            **self._correspondence,
        }
        self._directions = tuple(self._inbound.values())

    def receive_data(self, sender: Peer, data: bytes, now: float) -> None:
        """``sender`` wrote ``data``: judge it and queue what goes on."""
        self._streams[sender].receive(data, now)

    def receive_message(self, sender: Peer, message: Message, now: float) -> None:
        """``sender``, one that is ``messaging``, sent ``message``: likewise."""
        self._correspondence[sender].receive(message, now)

    def stream(self, sender: Peer) -> Inbound | FramedInbound:
        """The direction in which ``sender`` writes: its ``receive`` is ``receive_data``.

        While it is ``passing``, ``receive_lent`` spares a copy.
        """
        return self._streams[sender]

    def receive_eof(self, sender: Peer, now: float) -> None:
        """``sender`` will write no more: what is held goes on or is dropped."""
        self._inbound[sender].end(now)
        if sender.other in self.mailbox:
            self.mailbox[sender.other].flush()

    def expire(self, now: float) -> None:
        """Act on all deadlines up to ``now``."""
        for inbound in self._inbound.values():
            inbound.expire(now)
        self._author.overdue(now)

    def next_deadline(self) -> float | None:
        """When ``expire`` should be called next, if nothing comes before."""
        # asked before every wait: in a conversation of whole lines nothing is due
        due = self._author.deadlines.next() if self._author.active else None
        for inbound in self._directions:
            at = inbound.deadline
            if at is not None and (due is None or at < due):
                due = at
        return due

    def may_read(self, sender: Peer) -> bool:
        """Whether ``sender`` should be read.

        False while its output waits for room, or while it makes us answer
        faster than it reads.
        """
        return not (self._queues[sender.other].full or self._queues[sender].flooded)

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
            timed_out=self._author.timed_out,
            answered=self._author.answered,
            reaped=self._author.reaped,
            waiting=ledger.waiting(),
        )

    def _direction(self, sender: Peer, quick: bool) -> Inbound | FramedInbound:
        judge, queue = self._judge, self._queues[sender.other]
        if judge.dialect.header_framed:
            from nevermind.framed import FramedInbound

            return FramedInbound(judge, sender, queue)
        return Inbound(judge, sender, queue, quick=quick)

    def _correspond(self, sender: Peer) -> Correspondence:
        return Correspondence(self._judge, sender, self._queues[sender.other])

    def _back(self, sender: Peer) -> Retraction:
        framing = Whole() if sender in self.mailbox else self._framing()
        return Retraction(self._judge, self._queues[sender], framing)

    def _framing(self) -> ContentLength | Lines:
        longest = self._judge.policy.max_message
        if self._judge.dialect.header_framed:
            # what lines do not need is not imported for them: they would start later for it
            from nevermind.framing.content_length import ContentLength

            return ContentLength(longest)
        return Lines(longest)


def _mark(queue: Queue) -> int:
    """The number of the part that will be queued next, or 0 while none waits."""
    return queue.end if queue.end > queue.first else 0
