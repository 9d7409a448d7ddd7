"""The words of a script in which each message has a header."""

from __future__ import annotations

from proxy.header_frames import frame
from proxy.playbook import End, Heard, Said, Script, client, server


def says(end: End, body: bytes, header: bytes = b"Content-Length: <n>\r\n\r\n") -> Said:
    return end.raw(frame(body, header))


def hears(end: End, body: bytes, header: bytes = b"Content-Length: <n>\r\n\r\n") -> Heard:
    return end.hears_raw(frame(body, header))


def asks(body: bytes) -> Script:
    """The client says it and the server hears it as it is."""
    return [says(client, body), hears(server, body)]


def replies(body: bytes) -> Script:
    """The server says it and the client hears it as it is."""
    return [says(server, body), hears(client, body)]
