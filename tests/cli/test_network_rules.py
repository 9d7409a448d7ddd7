"""Settings for connections that go together, and what is said of those that do not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cli.invocations import nevermind
from nevermind_cli.arguments import UsageError, read_arguments
from nevermind_cli.network_rules import check_network

WS = ("--listen", "ws://localhost:1/")
TCP = ("--listen", "tcp://localhost:1")
WSS = ("--listen", "wss://localhost:1/", "--tls-cert", "cert.pem")
TO_WS = ("--connect", "ws://localhost:1/")
TO_TCP = ("--connect", "tcp://localhost:1")


def check(*words: str, environment: Mapping[str, str] | None = None) -> None:
    command = () if "--connect" in words else ("--", "server")
    check_network(read_arguments([*words, *command], environment or {}))


def refusal(*words: str) -> str:
    with pytest.raises(UsageError) as error:
        check(*words)
    return str(error.value)


class TestWithoutEffect:
    """A flag that does nothing beside the others was meant for something else."""

    @pytest.mark.parametrize(
        ("flag", "needed"),
        [
            ("--max-connections=1", "--listen"),
            ("--insecure-listen", "--listen"),
            ("--no-insecure-listen", "--listen"),
            ("--admin-listen=tcp://localhost:2", "--listen"),
            ("--health-path=/h", "--listen"),
            ("--token-env=T", "--listen ws:// or wss://"),
            ("--token-file=t", "--listen ws:// or wss://"),
            ("--origin=https://h", "--listen ws:// or wss://"),
            ("--tls-cert=c", "--listen wss://"),
            ("--tls-key=k", "--listen wss://"),
            ("--header=A:b", "--connect ws:// or wss://"),
            ("--bearer-env=T", "--connect ws:// or wss://"),
            ("--tls-ca=c", "--connect wss://"),
            ("--ping-interval=1", "a WebSocket on either side"),
            ("--ping-timeout=1", "a WebSocket on either side"),
            ("--subprotocol=mcp", "a WebSocket on either side"),
        ],
    )
    def test_over_stdio(self, flag: str, needed: str) -> None:
        assert refusal(flag) == f"{flag.partition('=')[0]} needs {needed}"

    @pytest.mark.parametrize(
        ("words", "needed"),
        [
            ((*TCP, "--token-env=T"), "--listen ws:// or wss://"),
            ((*WS, "--tls-cert=c"), "--listen wss://"),
            ((*WS, "--header=A:b"), "--connect ws:// or wss://"),
            ((*TO_TCP, "--bearer-env=T"), "--connect ws:// or wss://"),
            ((*TO_WS, "--tls-ca=c"), "--connect wss://"),
            ((*TO_WS, "--max-connections=1"), "--listen"),
            ((*TCP, *TO_TCP, "--subprotocol=mcp"), "a WebSocket on either side"),
        ],
    )
    def test_beside_another_address(self, words: tuple[str, ...], needed: str) -> None:
        assert refusal(*words) == f"{words[-1].partition('=')[0]} needs {needed}"

    @pytest.mark.parametrize("address", ["unix:/run/ws.sock", "tcp://news:1", "tcp://wss:1"])
    @pytest.mark.parametrize("side", ["--listen", "--connect"])
    def test_letters_make_no_websocket(self, side: str, address: str) -> None:
        """It is the scheme that counts, wherever else its letters stand."""
        needed = "--ping-interval needs a WebSocket on either side"
        assert refusal(side, address, "--ping-interval=1") == needed

    def test_a_variable_may_be_meant_for_other_runs(self) -> None:
        check(environment={"NEVERMIND_PING_INTERVAL": "1", "NEVERMIND_TOKEN_ENV": "T"})

    def test_two_that_would_contradict_each_other_elsewhere(self) -> None:
        """Over stdio nobody has to show a token, and none is sent."""
        check(
            environment={
                "NEVERMIND_TOKEN_ENV": "T",
                "NEVERMIND_TOKEN_FILE": "t",
                "NEVERMIND_BEARER_ENV": "T",
                "NEVERMIND_HEADER": "Authorization: x",
            }
        )


class TestSecretsOfNoUse:
    """What another run would need to say is not looked up for one that has no place for it."""

    def test_a_host_that_shows_no_token(self) -> None:
        """Sockets have none: it is the address that is wrong."""
        ended = nevermind(
            *("run", "--listen", "unix:/no/such/socket", "--", "server"),
            NEVERMIND_TOKEN_ENV="NOT_SET",
        )
        assert ended.returncode == 2
        assert ended.stderr == (
            "nevermind run: --listen: unix:/no/such/socket: No such file or directory\n"
        )

    def test_a_server_that_is_shown_none(self) -> None:
        """Nor are there certificates to be read for it."""
        ended = nevermind(
            *("run", "--connect", "unix:/no/such/socket"),
            NEVERMIND_BEARER_ENV="NOT_SET",
            NEVERMIND_HEADER="X:${NOT_SET}",
            NEVERMIND_TLS_CA="/no/such/file",
        )
        assert ended.returncode == 69
        assert "unreachable: unix:/no/such/socket" in ended.stderr


class TestAuthorities:
    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("/no/such/file", "No such file or directory"),
            (__file__, "no certificates, as PEM"),
        ],
    )
    def test_a_file_without_certificates(self, path: str, why: str) -> None:
        """It is known before the server is asked for its own."""
        ended = nevermind("run", "--connect", "wss://nowhere.invalid/", "--tls-ca", path)
        assert ended.returncode == 2
        assert ended.stderr == f"nevermind run: --tls-ca: {path!r}: {why}\n"


class TestPaths:
    """A path has one meaning."""

    def test_sessions_where_health_checks_are(self) -> None:
        ended = nevermind("run", "--listen", "ws://127.0.0.1:0/healthz", "--", "server")
        assert ended.returncode == 2
        assert ended.stderr == (
            "nevermind run: --listen: ws://127.0.0.1:0/healthz:"
            " this is the path of health checks: see --health-path\n"
        )

    def test_health_checks_where_metrics_are(self) -> None:
        ended = nevermind(
            *("run", "--listen", "ws://127.0.0.1:0/mcp", "--health-path", "/metrics"),
            *("--admin-listen", "tcp://127.0.0.1:0", "--", "server"),
        )
        assert ended.returncode == 2
        assert ended.stderr == "nevermind run: --health-path: /metrics is the metrics' path\n"


class TestTogether:
    @pytest.mark.parametrize(
        "words",
        [
            (*WS, "--token-env=T", "--origin=https://h", "--max-connections=1"),
            (*WSS, "--tls-key=k", "--health-path=/h", "--admin-listen=tcp://localhost:2"),
            (*TCP, "--insecure-listen"),
            (*TCP, *TO_WS, "--ping-interval=1", "--subprotocol=mcp"),
            (*WS, *TO_TCP, "--ping-timeout=1"),
            ("--connect", "wss://h/", "--tls-ca=c", "--header=A:b", "--bearer-env=T"),
        ],
        ids=" ".join,
    )
    def test_what_has_an_effect(self, words: tuple[str, ...]) -> None:
        check(*words)


class TestContradictions:
    def test_two_servers(self) -> None:
        with pytest.raises(UsageError) as error:
            check_network(read_arguments([*TO_TCP, "--", "server"], {}))
        assert str(error.value) == "--connect and a command: only one of them can be the server"

    def test_two_tokens(self) -> None:
        assert refusal(*WS, "--token-env=T", "--token-file=t") == (
            "--token-env and --token-file: only one token can be asked for"
        )

    def test_tls_without_a_certificate(self) -> None:
        assert refusal("--listen", "wss://localhost:1/") == "--listen: wss:// needs --tls-cert"

    def test_two_authorizations(self) -> None:
        assert refusal(*TO_WS, "--bearer-env=T", "--header=authorization:x") == (
            "--bearer-env and an Authorization header"
        )
