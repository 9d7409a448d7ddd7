"""Many hosts at one proxy, over WebSockets, and how it stops while some are there."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from e2e.websocket.proxies import PATIENCE, Listening, ask, gone


class TestMany:
    def test_what_fails_in_one_touches_no_other(self) -> None:
        with Listening() as proxy, proxy.call() as steady:
            assert ask(steady, "echo", n=0) == {"n": 0}
            for n in range(20):
                with socket.create_connection(("127.0.0.1", proxy.port)) as odd:
                    odd.sendall([b"\x16\x03\x01", b"GET / HTTP/1.1\r\n", b"\xff" * 100, b""][n % 4])
                with proxy.call() as broken:
                    broken.socket.sendall(b"\xff\xff\xff\xff")
                assert ask(steady, "echo", n=n) == {"n": n}

    def test_a_hundred_at_once(self) -> None:
        with Listening("--max-connections", "100") as proxy:

            def talk(n: int) -> int:
                with proxy.call() as host:
                    assert [ask(host, "echo", i, n=n) for i in range(5)] == [{"n": n}] * 5
                    return int(ask(host, "who")["pid"])

            with ThreadPoolExecutor(20) as pool:
                pids = list(pool.map(talk, range(100)))
            assert len(set(pids)) == 100
            proxy.said("summary", 100)
            assert all(map(gone, pids))

    def test_five_hundred_are_there_at_once(self) -> None:
        """Each with a server of its own, which says what it hears."""
        with Listening("--max-connections", "500", server=("cat",)) as proxy:

            async def talk(sessions: AsyncExitStack) -> None:
                calling = connect(proxy.address, compression=None, open_timeout=3 * PATIENCE)
                host = await sessions.enter_async_context(calling)
                await host.send('{"jsonrpc":"2.0","method":"hello"}')
                assert await host.recv() == '{"jsonrpc":"2.0","method":"hello"}'

            async def all_talk() -> None:
                async with AsyncExitStack() as sessions:
                    for _ in range(25):
                        await asyncio.gather(*[talk(sessions) for _ in range(20)])
                    assert not proxy.events("summary")
                    with pytest.raises(InvalidStatus):
                        await talk(sessions)

            asyncio.run(all_talk())
            proxy.said("summary", 500)

    def test_those_who_say_nothing_keep_nobody_out(self) -> None:
        with Listening() as proxy:
            silent = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(50)]
            began = time.monotonic()
            with proxy.call() as host:
                assert ask(host, "echo") == {}
            assert time.monotonic() - began < PATIENCE
            for each in silent:
                each.close()


class TestStopping:
    def test_without_sessions_it_ends_at_once_with_0(self) -> None:
        with Listening() as proxy:
            assert proxy.stop() == 0

    def test_sessions_may_end_by_themselves(self) -> None:
        with Listening("--grace", "60") as proxy:
            with proxy.call() as host:
                pid = ask(host, "who")["pid"]
                proxy.process.terminate()
                proxy.said("stopping")
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", proxy.port))
                assert ask(host, "echo", still="here") == {"still": "here"}
            assert proxy.ends() == 0
            assert gone(pid)

    def test_those_that_do_not_are_closed_after_the_grace(self) -> None:
        with Listening("--grace", "0.3") as proxy, proxy.call() as host:
            pid = ask(host, "who")["pid"]
            proxy.process.terminate()
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1001
            assert proxy.ends() == 0
            assert gone(pid)
            assert not proxy.events("broken")

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
    def test_told_twice_it_does_not_wait(self, name: str) -> None:
        with Listening("--grace", "600") as proxy, proxy.call() as host:
            ask(host, "echo")
            proxy.process.send_signal(signal.Signals[name])
            proxy.said("stopping")
            proxy.process.send_signal(signal.Signals[name])
            with pytest.raises(ConnectionClosed):
                host.recv(timeout=PATIENCE)
            assert host.close_code == 1001
            assert proxy.ends() == 0
