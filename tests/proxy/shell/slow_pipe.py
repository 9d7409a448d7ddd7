"""A pipe whose reader is as slow as a test wants it to be."""

from __future__ import annotations

import os


def fill(sink: int) -> int:
    """Fill a pipe by ``sink``, which does not block, until it has no room; how much that was."""
    filled = 0
    for piece in (b"#" * 4096, b"#"):
        try:
            while True:
                filled += os.write(sink, piece)
        except BlockingIOError:
            pass
    return filled


class SlowPipe:
    """``sink`` is written to by what is tested, ``source`` is read when the test says so."""

    def __init__(self) -> None:
        self.source, self.sink = os.pipe()

    def clog(self) -> int:
        """Fill the pipe, so that the next write waits; how many bytes that took."""
        os.set_blocking(self.sink, False)
        filled = fill(self.sink)
        os.set_blocking(self.sink, True)
        return filled

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes."""
        data = b""
        while len(data) < size:
            piece = os.read(self.source, size - len(data))
            assert piece
            data += piece
        return data

    def rest(self) -> bytes:
        """All that was written, after closing the end to write to."""
        os.close(self.sink)
        self.sink = -1
        data = b""
        while piece := os.read(self.source, 65536):
            data += piece
        return data

    def hang_up(self) -> None:
        """Close the reader's end: whoever waits to write is freed."""
        os.close(self.source)
        self.source = -1

    def close(self) -> None:
        """Close what is still open."""
        for descriptor in (self.source, self.sink):
            if descriptor >= 0:
                os.close(descriptor)
