"""A session and the oracle, fed the same bytes: whatever they disagree on is an error.

The judge splits what a peer says into lines or frames, asks the oracle about each, and looks for
what may pass at the end of the other peer's queue.
"""

from __future__ import annotations

from nevermind.peers import Peer
from proxy.frame_reader import read_frame
from proxy.judge_comparing import Comparing
from proxy.oracle_memory import Item
from proxy.oracle_reading import body, end_of_value

STILL = 0.2
"""Longer than the 0.1 s after which an unterminated rest counts as still."""


class Judge(Comparing):
    """One conversation through a session, compared with the oracle after every chunk."""

    def feed(self, sender: Peer, data: bytes) -> None:
        """The peer says ``data``, in one chunk."""
        self.script.append(f"{sender.value} >> {data!r}")
        self.session.receive_data(sender, data, self.now)
        actual = self.content(sender.other)
        at = len(self.expected(sender.other))
        self.rest[sender] += data
        if self.dialect.header_framed:
            self.settle_frames(sender, actual, at)
        else:
            at = self.settle_tail(sender, actual, at)
            *lines, self.rest[sender] = self.rest[sender].split(b"\n")
            for line in lines:
                at = self.settle_line(sender, line + b"\n", actual, at)
        self.compare()

    def settle_frames(self, sender: Peer, actual: bytes, at: int) -> None:
        """All frames that are whole by now."""
        while (found := read_frame(self.rest[sender])) is not None:
            self.rest[sender] = self.rest[sender][sum(map(len, found)) :]
            at = self.settle_frame(sender, *found, actual, at)

    def still(self) -> None:
        """Nothing comes for a while: whole objects of unterminated rests are judged.

        A frame that has begun is waited for, however long it takes.
        """
        self.script.append("... still ...")
        self.now += STILL
        self.session.expire(self.now)
        for sender in Peer:
            actual = self.content(sender.other)
            at = len(self.expected(sender.other))
            while self.rest[sender] and not self.dialect.header_framed:
                rest = self.rest[sender]
                start = body(rest)[0]
                end = end_of_value(rest, start) if rest[start : start + 1] in (b"{", b"[") else None
                if end is None:
                    break
                before = at
                at = self.settle_line(sender, rest[:end], actual, at)
                self.tail[sender] = at > before
                self.rest[sender] = rest[end:]
        self.compare()

    def end(self, sender: Peer) -> None:
        """The peer closes its side: its rest is judged as it is."""
        self.script.append(f"{sender.value} ends")
        self.session.receive_eof(sender, self.now)
        rest, self.rest[sender] = self.rest[sender], b""
        at = len(self.expected(sender.other))
        if rest and self.dialect.header_framed:
            self.queue[sender.other].append(Item(rest))
        elif rest:
            self.settle_line(sender, rest, self.content(sender.other), at)
        self.compare()

    def drain(self, peer: Peer, count: int | None = None) -> bytes:
        """The peer reads: everything, or ``count`` bytes."""
        outbox = self.session.outbox[peer]
        data = self.content(peer)[:count]
        self.script.append(f"{peer.value} reads {len(data)} bytes")
        if data:
            outbox.wrote(len(data))
        left = len(data)
        for item in self.queue[peer]:
            step = min(left, len(item.left))
            item.taken += step
            left -= step
        self.queue[peer] = [item for item in self.queue[peer] if item.left]
        self.compare()
        return data
