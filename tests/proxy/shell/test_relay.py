"""Whole runs with real processes: what hosts do, what servers do, and how it ends."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import trio

from nevermind.peers import Peer
from nevermind.shell import relay as relay_module
from nevermind.shell.readiness import Readiness
from nevermind.shell.relay import turn_under_trio
from proxy.shell.host import ECHO, PATIENCE, Host, is_gone, line, python_server, until_gone
from proxy.shell.stage import Stage

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="sub-reaper and death signal")

PING = line(id=1, method="ping")
PONG = line(id=1, result={})

TRIO_AT_ONCE = "relay.BREAK = 0.001; relay.BOOT = 0.0"
TRIO_NEVER = "relay.BREAK = 1e6"

SAYS_PID = """
import os, sys, time
sys.stdout.write(f'{{"pid":{os.getpid()}}}\\n')
sys.stdout.flush()
"""


def pid_of(host: Host) -> int:
    """The pid that the server (or what it started) has told."""
    return int(host.reads_line().partition(b":")[2].rstrip(b"}\n"))


class TestMessages:
    @pytest.mark.parametrize("preparation", [TRIO_AT_ONCE, TRIO_NEVER, ""])
    def test_there_and_back_then_the_end(self, preparation: str) -> None:
        with Host(ECHO, preparation=preparation) as host:
            for n in range(50):
                message = line(id=n, method="ping")
                host.writes(message)
                assert host.reads_line() == message
                time.sleep(0.002 if n % 10 else 0.02)
            host.closes_stdin()
            assert host.reads_to_the_end() == b""
            assert host.code() == 0

    def test_bytes_that_are_no_messages_pass_as_they_are(self) -> None:
        rubbish = bytes(range(256)) * 300
        with Host(ECHO) as host:
            host.writes(rubbish)
            host.closes_stdin()
            assert host.reads_to_the_end() == rubbish
            assert host.code() == 0

    def test_large_messages_both_ways_at_once(self) -> None:
        """Neither side reads before it has written; the queues and pipes fill up."""
        server = """
            import os, sys
            out = b'{"jsonrpc":"2.0","method":"n","params":"' + b"s" * 8_000_000 + b'"}\\n'
            out = memoryview(out)
            while out:
                out = out[os.write(1, out):]
            total = 0
            while data := os.read(0, 1 << 20):
                total += len(data)
            os.write(1, b'{"total":%d}\\n' % total)
            """
        up = line(method="n", params="c" * 8_000_000)
        with Host(server) as host:
            host.writes(up)
            host.closes_stdin()
            down = host.reads_to_the_end()
            assert len(down) > 8_000_000
            assert down.endswith(b'{"total":%d}\n' % len(up))
            assert host.code() == 0

    def test_the_servers_stderr_is_the_hosts(self) -> None:
        with Host("import os; os.write(2, b'boom\\r\\npart')") as host:
            assert host.code() == 0
            assert host.said_on_stderr() == b"boom\r\npart"


class TestOddDescriptors:
    @pytest.mark.parametrize("preparation", [TRIO_AT_ONCE, TRIO_NEVER])
    def test_sockets_as_node_gives_them(self, preparation: str) -> None:
        ours_in, theirs_in = socket.socketpair()
        ours_out, theirs_out = socket.socketpair()
        with (
            ours_in,
            ours_out,
            Host(ECHO, preparation=preparation, stdin=theirs_in, stdout=theirs_out) as host,
        ):
            theirs_in.close()
            theirs_out.close()
            big = line(method="n", params="x" * 1_000_000)
            sending = threading.Thread(target=ours_in.sendall, args=(big,))
            sending.start()
            data = b""
            while len(data) < len(big):
                data += ours_out.recv(1 << 20)
            sending.join()
            assert data == big
            ours_in.close()
            assert ours_out.recv(1) == b""
            assert host.code() == 0

    def test_one_socket_for_both(self) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs, Host(ECHO, stdin=theirs, stdout=theirs) as host:
            theirs.close()
            ours.sendall(PING)
            assert ours.recv(1000) == PING
            ours.shutdown(socket.SHUT_WR)
            assert ours.recv(1000) == b""
            assert host.code() == 0

    def test_from_a_file_to_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "in").write_bytes(PING * 10_000)
        with (
            open(tmp_path / "in", "rb") as source,
            open(tmp_path / "out", "wb") as sink,
            Host(ECHO, stdin=source, stdout=sink) as host,
        ):
            assert host.code() == 0
        assert (tmp_path / "out").read_bytes() == PING * 10_000

    def test_dev_null(self) -> None:
        null = subprocess.DEVNULL
        with Host(ECHO, stdin=null, stdout=null) as host:
            assert host.code() == 0

    def test_stdin_closed_before_we_were_started(self) -> None:
        with Host(ECHO, wrapper=["sh", "-c", 'exec "$0" "$@" <&-'], stdin=None) as host:
            assert host.reads_to_the_end() == b""
            assert host.code() == 0

    def test_a_terminal(self) -> None:
        master, slave = pty.openpty()
        with Host("print(input()[::-1])", stdin=slave, stdout=slave) as host:
            os.write(master, b"hello\n")
            seen = b""
            while b"olleh" not in seen:
                seen += os.read(master, 100)
            assert host.code() == 0
        os.close(master)
        os.close(slave)

    def test_where_nothing_can_be_opened_anew_threads_do_it(self) -> None:
        """As a container's user, whose stdio belongs to somebody else."""
        refuse = """
            import os
            real = os.open
            def refusing(path, *rest, **more):
                if str(path).startswith("/proc/self/fd/"):
                    raise PermissionError(13, "no", path)
                return real(path, *rest, **more)
            os.open = refusing
            """
        big = line(method="n", params="x" * 1_000_000)
        with Host(ECHO, first=refuse) as host:
            sending = threading.Thread(target=host.writes_all_and_closes, args=(big,))
            sending.start()
            time.sleep(0.3)  # a host that does not read for a while: its pipe is full
            assert host.reads_to_the_end() == big
            sending.join()
            assert host.code() == 0

    def test_others_who_share_a_description_keep_it_blocking(self) -> None:
        """The server's stderr is our stdout's very description (2>&1), and floods it."""
        server = """
            import os
            data = memoryview(b"e" * 1_000_000)
            while data:
                data = data[os.write(2, data):]  # EAGAIN here would be a traceback
            os.write(1, b"done\\n")
            """
        with Host(server, stderr=subprocess.STDOUT) as host:
            time.sleep(0.2)
            everything = host.reads_to_the_end()
            assert everything.count(b"e") >= 1_000_000
            assert everything.endswith(b"done\n")
            assert host.code() == 0


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
