"""The host that started us, on our stdin and stdout."""

from __future__ import annotations

from nevermind.shell.descriptors import open_sink, open_source
from nevermind.shell.transports.descriptor import DescriptorTransport


def host() -> DescriptorTransport:
    """Take stdin and stdout over; their numbers stay occupied."""
    return DescriptorTransport(open_source(0), open_sink(1))
