"""One direction of a session whose messages have headers: LSP, BSP and their kin.

The counterpart of ``inbound``, which reads lines.  A header travels with its
message: it is kept as it came, goes with it when that is dropped, and only the
number in it is changed when a translation changes the length.
"""

from __future__ import annotations

from collections.abc import Callable

from nevermind.ends import END
from nevermind.frames import Frame
from nevermind.framing.content_length import ContentLength, with_length
from nevermind.judge import Judge
from nevermind.mailbox import Queue
from nevermind.peers import Peer
from nevermind.through import Through, pass_on


def _never(*_: object) -> bool:
    return False


_UNFRAMED = "bytes that belong to no message were let through"


class FramedInbound:
    """What ``sender`` writes, on its way to ``outbox``."""

    def __init__(self, judge: Judge, sender: Peer, outbox: Queue) -> None:
        self._judge = judge
        self._sender = sender
        self._outbox = outbox
        self._framing = ContentLength(judge.policy.max_message)
        self._through: Through | None = None
        self._left = 0
        """Bytes of the message in ``_through`` that are still to come."""
        self._told_astray = False
        self._hints = sender is Peer.CLIENT
        """It has not sent a single frame yet."""
        self.passing = False
        """Nothing is lent: a body's length is known, and it is framed by it."""
        self.clean = False
        """Nothing goes on but by ``receive``: there are no lines here."""
        self.passes: Callable[[bytes, float], bool] = _never

    @property
    def deadline(self) -> float | None:
        """When a rest that only resembles a header will have been still for long enough."""
        return self._framing.still_at

    def receive(self, data: bytes, now: float) -> None:
        """Judge what became whole with ``data`` and queue it; keep the rest."""
        if self._through is not None:
            data = self._pass_through(data, now)
        if data:
            data = self._framing.feed(data, now)
        if data:
            self._one_by_one(data, now)
        self._outbox.go_on(self._through is not None)

    def receive_lent(self, buffer: bytearray, size: int, now: float) -> None:
        """Like ``receive``, with a buffer that is only lent."""
        self.receive(bytes(memoryview(buffer)[:size]), now)

    def expire(self, now: float) -> None:
        """Time has passed: what has not become a header by now is none."""
        due = self._framing.still_at
        if due is not None and now >= due:
            rest = self._framing.give_up()
            self._mind_stray(rest)
            self._send(rest)

    def end(self, now: float) -> None:
        """The stream has ended: a frame that is not whole passes as it is."""
        if self._through is not None:
            self._send_piece(self._through.finish(b"", now))
            self._through = None
        self._send(self._framing.take())
        self._outbox.go_on(midway=False)

    def _one_by_one(self, data: bytes, now: float) -> None:
        """Judge frame by frame; neighbours that pass untouched stay one slice."""
        at = sent = 0
        while at < len(data):
            frame = self._framing.next(data, at)
            if frame is None:
                break
            at = min(frame.stop, len(data))
            if frame.body_stop - frame.body_start > self._judge.policy.max_message:
                self._send(data[sent : frame.start])
                self._begin_overlong(data, frame, now)
                sent = at
                continue
            out = self._verdict(data, frame, now)
            if out is None:
                continue
            self._send(data[sent : frame.start])
            self._send(out)
            sent = at
        self._send(data[sent:at])
        self._framing.keep(data[at:], now)

    def _verdict(self, data: bytes, frame: Frame, now: float) -> bytes | None:
        """None if the frame passes as it is, else what takes its place (b"": nothing)."""
        start, stop, body_start, body_stop = frame
        if body_start == body_stop:
            self._mind_stray(data[start:stop])
            return None
        self._hints = self._told_astray = False
        body = data[body_start:body_stop]
        out = pass_on(self._judge, self._sender, body, now)
        if out is body:
            return None
        if out is None:
            return b""
        header = data[start:body_start]
        return (header if len(out) == len(body) else with_length(header, len(out))) + out

    def _mind_stray(self, data: bytes) -> None:
        """What stands outside of frames may have held requests: then nothing is certain."""
        if b"{" in data and not self._told_astray:
            self._told_astray = True
            if self._hints and data.startswith(b"{"):
                self._judge.hint_at_lines()
            self._judge.untracked(self._sender, _UNFRAMED)

    def _begin_overlong(self, data: bytes, frame: Frame, now: float) -> None:
        """Let a message through that is too long to be held; its header goes with it."""
        body = data[frame.body_start : frame.body_stop]
        through = Through(self._judge, self._sender, body[:END], announced=True)
        out = through.begin(body, now, overlong=True)
        if not through.dropping:
            header = data[frame.start : frame.body_start]
            if through.grown:
                length = frame.body_stop - frame.body_start + through.grown
                header = with_length(header, length)
            self._send_piece(header + out)
        self._through = through
        self._left = frame.body_stop - frame.body_start - len(body)
        if not self._left:
            self._pass_through(b"", now)

    def _pass_through(self, data: bytes, now: float) -> bytes:
        """Send on what belongs to an overlong message; what follows it is returned."""
        assert self._through is not None
        piece = data[: self._left]
        self._left -= len(piece)
        if self._left:
            self._send_piece(self._through.feed(piece))
        else:
            self._send_piece(self._through.finish(piece, now))
            self._outbox.join_pieces()
            self._through = None
        return data[len(piece) :]

    def _send(self, data: bytes) -> None:
        if data:
            self._outbox.append(data)

    def _send_piece(self, data: bytes) -> None:
        if data:
            self._outbox.append_piece(data)
