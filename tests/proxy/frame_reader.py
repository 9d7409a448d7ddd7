"""Frames with a ``Content-Length`` header, read in the simplest way that there is."""

from __future__ import annotations

END = b"\r\n\r\n"


def read_frame(data: bytes, at: int = 0) -> tuple[bytes, bytes] | None:
    """The header and the body of the frame at ``at``; None where it is not whole."""
    stop = data.find(END, at)
    if stop < 0:
        return None
    header = data[at : stop + len(END)]
    [length] = (
        int(value)
        for name, _, value in (line.partition(b":") for line in header.split(b"\r\n"))
        if name.strip().lower() == b"content-length"
    )
    at += len(header)
    return (header, data[at : at + length]) if at + length <= len(data) else None


def with_length(header: bytes, old: int, new: int) -> bytes:
    """The header with another length; nothing else of it is different."""
    return header.replace(b"%d" % old, b"%d" % new)
