"""One run of a listening proxy, from its sockets to its exit code.

The counterpart of ``relay`` and ``connect``, which have their host on stdin and stdout.
"""

from __future__ import annotations

import gc
import os
import resource
import ssl
from collections.abc import Callable
from dataclasses import dataclass

import trio

from nevermind.shell.admin import Admin, MetricsPage
from nevermind.shell.children import Children
from nevermind.shell.journal import Journal
from nevermind.shell.listening import Sockets
from nevermind.shell.relay import LAST_LINES
from nevermind.shell.serve import GREETINGS, Service
from nevermind.shell.serve_options import ServeOptions
from nevermind.shell.signals import SIGCHLD, SignalInbox
from nevermind.shell.welcome import Welcome

DESCRIPTORS = 4
"""Descriptors that a session may need: its socket, its server's two pipes, one to spare."""

OURS = 128
"""Descriptors that we need for ourselves: a log, a poll set, a server that is starting."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What has to be open before anything is started, for it may fail."""

    sockets: Sockets
    admin: Sockets | None
    tls: ssl.SSLContext | None


def run(options: ServeOptions, opened: Opened, *, leave: Callable[[int], object] = os._exit) -> int:
    """Serve until a signal says stop; the process then ends by ``leave``, with 0.

    Call it on the main thread.  Raises ``CannotStart`` if there is no such command.
    """
    if options.listen.messages or (options.dial is not None and options.dial.endpoint.messages):
        from nevermind.shell.transports import websocket  # noqa: F401 -- not at the first host's cost
    need = options.max_connections * DESCRIPTORS + GREETINGS + OURS
    limits = raise_descriptor_limit(need)
    children = None if options.dial else Children(options.run.command, limits)
    signals = SignalInbox()
    journal = Journal(options.run.log_level, options.run.log_format, options.run.log_file)
    trio.run(_serve, options, opened, children, journal, signals)
    journal.close(LAST_LINES)
    leave(0)
    return 0


def raise_descriptor_limit(need: int) -> tuple[int, int]:
    """Have at least ``need`` descriptors, if that is allowed; the limits as they were."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = need if hard == resource.RLIM_INFINITY else min(need, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return soft, hard


async def _serve(
    options: ServeOptions,
    opened: Opened,
    children: Children | None,
    journal: Journal,
    signals: SignalInbox,
) -> None:
    service = Service(journal, limit=options.max_connections, grace=options.run.grace)
    welcome = Welcome(options, service, journal, children=children, tls=opened.tls)

    async def obey() -> None:
        while True:
            await trio.lowlevel.wait_readable(signals.fd)
            for number in signals.take():
                if number != SIGCHLD:
                    service.stop()
                elif children is not None:
                    children.reap()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(obey)
        if opened.admin is not None:
            admin = _admin(options, service)
            for listener in opened.admin.listeners:
                nursery.start_soon(service.accept, listener, admin.answer, nursery)
            _announce(journal, opened.admin, admin.serves)
        _announce(journal, opened.sockets, "ready")
        gc.freeze()  # what has been imported is here to stay
        await service.run(opened.sockets, welcome.answer)
        nursery.cancel_scope.cancel()


def _announce(journal: Journal, sockets: Sockets, why: str) -> None:
    endpoint = sockets.endpoint
    port = {"port": endpoint.port} if endpoint.port else {}
    journal.report("info", "listening", why, address=str(endpoint), **port)
    if sockets.public:
        journal.report("warning", "exposed", "other machines can connect", address=str(endpoint))


def _admin(options: ServeOptions, service: Service) -> Admin:
    page: MetricsPage | None = None
    content_type = ""
    try:
        from nevermind.shell.metrics import CONTENT_TYPE, Page
    except ImportError:
        pass  # the page says so to whoever asks for it
    else:
        content_type = CONTENT_TYPE
        page = Page(service.tally, service.totals, service.open_now, options.max_connections)
    return Admin(options.health_path, lambda: service.closed_because, page, content_type)
