"""Opens the sockets that ``--listen`` and ``--admin-listen`` name.

Knows addresses, not who may connect to them.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import stat
from collections.abc import Iterator, Sequence

import trio

from nevermind.endpoints import Endpoint

BACKLOG = 512
"""Connections that the kernel holds for us: a load balancer's burst after a restart."""

_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""A name may stand for addresses that this machine does not have (::1 in a container)."""


class CannotListen(Exception):
    """The address cannot be listened on; ``str()`` is one line."""


class Exposed(CannotListen):
    """Others than this machine could reach it, and that is not allowed."""


class Sockets:
    """The listening sockets of one endpoint.

    ``endpoint`` has the real port where 0 was asked for.  ``public``: others than this
    machine can reach it.
    """

    def __init__(self, endpoint: Endpoint, sockets: Sequence[socket.socket]) -> None:
        self.endpoint = endpoint
        self.public = endpoint.scheme != "unix" and not all(
            _is_loopback(each.getsockname()) for each in sockets
        )
        self.listeners = [
            trio.SocketListener(trio.socket.from_stdlib_socket(each)) for each in sockets
        ]
        self._sockets = sockets
        self._identity = _identity(endpoint.target) if endpoint.scheme == "unix" else None

    def waiting(self) -> Iterator[trio.SocketStream]:
        """Who has connected already and has not been accepted."""
        for listening in self._sockets:
            try:
                while True:
                    accepted, _ = listening.accept()
                    yield trio.SocketStream(trio.socket.from_stdlib_socket(accepted))
            except OSError:
                continue  # nobody, or no descriptor is left for them

    async def close(self) -> None:
        """Stop listening; a socket's file goes with it, if it is still ours."""
        for listener in self.listeners:
            await listener.aclose()
        if self._identity is not None and _identity(self.endpoint.target) == self._identity:
            os.unlink(self.endpoint.target)
        self._identity = None


def open_sockets(endpoint: Endpoint, *, may_be_public: bool = True) -> Sockets:
    """Listen on ``endpoint``.  Raises ``CannotListen``.

    Unless it ``may_be_public``, nothing is bound that others could reach: ``Exposed``.
    """
    try:
        if endpoint.scheme == "unix":
            return Sockets(endpoint, [_open_unix(endpoint.target)])
        return _open_tcp(endpoint, may_be_public=may_be_public)
    except OSError as error:
        raise CannotListen(f"{endpoint}: {error.strerror or error}") from None


def _open_tcp(endpoint: Endpoint, *, may_be_public: bool) -> Sockets:
    found = socket.getaddrinfo(
        endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    addresses = list(dict.fromkeys((family, address) for family, _, _, _, address in found))
    if not may_be_public and not all(_is_loopback(address) for _, address in addresses):
        raise Exposed(f"{endpoint} can be reached from other machines")
    sockets: list[socket.socket] = []
    failure = OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    for family, address in addresses:
        host, port, *more = address
        if sockets and not port:
            port = sockets[0].getsockname()[1]  # one port for all that a name stands for
        try:
            sockets.append(_bind(family, (host, port, *more)))
        except OSError as error:
            failure = error
            if error.errno in _NOT_HERE:
                continue
            for each in sockets:
                each.close()
            raise
    if not sockets:
        raise failure
    return Sockets(endpoint._replace(port=sockets[0].getsockname()[1]), sockets)


def _bind(family: socket.AddressFamily | int, address: tuple[object, ...]) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _open_unix(path: str) -> socket.socket:
    _clear(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # 0600 from the first moment on
    try:
        listening.bind(path)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    finally:
        os.umask(before)
    return listening


def _clear(path: str) -> None:
    """Remove a socket that nobody listens on any more; leave everything else alone."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise OSError(errno.EEXIST, "there is a file of that name, which is no socket")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
        else:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _is_loopback(address: tuple[object, ...]) -> bool:
    host = str(address[0]).partition("%")[0]
    return ipaddress.ip_address(host).is_loopback


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
