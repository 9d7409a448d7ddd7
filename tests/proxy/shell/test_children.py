"""Server processes of a listening proxy: real ones, each with a group of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from nevermind.shell.children import Child, Children
from nevermind.shell.spawn import NOT_EXECUTABLE, NOT_FOUND, CannotStart

LIMITS = (512, 1024)


@asynccontextmanager
async def started(*code: str) -> AsyncIterator[tuple[Children, Child]]:
    """A Python process that runs ``code``; it is reaped as by a signal."""
    children = Children([sys.executable, "-c", "\n".join(code)], LIMITS)
    child = children.start()
    async with trio.open_nursery() as nursery:

        async def reap() -> None:
            while child.code is None:
                children.reap()
                await trio.sleep(0.005)

        nursery.start_soon(reap)
        try:
            with trio.fail_after(20):
                yield children, child
        finally:
            child.signal(signal.SIGKILL)
            os.close(child.stdin)
            os.close(child.stdout)


async def read(child: Child) -> bytes:
    """All that it writes."""
    data = b""
    while True:
        await trio.lowlevel.wait_readable(child.stdout)
        more = os.read(child.stdout, 65536)
        if not more:
            return data
        data += more


async def test_it_leads_a_session_and_has_the_limits_it_was_promised() -> None:
    code = (
        "import os, resource",
        "print(os.getpid(), os.getsid(0), os.getpgrp(), *resource.getrlimit(7), flush=True)",
    )
    async with started(*code) as (children, child):
        assert child.pid in children.pids
        pid = child.pid
        assert (await read(child)).split() == [b"%d" % pid] * 3 + [b"512", b"1024"]
        await child.ended.wait()
        assert child.code == 0
        assert children.pids == []


@pytest.mark.parametrize(
    ("code", "expected", "how"),
    [
        ("raise SystemExit(3)", 3, "exited with 3"),
        ("import os; os.kill(os.getpid(), 9)", 137, "was ended by signal 9"),
    ],
)
async def test_its_exit_code_is_known_as_a_shell_has_it(code: str, expected: int, how: str) -> None:
    async with started(code) as (_, child):
        called: list[int | None] = []
        child.when_ended(lambda: called.append(child.code))
        await child.ended.wait()
        assert child.code == expected
        assert child.how == how
        assert called == [expected]


async def test_signals_reach_its_whole_group() -> None:
    code = (
        "import subprocess, sys, time",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])",
        "print('ready', flush=True)",
        "time.sleep(600)",
    )
    async with started(*code) as (_, child):
        await trio.lowlevel.wait_readable(child.stdout)
        assert os.read(child.stdout, 5) == b"ready"
        child.signal(signal.SIGTERM)
        assert (await read(child)).strip() == b""  # the helper held the pipe too
        await child.ended.wait()
        assert child.code == 143
        child.signal(signal.SIGTERM)


async def test_signals_that_python_ignores_are_not_ignored_there() -> None:
    children = Children(["/bin/cat", "/proc/self/status"], LIMITS)
    child = children.start()
    status = dict(
        line.split(b":\t", 1) for line in (await read(child)).splitlines() if b":\t" in line
    )
    ignored = int(status[b"SigIgn"], 16)
    assert not ignored & 1 << (signal.SIGPIPE - 1)
    os.close(child.stdin)
    os.close(child.stdout)
    with trio.fail_after(20):
        while child.code is None:
            children.reap()
            await trio.sleep(0.005)


@pytest.mark.parametrize(
    ("command", "code"), [("/nonexistent/server", NOT_FOUND), ("/etc/passwd", NOT_EXECUTABLE)]
)
def test_a_command_that_cannot_be_run_is_known_beforehand(command: str, code: int) -> None:
    with pytest.raises(CannotStart) as refused:
        Children([command], LIMITS)
    assert refused.value.code == code


async def test_one_that_is_gone_meanwhile_leaves_nothing_open(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "server")
    os.symlink("/bin/true", path)
    children = Children([path], LIMITS)
    os.unlink(path)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(CannotStart, match="No such file"):
        children.start()
    assert len(os.listdir("/proc/self/fd")) == before


def test_to_reap_without_children_is_nothing() -> None:
    Children(["/bin/true"], LIMITS).reap()
