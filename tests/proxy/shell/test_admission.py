"""Who may open a WebSocket: rule by rule, and whatever bytes come instead of a request."""

from __future__ import annotations

import base64

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection
from wsproto.events import Request as Asked

from nevermind.shell.admission import LONGEST_HEAD, Door, Head, Refusal, Request

FIELDS = {
    "Host": "127.0.0.1:8080",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
    "Sec-WebSocket-Version": "13",
}

DOOR = Door("/mcp")
LOCKED = Door("/mcp", token=b"s3cret")
BROWSERS = Door("/mcp", origins=frozenset({"https://app.example", "null"}))


def head(
    line: str = "GET /mcp HTTP/1.1",
    without: str = "",
    more: tuple[tuple[str, str], ...] = (),
    **changed: str,
) -> bytes:
    fields = {**FIELDS, **{name.replace("_", "-"): value for name, value in changed.items()}}
    lines = [f"{name}: {value}" for name, value in fields.items() if name != without]
    lines += [f"{name}: {value}" for name, value in more]
    return "\r\n".join([line, *lines, "", ""]).encode("latin-1")


def read(data: bytes) -> Request:
    found = Head().feed(data)
    assert found is not None
    assert not isinstance(found, Refusal)
    assert found[1] == b""
    return found[0]


def status(data: bytes, door: Door = DOOR) -> int | None:
    found = Head().feed(data)
    assert found is not None
    refusal = found if isinstance(found, Refusal) else door.examine(found[0])
    return refusal and refusal.status


class TestTheHandshake:
    def test_one_that_is_complete_is_let_in(self) -> None:
        assert status(head()) is None

    def test_a_query_is_no_part_of_the_path(self) -> None:
        assert status(head("GET /mcp?session=1 HTTP/1.1")) is None

    def test_lists_and_cases_are_read_as_http_has_them(self) -> None:
        assert status(head(Connection="keep-alive, UPGRADE", Upgrade="WebSocket")) is None

    @pytest.mark.parametrize(
        ("data", "code"),
        [
            pytest.param(head("GET / HTTP/1.1"), 404, id="another path"),
            pytest.param(head("GET /mcp/ HTTP/1.1"), 404, id="nearly the path"),
            pytest.param(head("GET http://x/mcp HTTP/1.1"), 404, id="an absolute target"),
            pytest.param(head("POST /mcp HTTP/1.1"), 405, id="another method"),
            pytest.param(head("GET /mcp HTTP/1.0"), 400, id="an old version"),
            pytest.param(head(without="Upgrade"), 426, id="no upgrade"),
            pytest.param(head(Upgrade="h2c"), 426, id="another upgrade"),
            pytest.param(head(Upgrade="websocket, h2c"), 426, id="a choice of upgrades"),
            pytest.param(head(Connection="keep-alive"), 426, id="no upgrade of the connection"),
            pytest.param(head(without="Sec-WebSocket-Version"), 426, id="no version"),
            pytest.param(head(Sec_WebSocket_Version="8"), 426, id="an old draft"),
            pytest.param(head(Sec_WebSocket_Version="13, 8"), 426, id="a list of versions"),
            pytest.param(head(without="Sec-WebSocket-Key"), 400, id="no key"),
            pytest.param(head(Sec_WebSocket_Key="short"), 400, id="a key that is none"),
            pytest.param(head(Sec_WebSocket_Key="AAAA"), 400, id="a key of three bytes"),
            pytest.param(
                head(more=(("Sec-WebSocket-Key", FIELDS["Sec-WebSocket-Key"]),)), 400, id="two keys"
            ),
            pytest.param(head(without="Host"), 400, id="no host"),
            pytest.param(head(Host=""), 400, id="an empty host"),
            pytest.param(head(more=(("Host", "other"),)), 400, id="two hosts"),
            pytest.param(head(more=(("Content-Length", "5"),)), 400, id="a body"),
            pytest.param(head(more=(("Transfer-Encoding", "chunked"),)), 400, id="chunks"),
            pytest.param(head(more=(("Sec-WebSocket-Protocol", "a b"),)), 400, id="no protocol"),
            pytest.param(head(more=(("Sec-WebSocket-Protocol", "é"),)), 400, id="not ASCII"),
            pytest.param(head(more=(("Sec-WebSocket-Protocol", "mcp, mcp"),)), 400, id="twice"),
        ],
    )
    def test_others_are_refused(self, data: bytes, code: int) -> None:
        assert status(data) == code

    def test_the_library_is_given_what_was_examined_and_nothing_else(self) -> None:
        more = (("Sec-WebSocket-Protocol", "mcp"), ("Cookie", "s3cret"), ("Connection", "\x80"))
        again = read(read(head("GET /mcp?q HTTP/1.1", more=more)).handshake())
        assert (again.target, again.subprotocols) == ("/mcp?q", ["mcp"])
        assert DOOR.examine(again) is None
        assert {name for name, _ in again.fields} == {
            *(name.lower().encode() for name in FIELDS),
            b"sec-websocket-protocol",
        }

    def test_subprotocols_are_given_as_they_are_offered(self) -> None:
        fields = (("Sec-WebSocket-Protocol", "mcp,  mcp.v2"), ("Sec-WebSocket-Protocol", "x"))
        assert read(head(more=fields)).subprotocols == ["mcp", "mcp.v2", "x"]


