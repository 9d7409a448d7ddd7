"""One direction of a session: bytes from one peer, judged, into the other's outbox.

Knows framing and stillness; the verdicts are ``judge``'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nevermind.blocks import Blocks
from nevermind.ends import END
from nevermind.frames import Frame
from nevermind.framing import headers
from nevermind.framing.lines import Lines, heads
from nevermind.judge import Judge
from nevermind.mailbox import Queue
from nevermind.noise import is_noise
from nevermind.outbox import Bytes
from nevermind.peers import Peer
from nevermind.policy import Noise
from nevermind.through import CUT_THROUGH, Through, pass_on

_LF = 0x0A
_LINE_END = re.compile(rb"[ \t\r]*+\n?")


class Inbound:
    """What ``sender`` writes, on its way to ``outbox``.

    ``quick`` False takes every line by itself; the verdicts are the same.
    """

    def __init__(
        self,
        judge: Judge,
        sender: Peer,
        outbox: Queue,
        *,
        quick: bool = True,
    ) -> None:
        self._judge = judge
        self._sender = sender
        self._outbox = outbox
        # So much is held of any message: what it is can't be told by less.
        self._lines = Lines(max(judge.policy.max_message, END))
        self._append = outbox.append
        self._quick = quick
        blocks = Blocks(judge, sender)
        self._judge_block = blocks.judge
        self.passes: Callable[[bytes, float], bool] = blocks.passes
        """Whether one line goes on as it is: while ``clean``, it need not be received then."""
        self.clean = quick
        """Nothing is held, of no message a part is still to come."""
        self._through: Through | None = None
        self._line_end: bool | None = None
        self._unended = False
        """The sender leaves out line ends: where a message stops shows only while it is held."""
        self._torn = False
        self.passing = False
        """A long message is on its way: what comes may be lent."""
        self.deadline: float | None = None
        """When an unterminated rest will have been still for long enough."""
        noise = judge.policy.noise
        self._noise = noise if sender is Peer.SERVER and noise is not Noise.FORWARD else None
        self._hints = sender is Peer.CLIENT

    def receive(self, data: bytes, now: float) -> None:
        """Judge what became whole with ``data`` and queue it; keep the rest."""
        if self.clean and data and data[-1] == _LF:
            out = self._judge_block(data, now)
            if out is not None:
                if out:
                    self._append(out)
                return
        self._receive(data, now)
        self._tidy()

    def receive_lent(self, buffer: bytearray, size: int, now: float) -> None:
        """Like ``receive``, with a buffer that is only lent; see ``Outbox.copy_lent``."""
        through = self._through
        end = buffer.find(b"\n", 0, size)
        if through is None or 0 <= end < size - 1:
            self.receive(bytes(memoryview(buffer)[:size]), now)
        elif end < 0:
            self._send_piece(through.feed_lent(buffer, size))
        else:
            self._end_through(through.finish_lent(buffer, size, now))
            self._tidy()

    def _tidy(self) -> None:
        """See whether nothing is held any more, and whether messages of ours may go."""
        self._torn = self._torn and self._outbox.within_line
        midway = self._through is not None or self._torn
        self._outbox.go_on(midway)
        self.deadline = self._lines.still_at
        self.passing = self._through is not None
        self.clean = self._quick and not self._lines.size and self._line_end is None and not midway

    def _receive(self, data: bytes, now: float) -> None:
        if self._line_end is not None:
            data = self._share_line_end(data)
        if self._through is not None and data:
            data = self._pass_through(data, now)
        if not data:
            return
        lines = self._lines
        framed = lines.awaited
        data = lines.feed(data, now)
        if not data:
            self._consider_through(now)
            return
        if not framed and self._quick:
            stop = data.rfind(b"\n") + 1
            block = data if stop == len(data) else data[:stop]
            out = self._judge_block(block, now)
            if out is not None:
                self._send(out)
                self._keep(data[stop:], now)
                return
        self._one_by_one(data, now)

    def expire(self, now: float) -> None:
        """Time has passed: look at a rest that has been still."""
        lines = self._lines
        due = lines.still_at
        if due is None or now < due:
            return
        begun = lines.awaited
        rest = lines.take()
        if begun:
            # A header whose body stalls is no header.
            self._send(rest)
            self._torn = True
            self._tidy()
            return
        frames = heads(rest)
        stop = frames[-1].stop if frames else 0
        self._unended = self._unended or bool(frames)
        self._outbox.take_cut_in()
        for frame in frames:
            self._line_end = self._judge_frame(rest, frame, now)
        if frames:
            rest = self._share_line_end(rest[stop:])
        lines.hold_still(rest)
        self._tidy()

    def end(self, now: float) -> None:
        """The stream has ended: an unterminated rest is judged like a line."""
        if self._through is not None:
            self._send_piece(self._through.finish(b"", now))
            self._through = None
        begun = self._lines.awaited
        rest = self._lines.take()
        if begun:
            self._send(rest)
        elif rest:
            self._judge_frame(rest, Frame(0, len(rest), 0, len(rest)), now)
        self._tidy()

    def _keep(self, rest: bytes, now: float) -> None:
        if rest:
            self._lines.keep(rest, now)
            self._consider_through(now)

    def _consider_through(self, now: float) -> None:
        """Send a long message on while it is arriving: if it must, or may, go unheld."""
        lines = self._lines
        overlong = lines.overlong
        cuts = self._quick and not self._unended
        if overlong or (cuts and lines.ask_once(CUT_THROUGH)):
            through = Through(self._judge, self._sender, lines.head(END))
            if overlong or through.may_cut():
                self._through = through
                self._send_piece(through.begin(lines.take(), now, overlong=overlong))

    def _one_by_one(self, data: bytes, now: float) -> None:
        """Judge frame by frame; neighbours that pass untouched stay one slice."""
        at = sent = 0
        while at < len(data):
            frame = self._lines.next(data, at)
            if frame is None:
                break
            at = frame.stop
            out = self._verdict(data, frame, now)
            if out is None:
                continue
            self._send(data[sent : frame.start])
            self._send(out)
            sent = at
        self._send(data[sent:at])
        self._keep(data[at:], now)

    def _verdict(self, data: bytes, frame: Frame, now: float) -> bytes | None:
        """None if the frame passes as it is, else what takes its place (b"": nothing)."""
        start, stop, body_start, body_stop = frame
        body = data[body_start:body_stop]
        if not body:
            if self._noise is not None and start == body_start and stop - start <= 2:
                return self._hold_noise(data[start:stop])
            self._judge.forwarded += 1
            return None
        if self._noise is not None and is_noise(body):
            return self._hold_noise(data[start:stop])
        if self._hints and start < body_start:
            self._hints = False  # once says it
            self._judge.hint_at_headers()
        out = pass_on(self._judge, self._sender, body, now)
        if out is body:
            return None
        if out is None:
            return b""
        header = data[start:body_start]
        if header:
            header = headers.with_length(header, len(out))
        return header + out + data[body_stop:stop]

    def _judge_frame(self, data: bytes, frame: Frame, now: float) -> bool:
        """Judge and send one frame by itself; whether it was sent."""
        out = self._verdict(data, frame, now)
        self._send(data[frame.start : frame.stop] if out is None else out)
        return out is None or bool(out)

    def _hold_noise(self, line: bytes) -> bytes:
        self._judge.divert(line, aside=self._noise is Noise.STDERR)
        return b""

    def _share_line_end(self, data: bytes) -> bytes:
        """White space behind a message that was sent before its line end goes the same way."""
        match = _LINE_END.match(data)
        assert match is not None
        stop = match.end()
        if self._outbox.take_cut_in():
            self._line_end = False
        if self._line_end:
            self._send(data[:stop])
        if stop < len(data) or data[:stop].endswith(b"\n"):
            self._line_end = None
        return data[stop:]

    def _pass_through(self, data: bytes, now: float) -> bytes:
        """Send on what belongs to the message on its way; what follows it is returned."""
        assert self._through is not None
        stop = data.find(b"\n") + 1
        if not stop:
            self._send_piece(self._through.feed(data))
            return b""
        self._end_through(self._through.finish(data[:stop], now))
        return data[stop:]

    def _end_through(self, last: Bytes) -> None:
        self._send_piece(last)
        self._outbox.join_pieces()
        self._through = None

    def _send(self, data: bytes) -> None:
        if data:
            self._outbox.append(data)

    def _send_piece(self, data: Bytes) -> None:
        if data:
            self._outbox.append_piece(data)
