"""Which settings for connections go together.  Opens, resolves and imports nothing slow."""

from __future__ import annotations

from nevermind_cli.arguments import Arguments, UsageError

_WEB = ("ws://", "wss://")

_LISTENING = ("max_connections", "insecure_listen", "admin_listen", "health_path")
_LISTENING_WEB = ("token_env", "token_file", "origin")
_CONNECTING_WEB = ("header", "bearer_env")
_EITHER_WEB = ("ping_interval", "ping_timeout", "subprotocol")


def check_network(arguments: Arguments) -> None:
    """UsageError if a flag has no effect beside the others, or two contradict each other.

    Settings from the environment or a file may be meant for other runs: what is of no use
    there is left alone.
    """
    values = arguments.values
    listen, connect = str(values["listen"] or ""), str(values["connect"] or "")
    if connect and arguments.command:
        origin = arguments.origins["connect"]
        raise UsageError(f"{origin} and a command: only one of them can be the server")
    web_host, web_server = listen.startswith(_WEB), connect.startswith(_WEB)
    wanted = (
        (_LISTENING, bool(listen), "--listen"),
        (_LISTENING_WEB, web_host, "--listen ws:// or wss://"),
        (("tls_cert", "tls_key"), listen.startswith("wss://"), "--listen wss://"),
        (_CONNECTING_WEB, web_server, "--connect ws:// or wss://"),
        (("tls_ca",), connect.startswith("wss://"), "--connect wss://"),
        (_EITHER_WEB, web_host or web_server, "a WebSocket on either side"),
    )
    for names, there, needed in wanted:
        for name in names:
            origin = arguments.origins.get(name, "")
            if origin.startswith("--") and not there:
                raise UsageError(f"{origin} needs {needed}")
    if listen.startswith("wss://") and values["tls_cert"] is None:
        raise UsageError(f"{arguments.origins['listen']}: wss:// needs --tls-cert")
    if web_host and values["token_env"] is not None and values["token_file"] is not None:
        first, second = arguments.origins["token_env"], arguments.origins["token_file"]
        raise UsageError(f"{first} and {second}: only one token can be asked for")
    if web_server and values["bearer_env"] is not None:
        headers = values["header"]
        assert isinstance(headers, tuple)
        if any(header.lower().startswith("authorization:") for header in headers):
            raise UsageError(f"{arguments.origins['bearer_env']} and an Authorization header")
