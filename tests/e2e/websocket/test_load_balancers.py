"""Behind a load balancer: the shipped examples, in the real HAProxy and nginx, where they are.

Two proxies; sessions are spread over both, and one is taken away without losing any.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from e2e.websocket.proxies import PATIENCE, Listening, ask

DEPLOY = Path(__file__).parents[3] / "config" / "deploy"
FRONT, ONE, TWO = "127.0.0.1:8080", "127.0.0.1:8765", "127.0.0.1:8766"


def free_port() -> int:
    with socket.socket() as probing:
        probing.bind(("127.0.0.1", 0))
        return int(probing.getsockname()[1])


def placed(name: str, folder: Path, addresses: dict[str, str]) -> Path:
    """The shipped file with other addresses in it, each of which must be there."""
    text = (DEPLOY / name).read_text()
    for shipped, real in addresses.items():
        assert shipped in text
        text = text.replace(shipped, real)
    path = folder / name
    path.write_text(text)
    return path


@contextmanager
def balancer(command: list[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    assert process.poll() is None, process.communicate()[0].decode()
                    assert time.monotonic() < until
                    time.sleep(0.05)
            yield
        finally:
            process.terminate()


class Site:
    """Two proxies and what stands in front of them."""

    def __init__(self, port: int, one: Listening, two: Listening, folder: Path) -> None:
        self.url = f"ws://127.0.0.1:{port}/mcp"
        self.one = one
        self.two = two
        self._admin = str(folder / "admin.sock")

    @contextmanager
    def call(self) -> Iterator[ClientConnection]:
        with connect(self.url, open_timeout=PATIENCE, compression=None) as host:
            assert ask(host, "echo", hello=1) == {"hello": 1}
            yield host

    def sessions(self) -> tuple[int, int]:
        """How many sessions each proxy has had."""
        return len(self.one.events("open")), len(self.two.events("open"))

    def tell(self, command: str) -> str:
        """What HAProxy's runtime says."""
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(self._admin)
            admin.sendall(command.encode() + b"\n")
            return admin.makefile().read()

    def until(self, command: str, said: str) -> None:
        until = time.monotonic() + PATIENCE
        while said not in self.tell(command):
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.fixture(params=["haproxy", "nginx"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    name: str = request.param
    program = shutil.which(name) or shutil.which(f"/usr/sbin/{name}")
    if program is None:
        pytest.skip(f"there is no {name} here (apt-get install {name})")
    port = free_port()
    with Listening("--grace", "60") as one, Listening("--grace", "60") as two:
        addresses = {
            FRONT: f"127.0.0.1:{port}",
            ONE: f"127.0.0.1:{one.port}",
            TWO: f"127.0.0.1:{two.port}",
        }
        if name == "haproxy":
            addresses["/run/haproxy/admin.sock"] = str(tmp_path / "admin.sock")
            command = [program, "-db", "-f", str(placed("haproxy.cfg", tmp_path, addresses))]
        else:
            path = placed("nginx.conf", tmp_path, addresses)
            main = f"pid {tmp_path}/pid; daemon off; error_log stderr;"
            command = [program, "-e", "stderr", "-c", str(path), "-g", main]
        with balancer(command, port):
            yield Site(port, one, two, tmp_path)


def test_sessions_are_spread(site: Site) -> None:
    with ExitStack() as stack:
        hosts = [stack.enter_context(site.call()) for _ in range(4)]
        assert site.sessions() == (2, 2)
        for n, host in enumerate(hosts):
            assert ask(host, "echo", n=n) == {"n": n}


def test_a_proxy_that_is_told_to_stop_loses_no_session_and_no_newcomer(site: Site) -> None:
    with ExitStack() as stack:
        hosts = [stack.enter_context(site.call()) for _ in range(2)]
        assert site.sessions() == (1, 1)
        site.one.process.terminate()
        site.one.said("stopping")
        newcomers = [stack.enter_context(site.call()) for _ in range(6)]
        assert site.sessions() == (1, 7)
        for n, host in enumerate([*hosts, *newcomers]):
            assert ask(host, "echo", n=n) == {"n": n}
        assert site.one.process.poll() is None
    assert site.one.ends() == 0
    assert site.one.events("broken") == []


def test_a_proxy_that_dies_takes_only_its_own_sessions_with_it(site: Site) -> None:
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(site.call())
        site.one.process.kill()
        site.one.ends()
        for _ in range(4):
            with site.call() as host:
                assert ask(host, "echo") == {}


@pytest.mark.parametrize("site", ["haproxy"], indirect=True)
def test_one_can_be_drained_by_hand(site: Site) -> None:
    """nginx has no runtime to be told."""
    with ExitStack() as stack:
        hosts = [stack.enter_context(site.call()) for _ in range(2)]
        site.tell("set server nevermind/one state drain")
        for _ in range(4):
            with site.call() as host:
                assert ask(host, "echo") == {}
        assert site.sessions() == (1, 5)
        for host in hosts:
            assert ask(host, "echo") == {}
    site.one.said("summary")
    assert site.one.stop() == 0


def test_a_full_proxy_gets_nobody_more(tmp_path: Path) -> None:
    program = shutil.which("haproxy") or shutil.which("/usr/sbin/haproxy")
    if program is None:
        pytest.skip("there is no haproxy here (apt-get install haproxy)")
    port = free_port()
    with Listening("--max-connections", "1") as one, Listening() as two:
        addresses = {
            FRONT: f"127.0.0.1:{port}",
            ONE: f"127.0.0.1:{one.port}",
            TWO: f"127.0.0.1:{two.port}",
            "/run/haproxy/admin.sock": str(tmp_path / "admin.sock"),
            "inter 2s": "inter 100ms",
        }
        path = placed("haproxy.cfg", tmp_path, addresses)
        with balancer([program, "-db", "-f", str(path)], port), ExitStack() as stack:
            site = Site(port, one, two, tmp_path)
            stack.enter_context(site.call())
            stack.enter_context(site.call())
            site.until("show stat", ",DOWN,")
            for _ in range(3):
                stack.enter_context(site.call())
            assert site.sessions() == (1, 4)
