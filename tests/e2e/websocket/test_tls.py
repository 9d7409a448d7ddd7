"""TLS on both sides at once, with certificates that a made-up authority has signed."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from websockets.exceptions import InvalidStatus

from e2e.websocket.proxies import Listening, ask
from e2e.websocket.upstream import upstream


@dataclass(frozen=True, slots=True)
class Trust:
    """What a host needs to know, and what the two sides of a proxy are given."""

    host: ssl.SSLContext
    authority: trustme.CA
    listening: tuple[str, ...]
    connecting: tuple[str, ...]

    def server(self, name: str) -> ssl.SSLContext:
        """The context of a server whose certificate says that it is ``name``."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.authority.issue_cert(name).configure_cert(context)
        return context


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    chain, key, known = (str(tmp_path / name) for name in ("chain.pem", "key.pem", "ca.pem"))
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(chain, append=True)
    certificate.private_key_pem.write_to_path(key)
    authority.cert_pem.write_to_path(known)
    host = ssl.create_default_context()
    authority.configure_trust(host)
    return Trust(host, authority, ("--tls-cert", chain, "--tls-key", key), ("--tls-ca", known))


AT = "wss://127.0.0.1:0/mcp"


def test_megabytes_pass_both_ways(trust: Trust) -> None:
    with (
        upstream(context=trust.server("localhost")) as server,
        Listening(
            *trust.listening, *trust.connecting, "--connect", server.url, at=AT, server=None
        ) as proxy,
        proxy.call(ssl=trust.host) as host,
    ):
        big = "x" * 2_000_000
        assert ask(host, "echo", big=big) == {"big": big}
        assert ask(host, "echo", 2, n=2) == {"n": 2}


def test_a_host_that_does_not_know_us_disturbs_nobody(trust: Trust) -> None:
    with Listening(*trust.listening, at=AT) as proxy, proxy.call(ssl=trust.host) as steady:
        with pytest.raises(ssl.SSLCertVerificationError):
            proxy.call(ssl=ssl.create_default_context())
        refused = proxy.said("refused")[0]
        assert refused["status"] == 400
        assert refused["why"] == "no TLS handshake: our certificate is not trusted"
        assert ask(steady, "echo", still="here") == {"still": "here"}


def test_a_server_of_another_name_is_a_bad_gateway(trust: Trust) -> None:
    with (
        upstream(context=trust.server("elsewhere.example")) as server,
        Listening(
            *trust.listening, *trust.connecting, "--connect", server.url, at=AT, server=None
        ) as proxy,
    ):
        with pytest.raises(InvalidStatus) as refused:
            proxy.call(ssl=trust.host)
        assert refused.value.response.status_code == 502
        said = proxy.said("refused")[0]
        assert said["status"] == 502
        assert "certificate: Hostname mismatch" in said["why"]
        assert not server.peers
