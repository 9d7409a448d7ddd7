"""Starting the server, on our side: its pipes, and what we keep of them."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from nevermind.shell.spawn import PIPE_DOWN, widen
from proxy.shell.in_process import python, told
from proxy.shell.started import START

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux processes")


@linux_only
class TestOurSide:
    def test_our_ends_do_not_block_and_the_servers_do(self) -> None:
        ours, theirs = told(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                server = start([sys.executable, "-c", sys.argv[1]])
                ours = [os.get_blocking(server.stdin), os.get_blocking(server.stdout)]
                os.set_blocking(server.stdout, True)
                print(json.dumps([ours, json.loads(os.read(server.stdout, 100))]))
                """
            ),
            "import json, os; print(json.dumps([os.get_blocking(0), os.get_blocking(1)]))",
        )
        assert ours == [False, False]
        assert theirs == [True, True]

    def test_the_server_dies_with_us_when_we_are_killed(self) -> None:
        """It does not even read its stdin."""
        done = python(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                server = start(["sleep", "600"])
                os.write(1, b"%d" % server.pid)
                os.kill(os.getpid(), signal.SIGKILL)
                """
            )
        )
        assert done.returncode == -signal.SIGKILL
        server = int(done.stdout)
        for _ in range(2000):
            try:
                stat = Path(f"/proc/{server}/stat").read_text()
            except OSError:
                return
            if stat.rpartition(")")[2].split()[0] in "ZX":
                return
            os.sched_yield()
            signal.sigtimedwait([], 0.005)
        pytest.fail("the server lives on")

    def test_children_that_we_had_before_are_known(self) -> None:
        """A script that starts something and then becomes us by exec is their parent."""
        elder, first = told(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                import subprocess
                first = subprocess.Popen(["sleep", "600"])
                server = start(["true"])
                print(json.dumps([list(server.elder), first.pid]))
                first.kill()
                """
            )
        )
        assert elder == [first]

    def test_nothing_that_starts_threads_or_takes_time_is_imported_for_it(self) -> None:
        modules = told(
            """
            import json, sys
            before = set(sys.modules)
            import nevermind.shell.spawn
            print(json.dumps(sorted(set(sys.modules) - before)))
            """
        )
        ours = {f"nevermind.shell{name}" for name in ("", ".linux", ".signals", ".spawn")}
        assert set(modules) <= ours | {"nevermind", "_ctypes", "__future__"}


@linux_only
class TestWidePipes:
    def size(self, fd: int) -> int:
        return fcntl.fcntl(fd, 1032)  # F_GETPIPE_SZ

    def test_a_pipe_is_widened_never_narrowed(self) -> None:
        source, sink = os.pipe()
        try:
            assert self.size(sink) < PIPE_DOWN
            widen(sink, PIPE_DOWN)
            assert self.size(source) == PIPE_DOWN
            widen(sink, PIPE_DOWN // 2)
            assert self.size(sink) == PIPE_DOWN
        finally:
            os.close(source)
            os.close(sink)

    def test_what_is_no_pipe_is_left_as_it_is(self, tmp_path: Path) -> None:
        with open(tmp_path / "file", "wb") as file:
            widen(file.fileno(), PIPE_DOWN)
