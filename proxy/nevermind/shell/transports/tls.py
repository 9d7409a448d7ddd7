"""What is particular about streams under TLS.  Knows nothing of what is said there."""

from __future__ import annotations

import ssl

import trio

_REASONS = {
    "HTTP_REQUEST": "plain HTTP",
    "WRONG_VERSION_NUMBER": "it speaks no TLS",
    "TLSV1_ALERT_UNKNOWN_CA": "our certificate is not trusted",
    "SSLV3_ALERT_BAD_CERTIFICATE": "our certificate is not trusted",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "our certificate is not trusted",
}
"""The library's names for the most common misunderstandings, in plain words."""


def reason(error: ssl.SSLError) -> str:
    """Why a handshake failed, in a few words without anything that the peer has said."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if isinstance(error, ssl.SSLEOFError):
        return "the connection was closed"
    name = error.reason or "failed"
    return _REASONS.get(name) or name.lower().replace("_", " ")


async def half_close(stream: trio.abc.Stream) -> None:
    """Tell the peer that nothing more comes, and go on reading.

    Under TLS by the end of the TCP stream: what is said there has its own end, and a peer
    that has taken leave waits for this (RFC 6455, section 7.1.1).
    """
    under = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    if isinstance(under, trio.abc.HalfCloseableStream):
        await under.send_eof()
