"""Whole runs with real processes: how they end by the server, by the host, and without us."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from proxy.shell.host import ECHO, Host, is_gone, until_gone
from proxy.shell.relay_runs import PING, SAYS_PID, pid_of

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="sub-reaper and death signal")


class TestTheServerEnds:
    @pytest.mark.parametrize("code", [0, 1, 3, 255])
    def test_its_code_is_ours(self, code: int) -> None:
        with Host(f"raise SystemExit({code})") as host:
            assert host.code() == code

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
    def test_of_a_signal(self, number: int) -> None:
        with Host(f"import os; os.kill(os.getpid(), {int(number)})") as host:
            assert host.code() == 128 + number

    def test_with_ten_megabytes_that_nobody_has_read(self) -> None:
        server = """
            import os
            data = memoryview(b"x" * 999 + b"\\n")
            for _ in range(10_000):
                assert os.write(1, data) == 1000
            os._exit(7)
            """
        with Host(server) as host:
            time.sleep(0.5)
            assert len(host.reads_to_the_end()) == 10_000_000
            assert host.code() == 7

    def test_and_a_helper_holds_its_stdout(self) -> None:
        server = """
            import os, subprocess, sys
            helper = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
            print(f'{{"pid":{helper.pid}}}', flush=True)
            os._exit(5)
            """
        with Host(server) as host:
            helper = pid_of(host)
            assert host.reads_to_the_end() == b""
            assert host.code() == 5
            assert not is_gone(helper), "it outlived a graceful end: that is its right"
            os.kill(helper, signal.SIGKILL)

    def test_while_the_host_is_writing(self) -> None:
        with Host("import os; os.read(0, 1)") as host:
            with pytest.raises(BrokenPipeError):
                host.writes(PING * 1_000_000)
            assert host.code() == 0
            assert host.said_on_stderr() == b""


@linux_only
class TestTheHostEnds:
    STAYS = SAYS_PID + "while True: time.sleep(600)\n"

    def test_a_server_that_stays_is_ended(self) -> None:
        with Host(self.STAYS, grace=0.2) as host:
            server = pid_of(host)
            host.closes_stdin()
            assert host.code() == 128 + signal.SIGTERM
            assert is_gone(server)

    def test_one_that_ignores_sigterm_too(self) -> None:
        stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + self.STAYS
        with Host(stubborn, grace=0.1) as host:
            server = pid_of(host)
            host.closes_stdin()
            assert host.code() == 128 + signal.SIGKILL
            assert is_gone(server)

    def test_a_host_that_only_stops_reading(self) -> None:
        """It is noticed although nobody writes anything."""
        with Host(ECHO) as host:
            host.writes(PING)
            assert host.reads_line() == PING
            host.stdout.close()
            assert host.code() == 0

    def test_a_host_that_vanishes_while_we_are_blocked(self) -> None:
        flood = "import os\nwhile True: os.write(1, b'x' * 999 + b'\\n')\n"
        with Host(flood, grace=0.1) as host:
            host.reads(100)
            time.sleep(0.3)
            host.stdout.close()
            host.closes_stdin()
            assert host.code() != 0
            assert host.said_on_stderr() == b""

    def test_a_host_that_is_killed_takes_all_with_it(self) -> None:
        """Its pipes close; nobody sends a signal."""
        host_script = """
            import subprocess, sys
            relay = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
            relay.wait()
            """
        wrapper = [sys.executable, "-c", "\n".join(s.strip() for s in host_script.splitlines())]
        with Host(SAYS_PID + ECHO, wrapper=wrapper) as host:
            server = pid_of(host)
            os.kill(host.process.pid, signal.SIGKILL)
            until_gone(server)

    def test_we_are_killed_and_the_server_with_us(self) -> None:
        with Host(self.STAYS) as host:
            server = pid_of(host)
            host.signals(signal.SIGKILL)
            until_gone(server)

    def test_we_are_killed_and_what_the_server_started_sees_the_end(self) -> None:
        behind_a_shell = ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, SAYS_PID + ECHO]
        with Host(behind_a_shell) as host:
            server = pid_of(host)
            host.signals(signal.SIGKILL)
            until_gone(server)
