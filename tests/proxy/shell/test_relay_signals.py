"""Whole runs with real processes: signals."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

from proxy.shell.host import ECHO, Host, is_gone, python_server
from proxy.shell.relay_runs import PING, SAYS_PID, TRIO_AT_ONCE, TRIO_NEVER, pid_of

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="sub-reaper and death signal")


@linux_only
class TestSignals:
    STAYS = SAYS_PID + "while True: time.sleep(600)\n"
    STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + STAYS

    @pytest.mark.parametrize("preparation", [TRIO_AT_ONCE, TRIO_NEVER])
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_end_the_server_and_us(self, number: int, preparation: str) -> None:
        with Host(self.STAYS, preparation=preparation) as host:
            server = pid_of(host)
            time.sleep(0.3)  # into the quiet that follows, under Trio or not
            host.signals(number)
            assert host.code() == 128 + number
            assert is_gone(server)

    def test_a_server_that_ignores_it(self) -> None:
        with Host(self.STUBBORN) as host:
            server = pid_of(host)
            host.signals(signal.SIGTERM)
            assert host.code() == 143
            assert is_gone(server)

    def test_a_server_behind_a_shell_that_ignores_it(self) -> None:
        """The shell goes at once, and its child falls to us."""
        command = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, self.STUBBORN]
        with Host(command) as host:
            server = pid_of(host)
            host.signals(signal.SIGTERM)
            assert host.code() == 143
            assert is_gone(server)

    def test_a_helper_in_a_session_of_its_own(self) -> None:
        server = """
            import subprocess, sys, time
            helper = subprocess.Popen(["sleep", "600"], start_new_session=True)
            print(f'{{"pid":{helper.pid}}}', flush=True)
            time.sleep(600)
            """
        with Host(server) as host:
            helper = pid_of(host)
            host.signals(signal.SIGTERM)
            assert host.code() == 143
            assert is_gone(helper)

    def test_our_group_is_never_signalled(self) -> None:
        """The host's own processes are in it, as under the TypeScript SDK."""
        bystander = 'sleep 600 & printf "%s\\n" $! >&2; exec "$0" "$@"'
        with Host(self.STUBBORN, wrapper=["sh", "-c", bystander]) as host:
            assert host.process.stderr is not None
            other = int(host.process.stderr.readline())
            pid_of(host)
            host.signals(signal.SIGTERM)
            assert host.code() == 143
            stat = Path(f"/proc/{other}/stat").read_text()
            assert int(stat.rpartition(")")[2].split()[2]) == host.process.pid
            assert not is_gone(other)

    def test_sigint_is_the_servers_and_so_is_the_code(self) -> None:
        server = SAYS_PID + "try: time.sleep(600)\nexcept KeyboardInterrupt: sys.exit(9)\n"
        with Host(server) as host:
            pid_of(host)
            host.signals(signal.SIGINT)
            assert host.code() == 9

    def test_a_server_that_survives_sigint_keeps_its_host(self) -> None:
        server = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + SAYS_PID + ECHO
        with Host(server) as host:
            pid_of(host)
            host.signals(signal.SIGINT)
            host.writes(PING)
            assert host.reads_line() == PING

    def test_ctrl_c_at_a_terminal_reaches_the_server_once(self) -> None:
        """The terminal sends it to the whole foreground group; we add nothing."""
        server = """
            import signal, time
            count = []
            signal.signal(signal.SIGINT, lambda *_: count.append(1))
            print("ready", flush=True)
            while not count: time.sleep(0.01)
            time.sleep(0.3)
            print("interrupted", len(count), flush=True)
            """
        take_terminal = """
            import fcntl, os, sys, termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.execvp(sys.argv[1], sys.argv[1:])
            """
        master, slave = pty.openpty()
        wrapper = python_server(take_terminal)
        with Host(server, wrapper=wrapper, stdin=slave, stdout=slave, stderr=slave) as host:
            os.close(slave)
            seen = b""
            while b"ready" not in seen:
                seen += os.read(master, 100)
            os.write(master, b"\x03")
            while b"interrupted 1" not in seen:
                seen += os.read(master, 100)
            assert host.code() == 0
        os.close(master)
