"""``nevermind run`` with ``--listen`` or ``--connect``: from settings to what is run.

Everything that can fail is tried here, before anything is started: variables, files, the
sockets.  Secrets go no further than into the values that need them.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping

from nevermind.dialects import MCP
from nevermind.endpoints import Endpoint, parse_endpoint
from nevermind.shell.admin import METRICS_PATH
from nevermind.shell.dialing import Dial
from nevermind.shell.listen import Opened
from nevermind.shell.listening import CannotListen, Exposed, Sockets, open_sockets
from nevermind.shell.options import RunOptions
from nevermind.shell.serve_options import ServeOptions
from nevermind_cli.arguments import Arguments, UsageError

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def run(options: RunOptions, arguments: Arguments, environment: Mapping[str, str]) -> int:
    """Run what ``arguments`` ask for; the exit code.

    Raises UsageError, and ``CannotStart`` if there is no such command.
    """
    dial = _dial(arguments, environment)
    subprotocols = _subprotocols(arguments, options)
    if arguments.values["listen"] is None:
        assert dial is not None
        from nevermind.shell.connect import run as connect

        return connect(options, dial, subprotocols)
    serve = _serve_options(arguments, environment, options, dial, subprotocols)
    opened = _open(serve, arguments)
    from nevermind.shell.listen import run as listen

    return listen(serve, opened)


def _serve_options(
    arguments: Arguments,
    environment: Mapping[str, str],
    options: RunOptions,
    dial: Dial | None,
    subprotocols: tuple[str, ...],
) -> ServeOptions:
    values = arguments.values
    origins = values["origin"]
    assert isinstance(origins, tuple)
    admin = values["admin_listen"]
    listen = _endpoint(values["listen"], listening=True)
    health_path = str(values["health_path"])
    if listen.messages and listen.path == health_path:
        where = f"{arguments.origins['listen']}: {listen}"
        raise UsageError(f"{where}: this is the path of health checks: see --health-path")
    if admin is not None and health_path == METRICS_PATH:
        raise UsageError(f"{arguments.origins['health_path']}: {METRICS_PATH} is the metrics' path")
    return ServeOptions(
        run=options,
        listen=listen,
        dial=dial,
        origins=frozenset(origins),
        token=_token(arguments, environment) if listen.messages else None,
        subprotocols=subprotocols,
        max_connections=_count(values["max_connections"]),
        tls_cert=_text(values["tls_cert"]),
        tls_key=_text(values["tls_key"]),
        admin=None if admin is None else _endpoint(admin, listening=True),
        health_path=health_path,
        ping_interval=_seconds(values["ping_interval"]),
        ping_timeout=_seconds(values["ping_timeout"]),
        insecure=bool(values["insecure_listen"]),
    )


def _open(options: ServeOptions, arguments: Arguments) -> Opened:
    origins = arguments.origins
    tls = _tls(options, origins)
    guarded = options.listen.messages and options.token is not None
    sockets = _listen(options.listen, origins["listen"], may_be_public=guarded or options.insecure)
    admin = None
    if options.admin is not None:
        admin = _listen(options.admin, origins["admin_listen"], may_be_public=True)
    return Opened(sockets, admin, tls)


def _listen(endpoint: Endpoint, origin: str, *, may_be_public: bool) -> Sockets:
    try:
        return open_sockets(endpoint, may_be_public=may_be_public)
    except Exposed as error:
        ask = "ask for a token (--token-env, --token-file) or " if endpoint.messages else ""
        raise UsageError(f"{origin}: {error}: {ask}say --insecure-listen") from None
    except CannotListen as error:
        raise UsageError(f"{origin}: {error}") from None


def _tls(options: ServeOptions, origins: Mapping[str, str]) -> ssl.SSLContext | None:
    if options.listen.scheme != "wss":
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    assert options.tls_cert is not None
    for name, path in (("tls_cert", options.tls_cert), ("tls_key", options.tls_key)):
        try:
            with open(path or options.tls_cert, "rb"):
                pass
        except OSError as error:
            raise UsageError(f"{origins[name]}: {path!r}: {error.strerror}") from None
    try:
        context.load_cert_chain(options.tls_cert, options.tls_key)
    except (OSError, ssl.SSLError) as error:
        why = "no certificate with its key, as PEM"
        if not isinstance(error, ssl.SSLError):  # whose words are those of a library
            why = error.strerror or why
        raise UsageError(f"{origins['tls_cert']}: {options.tls_cert!r}: {why}") from None
    return context


def _dial(arguments: Arguments, environment: Mapping[str, str]) -> Dial | None:
    values = arguments.values
    if values["connect"] is None:
        return None
    endpoint = _endpoint(values["connect"], listening=False)
    authority = _text(values["tls_ca"]) if endpoint.scheme == "wss" else None
    if authority is not None:
        _check_authority(authority, arguments.origins["tls_ca"])
    return Dial(
        endpoint=endpoint,
        headers=tuple(_headers(arguments, environment)) if endpoint.messages else (),
        authority_file=authority,
        ping_interval=_seconds(values["ping_interval"]),
        ping_timeout=_seconds(values["ping_timeout"]),
    )


def _check_authority(path: str, origin: str) -> None:
    """That there are certificates in it, before a server is asked for its own."""
    try:
        ssl.create_default_context(cafile=path)
    except ssl.SSLError:  # whose words are those of a library
        raise UsageError(f"{origin}: {path!r}: no certificates, as PEM") from None
    except OSError as error:
        raise UsageError(f"{origin}: {path!r}: {error.strerror}") from None


def _headers(arguments: Arguments, environment: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    values = arguments.values
    given = values["header"]
    assert isinstance(given, tuple)
    for header in given:
        name, _, value = header.partition(":")
        yield name.encode(), _expand(value.strip(), name, arguments, environment)
    if values["bearer_env"] is not None:
        token = _secret(str(values["bearer_env"]), arguments.origins["bearer_env"], environment)
        yield b"Authorization", b"Bearer " + token


def _expand(value: str, name: str, arguments: Arguments, environment: Mapping[str, str]) -> bytes:
    def look_up(match: re.Match[str]) -> str:
        origin = f"{arguments.origins['header']} {name}"
        return _secret(match[1], origin, environment).decode("ascii")

    return _VARIABLE.sub(look_up, value).encode("ascii")


def _token(arguments: Arguments, environment: Mapping[str, str]) -> bytes | None:
    values, origins = arguments.values, arguments.origins
    if values["token_env"] is not None:
        return _secret(str(values["token_env"]), origins["token_env"], environment)
    path = _text(values["token_file"])
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return _plain(file.read().strip(), f"{origins['token_file']}: {path!r}")
    except OSError as error:
        raise UsageError(f"{origins['token_file']}: {path!r}: {error.strerror}") from None


def _secret(variable: str, origin: str, environment: Mapping[str, str]) -> bytes:
    text = environment.get(variable, "")
    return _plain(os.fsencode(text).strip(), f"{origin}: the variable {variable}")


def _plain(secret: bytes, where: str) -> bytes:
    """``secret``, if a header can hold it; complaints never show it."""
    if not secret:
        raise UsageError(f"{where} is empty or not set")
    if not secret.isascii() or not secret.decode("ascii").isprintable():
        raise UsageError(f"{where} holds characters that a header cannot")
    return secret


def _subprotocols(arguments: Arguments, options: RunOptions) -> tuple[str, ...]:
    chosen = arguments.values["subprotocol"]
    assert isinstance(chosen, tuple)
    return chosen or (("mcp",) if options.dialect == MCP else ())


def _endpoint(value: object, *, listening: bool) -> Endpoint:
    return parse_endpoint(str(value), listening=listening)


def _text(value: object) -> str | None:
    return None if value is None else os.path.expanduser(str(value))


def _seconds(value: object) -> float:
    assert isinstance(value, float)
    return value


def _count(value: object) -> int:
    assert isinstance(value, int)
    return value
