"""The port for operators: is it well, and what has it counted.

Speaks just enough HTTP for health checks and scrapers; knows nothing of sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import trio

from nevermind.shell.admission import Refusal, Request
from nevermind.shell.reception import receive_request, refuse, respond

METRICS_PATH = "/metrics"

NO_METRICS = "no metrics: prometheus_client is missing (pip install 'nevermind[metrics]')"

_CHECKS = ("GET", "HEAD", "OPTIONS")
"""Methods of health checks; HAProxy's default is OPTIONS."""


class MetricsPage(Protocol):
    """A page of numbers."""

    def write(self) -> bytes:
        """The page as it stands now."""


async def answer_health(stream: trio.abc.Stream, request: Request, closed_because: str) -> None:
    """Answer a health check: 503 says that another process should get the connection, and why."""
    if request.method not in _CHECKS:
        await refuse(stream, Refusal(405, "only GET", (("Allow", "GET"),)))
        return
    status, body = (503, closed_because) if closed_because else (200, "ok")
    await respond(stream, status, b"" if request.method == "HEAD" else f"{body}\n".encode())


class Admin:
    """Answers on the port for operators.

    ``closed_because`` tells why no session would be taken, "" while one would.  ``page``
    None: there are no metrics to be had.
    """

    def __init__(
        self,
        health_path: str,
        closed_because: Callable[[], str],
        page: MetricsPage | None,
        content_type: str,
    ) -> None:
        self._health_path = health_path
        self._closed_because = closed_because
        self._page = page
        self._content_type = content_type

    @property
    def serves(self) -> str:
        """What can be asked for, for the log."""
        return "health and metrics" if self._page else f"health; {NO_METRICS}"

    async def answer(self, stream: trio.SocketStream) -> None:
        """Answer the one request that ``stream`` brings."""
        found = await receive_request(stream)
        if found is None:
            await trio.aclose_forcefully(stream)
            return
        if isinstance(found, Refusal):
            await refuse(stream, found)
            return
        request = found[0]
        if request.path == self._health_path:
            await answer_health(stream, request, self._closed_because())
        elif request.path != METRICS_PATH:
            await refuse(stream, Refusal(404, "nothing here"))
        elif self._page is None:
            await refuse(stream, Refusal(501, NO_METRICS))
        elif request.method != "GET":
            await refuse(stream, Refusal(405, "only GET", (("Allow", "GET"),)))
        else:
            await respond(stream, 200, self._page.write(), content_type=self._content_type)
