"""A pump that Trio takes over in the middle of its work, and one that it cannot."""

from __future__ import annotations

import os
import signal
import time

import pytest
import trio

from nevermind.peers import Peer
from nevermind.shell import relay as relay_module
from nevermind.shell.readiness import Readiness
from nevermind.shell.relay import turn_under_trio
from proxy.shell.host import ECHO, PATIENCE, Host
from proxy.shell.relay_runs import PING, PONG
from proxy.shell.stage import Stage


class TestUnderTrio:
    """Trio takes over a pump that is in the middle of its work."""

    @pytest.fixture
    def stage(self) -> Stage:
        return Stage(clock=time.monotonic)

    async def test_it_waits_and_is_woken_by_bytes(self, stage: Stage) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(turn_under_trio, stage.pump)
            await trio.sleep(0.02)  # it has gone to sleep by then
            os.write(stage.host_stdin.sink, b"question\n")
            await trio.lowlevel.wait_readable(stage.server_stdin.source)
            assert stage.server_stdin.read() == b"question\n"
            nursery.cancel_scope.cancel()

    async def test_it_is_woken_by_time(self, stage: Stage) -> None:
        stage.session.deadline = time.monotonic() + 0.02
        stage.session.at_deadline = {Peer.SERVER: b"rest"}
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(turn_under_trio, stage.pump)
                await trio.lowlevel.wait_readable(stage.server_stdin.source)
                nursery.cancel_scope.cancel()
        assert stage.session.heard[0][0] == "expire"

    async def test_it_returns_when_the_pump_is_done(self, stage: Stage) -> None:
        stage.server_stdout.close_sink()
        stage.tree.code, stage.tree.children = 4, False
        stage.signals.send(signal.SIGCHLD)
        with trio.fail_after(PATIENCE):
            await turn_under_trio(stage.pump)
        assert stage.code() == 4

    async def test_other_tasks_get_their_turn_in_a_flood(self, stage: Stage) -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await trio.lowlevel.checkpoint()
                turns += 1

        def endless(most: float | None) -> bool:
            return True

        stage.pump.turn = endless  # type: ignore[method-assign]
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(turn_under_trio, stage.pump)
                nursery.start_soon(other)
                while turns < 3:
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()

    async def test_a_poll_set_that_trio_cannot_wait_for_is_refused(self) -> None:
        with pytest.raises(ValueError, match="Trio"):
            await turn_under_trio(Stage(nested=False).pump)


def test_trio_is_not_imported_for_the_end() -> None:
    """A server that takes its time to leave has the processor for itself."""
    never = """
        relay.BREAK, relay.BOOT = 0.001, 1e6
        relay.load_trio = None
        """
    server = """
        import sys, time
        sys.stdin.read()
        print("{}", flush=True)
        time.sleep(0.2)
        """
    with Host(server, preparation=never) as host:
        host.closes_stdin()
        assert host.reads_to_the_end() == b"{}\n"
        assert host.code() == 0


def test_without_epoll_it_does_without_trio() -> None:
    """Elsewhere than on Linux the plain loop does all of it."""
    poll = """
        from nevermind.shell import pump, readiness
        pump.Readiness = lambda: readiness.Readiness(nested=False)
        relay.BREAK = relay.BOOT = 0.0
        relay.turn_under_trio = None
        """
    with Host(ECHO, preparation=poll) as host:
        host.writes(PING)
        assert host.reads_line() == PING
        time.sleep(0.2)
        host.writes(PONG)
        assert host.reads_line() == PONG
        host.closes_stdin()
        assert host.code() == 0
    assert Readiness(nested=False).fd is None
    assert relay_module.BREAK > 0