class TestOrigins:
    """Only browsers send one, and any page could otherwise reach a server on this machine."""

    @pytest.mark.parametrize("origin", ["https://app.example", "http://127.0.0.1:8080", "null", ""])
    def test_none_is_allowed_unless_told(self, origin: str) -> None:
        assert status(head(more=(("Origin", origin),))) == 403

    @pytest.mark.parametrize("origin", ["https://app.example", "null"])
    def test_those_that_are_named_are(self, origin: str) -> None:
        assert status(head(more=(("Origin", origin),)), BROWSERS) is None

    @pytest.mark.parametrize(
        "origin",
        [
            "https://app.example.evil",
            "http://app.example",
            "https://app.example:8443",
            "https://app.example, https://evil",
            "HTTPS://APP.EXAMPLE",
        ],
    )
    def test_what_only_resembles_them_is_not(self, origin: str) -> None:
        assert status(head(more=(("Origin", origin),)), BROWSERS) == 403

    def test_two_at_once_are_not(self) -> None:
        fields = (("Origin", "https://app.example"), ("Origin", "https://evil"))
        assert status(head(more=fields), BROWSERS) == 403

    def test_without_one_it_is_no_browser(self) -> None:
        assert status(head(), BROWSERS) is None

    def test_the_origin_comes_first_so_that_nothing_can_be_probed(self) -> None:
        asked = head("GET /elsewhere HTTP/1.1", more=(("Origin", "https://evil"),))
        assert status(asked, LOCKED) == 403


class TestTokens:
    @pytest.mark.parametrize("shown", ["Bearer s3cret", "bearer s3cret", "Bearer   s3cret"])
    def test_the_right_one_opens(self, shown: str) -> None:
        assert status(head(more=(("Authorization", shown),)), LOCKED) is None

    @pytest.mark.parametrize(
        "shown",
        [
            "Bearer s3cre",
            "Bearer s3crets",
            "Bearer S3CRET",
            "Bearer",
            "Bearer ",
            "Basic s3cret",
            "s3cret",
            "Bearer s3cret s3cret",
        ],
    )
    def test_no_other_does(self, shown: str) -> None:
        assert status(head(more=(("Authorization", shown),)), LOCKED) == 401

    def test_none_does_not_nor_two(self) -> None:
        assert status(head(), LOCKED) == 401
        twice = (("Authorization", "Bearer s3cret"), ("Authorization", "Bearer s3cret"))
        assert status(head(more=twice), LOCKED) == 401

    def test_the_refusal_says_how(self) -> None:
        refusal = LOCKED.examine(read(head()))
        assert refusal is not None
        assert refusal.fields == (("WWW-Authenticate", "Bearer"),)

    def test_neither_shows_the_token(self) -> None:
        assert "s3cret" not in repr(LOCKED)


class TestTheHead:
    def test_it_may_come_byte_by_byte(self) -> None:
        data = head()
        collecting = Head()
        for at in range(len(data) - 1):
            assert collecting.feed(data[at : at + 1]) is None
        found = collecting.feed(data[-1:])
        assert isinstance(found, tuple)
        assert found[1] == b""
        assert found[0].path == "/mcp"

    def test_what_comes_behind_it_is_kept_apart(self) -> None:
        found = Head().feed(head() + b"\x81\x82")
        assert isinstance(found, tuple)
        assert found[1] == b"\x81\x82"

    def test_one_without_end_is_refused(self) -> None:
        assert LONGEST_HEAD < 20 * 1000
        collecting = Head()
        lines = [b"GET /mcp HTTP/1.1\r\n"] + [b"X: " + b"a" * 995 + b"\r\n"] * 20
        for line in lines:
            found = collecting.feed(line)
            if found is not None:
                break
        assert isinstance(found, Refusal)
        assert found.status in (400, 431)

    @pytest.mark.parametrize(
        "data",
        [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
            b"{}\n\n",
            b"GET /mcp\r\n\r\n",
            b"GET /mcp HTTP/1.1\r\nHost : x\r\n\r\n",
            b"GET /mcp HTTP/1.1\r\nA\x00: x\r\n\r\n",
            b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ],
        ids=["TLS", "JSON", "HTTP/0.9", "a space", "a NUL", "no ASCII", "HTTP/2"],
    )
    def test_what_is_no_request_is_refused(self, data: bytes) -> None:
        assert status(data) in (400, 404, 505)


def accepts(data: bytes) -> bool:
    """Whether the library makes a WebSocket of it."""
    connection = WSConnection(ConnectionType.SERVER)
    connection.receive_data(data)
    asked = list(connection.events())
    assert [type(event) for event in asked] == [Asked]
    return b" 101 " in connection.send(AcceptConnection())


printable = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=30)
names = st.sampled_from([*FIELDS, "Origin", "Authorization", "Sec-WebSocket-Protocol", "X"])


@settings(max_examples=300)
@given(
    line=st.sampled_from(["GET /mcp HTTP/1.1", "GET /mcp?q HTTP/1.1", "GET /x HTTP/1.1"]),
    fields=st.lists(st.tuples(names, printable), max_size=3),
    without=st.sampled_from(["", "", "", *FIELDS]),
)
@example(line="GET /mcp HTTP/1.1", fields=[("Host", "\x80")], without="Host")
def test_what_is_let_in_the_library_can_only_accept(
    line: str, fields: list[tuple[str, str]], without: str
) -> None:
    data = head(line, without, more=tuple(fields))
    if status(data) is None:
        request = read(data)
        assert accepts(request.handshake())
        assert read(request.handshake()).subprotocols == request.subprotocols


@settings(max_examples=300)
@given(st.lists(st.binary(min_size=1, max_size=60), max_size=6), st.integers(0, len(head())))
def test_no_bytes_whatever_do_more_than_be_refused(pieces: list[bytes], begun: int) -> None:
    collecting = Head()
    for piece in filter(None, [head()[:begun], *pieces]):
        found = collecting.feed(piece)
        if isinstance(found, Refusal):
            assert 400 <= found.status < 600
            return
        if found is not None:
            DOOR.examine(found[0])
            return
