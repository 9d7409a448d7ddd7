"""Addresses as people write them, and what is wrong with those that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.endpoints import Endpoint, parse_endpoint


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("ws://127.0.0.1:8080/mcp", Endpoint("ws", "127.0.0.1", 8080, "/mcp")),
        ("ws://localhost:8080", Endpoint("ws", "localhost", 8080, "/")),
        ("ws://localhost", Endpoint("ws", "localhost", 80, "/")),
        ("wss://example.com/a/b?c=d&e=%20", Endpoint("wss", "example.com", 443, "/a/b?c=d&e=%20")),
        ("wss://[::1]:9443/x", Endpoint("wss", "::1", 9443, "/x")),
        ("ws://[fe80::1%25eth0]:1/", Endpoint("ws", "fe80::1%25eth0", 1, "/")),
        ("tcp://127.0.0.1:7000", Endpoint("tcp", "127.0.0.1", 7000, "")),
        ("unix:/run/x.sock", Endpoint("unix", "", 0, "/run/x.sock")),
        ("unix:///run/x.sock", Endpoint("unix", "", 0, "/run/x.sock")),
        ("unix:relative", Endpoint("unix", "", 0, "relative")),
    ],
)
def test_what_to_connect_to(text: str, endpoint: Endpoint) -> None:
    assert parse_endpoint(text, listening=False) == endpoint


@pytest.mark.parametrize(
    ("text", "port"),
    [("ws://127.0.0.1:0", 0), ("ws://127.0.0.1:0/mcp", 0), ("tcp://[::1]:65535", 65535)],
)
def test_what_to_listen_on(text: str, port: int) -> None:
    assert parse_endpoint(text, listening=True).port == port


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not an address such as ws://HOST:PORT/PATH"),
        ("localhost:8080", "not an address"),
        ("http://localhost:8080", "not an address"),
        ("WS://localhost:8080", "not an address"),
        ("ws:/localhost", "not an address"),
        ("ws://", "'' is not HOST:PORT"),
        ("ws://:8080/", "':8080' is not HOST:PORT"),
        ("ws://::1:8080/", "is not HOST:PORT"),
        ("ws://a b/", "is not HOST:PORT"),
        ("ws://a:b/", "is not HOST:PORT"),
        ("ws://a:65536/", "65536 is not a port"),
        ("ws://a:0/", "0 is not a port"),
        ("ws://a?x=1", "a query or fragment needs a path"),
        ("ws://a/x#y", "fragment"),
        ("ws://a/x y", "white space"),
        ("ws://a/é", "characters to be %-encoded"),
        ("tcp://a", "the port is missing"),
        ("tcp://a:1/x", "tcp:// has no path"),
        ("unix:", "needs the path of a socket"),
        ("unix://", "needs the path of a socket"),
        ("unix:a\0b", "needs the path of a socket"),
        ("unix:/" + "x" * 107, "at most 107 bytes"),
    ],
)
def test_what_nobody_can_connect_to(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_endpoint(text, listening=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ws://127.0.0.1/mcp", r"the port is missing \(0: any free one\)"),
        ("ws://127.0.0.1:1/mcp?x", "a query cannot be listened for"),
    ],
)
def test_what_nobody_can_listen_on(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_endpoint(text, listening=True)


def test_a_secret_in_the_wrong_place_is_not_repeated() -> None:
    with pytest.raises(ValueError, match="see --bearer-env and --header") as refused:
        parse_endpoint("ws://user:s3cret@host/", listening=False)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ws://h:80/a?token=s3cret", "ws://h/a"),
        ("wss://[::1]:443/", "wss://[::1]/"),
        ("wss://h:80/", "wss://h:80/"),
        ("tcp://h:80", "tcp://h:80"),
        ("unix:///a", "unix:/a"),
    ],
)
def test_what_is_shown_has_no_query(text: str, shown: str) -> None:
    endpoint = parse_endpoint(text, listening=False)
    assert str(endpoint) == shown
    assert str(parse_endpoint(shown, listening=False)) == shown


def test_only_websockets_speak_in_messages() -> None:
    texts = ["ws://h/", "wss://h/", "tcp://h:1", "unix:h"]
    endpoints = [parse_endpoint(text, listening=False) for text in texts]
    assert [endpoint.messages for endpoint in endpoints] == [True, True, False, False]


@given(st.text() | st.from_regex(r"(ws|wss|tcp|unix):.{0,20}"), st.booleans())
def test_any_text_is_an_address_or_a_complaint(text: str, listening: bool) -> None:
    endpoint: Endpoint | None
    try:
        endpoint = parse_endpoint(text, listening=listening)
    except ValueError:
        endpoint = None
    if endpoint is not None:
        assert endpoint.host or endpoint.scheme == "unix"
        assert endpoint.target.startswith("/") or not endpoint.messages
