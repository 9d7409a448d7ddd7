"""Whole runs with real processes: what passes, whatever we have been given as stdin and stdout."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from proxy.shell.host import ECHO, Host, line
from proxy.shell.relay_runs import PING, TRIO_AT_ONCE, TRIO_NEVER


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
