"""What a listening proxy is told: values only, filled in by the command line."""

from __future__ import annotations

from dataclasses import dataclass, field

from nevermind.endpoints import Endpoint
from nevermind.shell.dialing import Dial
from nevermind.shell.options import RunOptions

MAX_CONNECTIONS = 256
"""Sessions at once: each has a process, three descriptors, and queues of its own."""

HEALTH_PATH = "/healthz"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of ``nevermind run --listen``.

    ``run`` holds the command, which is started for each connection, unless ``dial`` says
    where to connect instead.  ``origins`` and ``token`` are those of ``admission.Door``.
    ``subprotocols`` are offered to a server by us, where the client is no WebSocket, and
    chosen from for a client whose server is none.  Times are in seconds.
    """

    run: RunOptions
    listen: Endpoint
    dial: Dial | None = None
    origins: frozenset[str] = frozenset()
    token: bytes | None = field(default=None, repr=False)
    subprotocols: tuple[str, ...] = ()
    max_connections: int = MAX_CONNECTIONS
    tls_cert: str | None = None
    tls_key: str | None = None
    admin: Endpoint | None = None
    health_path: str = HEALTH_PATH
    ping_interval: float = 20.0
    ping_timeout: float = 20.0
    insecure: bool = False
