"""The settings for hosts and servers that are reached over sockets and WebSockets.

Which of them go together is for ``nevermind_cli.network_rules`` to say.
"""

from __future__ import annotations

from nevermind_config.network_values import (
    Address,
    Header,
    Origin,
    Subprotocol,
    UrlPath,
    Variable,
)
from nevermind_config.option import Option
from nevermind_config.values import Count, File, Flag, Seconds

NETWORK = (
    Option(
        "--listen",
        Address("ws", "wss", "tcp", "unix", listening=True),
        None,
        "Wait for hosts at ws://HOST:PORT/PATH, wss://HOST:PORT/PATH, tcp://HOST:PORT or"
        " unix:PATH instead of stdin and stdout; each connection gets a server of its own. Port"
        " 0: any free one; the log says which.",
        unset="the host is on stdin and stdout",
    ),
    Option(
        "--connect",
        Address("ws", "wss", "tcp", "unix", listening=False),
        None,
        "Connect to a server that runs already, instead of starting COMMAND: an address as for"
        " --listen; path and query are kept.",
        unset="COMMAND is started",
    ),
    Option(
        "--header",
        Header(),
        (),
        "A header field for the opening handshake of --connect ws:// or wss://, as often as"
        " needed. ${NAME} in the value stands for an environment variable.",
        unset="none",
        repeats=True,
    ),
    Option(
        "--bearer-env",
        Variable(),
        None,
        "The environment variable that holds the bearer token for --connect ws:// or wss://.",
        unset="no token is sent",
    ),
    Option(
        "--subprotocol",
        Subprotocol(),
        (),
        "A WebSocket subprotocol, as often as needed: offered to the server where the host is no"
        " WebSocket, and chosen for a host where the server is none.",
        unset="mcp in the dialect mcp, else none",
        repeats=True,
    ),
    Option(
        "--token-env",
        Variable(),
        None,
        "The environment variable that holds the bearer token which hosts must show at --listen"
        " ws:// or wss://.",
        unset="none is needed",
    ),
    Option(
        "--token-file",
        File(),
        None,
        "The same token in a file.",
        unset="none is needed",
    ),
    Option(
        "--origin",
        Origin(),
        (),
        "An origin that browsers may come from to --listen ws:// or wss://, as often as needed."
        " Only browsers send one.",
        unset="none: every browser is refused",
        repeats=True,
    ),
    Option(
        "--tls-cert",
        File(),
        None,
        "The certificate for --listen wss://, with its chain, as PEM.",
        unset="none",
    ),
    Option(
        "--tls-key",
        File(),
        None,
        "Its private key, as PEM.",
        unset="it is in the file of the certificate",
    ),
    Option(
        "--tls-ca",
        File(),
        None,
        "The certificates that may have signed that of --connect wss://, as PEM.",
        unset="the system's",
    ),
    Option(
        "--max-connections",
        Count(),
        256,
        "The most sessions at once under --listen; more are refused (503).",
    ),
    Option(
        "--insecure-listen",
        Flag(),
        False,
        "Let --listen be reached from other machines although nobody has to show a token.",
    ),
    Option(
        "--admin-listen",
        Address("tcp", listening=True),
        None,
        "Answer health checks and Prometheus (/metrics) by HTTP at tcp://HOST:PORT.",
        unset="only health checks, on the port of --listen ws:// or wss://",
    ),
    Option(
        "--health-path",
        UrlPath(),
        "/healthz",
        "The path of health checks: 200, or 503 while no new session would be taken.",
    ),
    Option(
        "--ping-interval",
        Seconds(),
        20.0,
        "How often to ping a WebSocket peer; 0: never.",
    ),
    Option(
        "--ping-timeout",
        Seconds(),
        20.0,
        "How long a WebSocket peer may give no sign of life after a ping.",
    ),
)
"""In the order in which help shows them."""
