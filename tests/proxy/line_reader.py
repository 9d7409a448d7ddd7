"""What reads lines as one direction of a session does."""

from __future__ import annotations

from dataclasses import dataclass, field

from nevermind.framing.lines import Lines

MANY = 1 << 20


@dataclass
class Reader:
    """What reads lines as one direction does: all frames that are whole, the rest held."""

    lines: Lines = field(default_factory=lambda: Lines(MANY))
    frames: list[tuple[bytes, bytes]] = field(default_factory=list)

    def read(self, *chunks: bytes) -> list[tuple[bytes, bytes]]:
        """The frames so far, each with the message in it."""
        for chunk in chunks:
            data = self.lines.feed(chunk, 0.0)
            at = 0
            while at < len(data):
                frame = self.lines.next(data, at)
                if frame is None:
                    break
                assert frame.start == at
                body = data[frame.body_start : frame.body_stop]
                self.frames.append((data[frame.start : frame.stop], body))
                at = frame.stop
            self.lines.keep(data[at:], 0.0)
        return self.frames


def read(*chunks: bytes) -> list[tuple[bytes, bytes]]:
    """The frames in these chunks, each with the message in it."""
    return Reader().read(*chunks)
