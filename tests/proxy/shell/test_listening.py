"""The sockets that are listened on: real ones, on loopback."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from nevermind.endpoints import Endpoint
from nevermind.shell.listening import CannotListen, Exposed, Sockets, open_sockets


def at(path: Path) -> Endpoint:
    return Endpoint("unix", "", 0, str(path))


class TestTcp:
    async def test_port_0_becomes_a_real_one(self) -> None:
        sockets = open_sockets(Endpoint("ws", "127.0.0.1", 0, "/mcp"))
        assert sockets.endpoint.port > 0
        assert str(sockets.endpoint) == f"ws://127.0.0.1:{sockets.endpoint.port}/mcp"
        socket.create_connection(("127.0.0.1", sockets.endpoint.port)).close()
        await sockets.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", sockets.endpoint.port))

    async def test_all_addresses_of_a_name_have_one_port(self) -> None:
        sockets = open_sockets(Endpoint("tcp", "localhost", 0, ""))
        names = [listener.socket.getsockname()[1] for listener in sockets.listeners]
        assert set(names) == {sockets.endpoint.port}
        await sockets.close()

    @pytest.mark.parametrize(
        ("host", "public"), [("127.0.0.1", False), ("127.1.2.3", False), ("0.0.0.0", True)]
    )
    async def test_it_is_known_whether_others_can_reach_it(self, host: str, public: bool) -> None:
        sockets = open_sockets(Endpoint("ws", host, 0, "/"))
        assert sockets.public is public
        await sockets.close()

    async def test_where_it_must_not_be_reached_nothing_is_bound(self) -> None:
        taken = open_sockets(Endpoint("tcp", "0.0.0.0", 0, ""))
        with pytest.raises(Exposed, match=f"tcp://0.0.0.0:{taken.endpoint.port} can be reached"):
            open_sockets(taken.endpoint, may_be_public=False)
        await taken.close()
        lonely = open_sockets(Endpoint("tcp", "localhost", 0, ""), may_be_public=False)
        await lonely.close()

    async def test_a_port_that_is_taken(self) -> None:
        first = open_sockets(Endpoint("ws", "127.0.0.1", 0, "/"))
        with pytest.raises(CannotListen, match="Address already in use"):
            open_sockets(first.endpoint)
        await first.close()

    @pytest.mark.parametrize("host", ["name.invalid", "192.0.2.1"])
    async def test_an_address_that_is_not_ours(self, host: str) -> None:
        with pytest.raises(CannotListen, match=f"ws://{host}:0/: "):
            open_sockets(Endpoint("ws", host, 0, "/"))

    async def test_who_has_connected_already_is_not_forgotten_at_the_end(self) -> None:
        sockets = open_sockets(Endpoint("tcp", "127.0.0.1", 0, ""))
        address = ("127.0.0.1", sockets.endpoint.port)
        early = [socket.create_connection(address) for _ in range(3)]
        waiting = list(sockets.waiting())
        assert len(waiting) == 3
        assert list(sockets.waiting()) == []
        for stream, peer in zip(waiting, early, strict=True):
            peer.sendall(b"hello")
            assert await stream.receive_some(5) == b"hello"
            await stream.aclose()
            peer.close()
        await sockets.close()


class TestUnix:
    async def test_it_is_its_owners_alone(self, tmp_path: Path) -> None:
        before = os.umask(0)
        try:
            sockets = open_sockets(at(tmp_path / "s"))
            assert os.umask(0) == 0
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
        assert sockets.public is False
        await sockets.close()
        assert not (tmp_path / "s").exists()
        await sockets.close()

    async def test_a_dead_one_is_replaced_a_living_one_is_not(self, tmp_path: Path) -> None:
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(str(tmp_path / "s"))
        dead.close()
        sockets = open_sockets(at(tmp_path / "s"))
        with pytest.raises(CannotListen, match="already in use"):
            open_sockets(at(tmp_path / "s"))
        await sockets.close()

    async def test_no_file_is_removed(self, tmp_path: Path) -> None:
        (tmp_path / "s").write_text("precious")
        with pytest.raises(CannotListen, match="which is no socket"):
            open_sockets(at(tmp_path / "s"))
        assert (tmp_path / "s").read_text() == "precious"

    async def test_what_has_taken_its_place_is_left(self, tmp_path: Path) -> None:
        sockets = open_sockets(at(tmp_path / "s"))
        (tmp_path / "s").unlink()
        (tmp_path / "s").write_text("precious")
        await sockets.close()
        assert (tmp_path / "s").read_text() == "precious"

    async def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(CannotListen, match="No such file"):
            open_sockets(at(tmp_path / "missing" / "s"))


def test_none_is_no_socket() -> None:
    assert not Sockets(Endpoint("tcp", "h", 1, ""), []).public
