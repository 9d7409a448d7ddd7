"""What the server finds when it starts: as if the host had started it itself."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from nevermind.shell.spawn import environment_as_found
from proxy.shell.in_process import python, told
from proxy.shell.started import SAYS, START, server_says

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux processes")


@linux_only
class TestWhatTheServerFinds:
    """As if the host had started it itself."""

    def test_arguments_folder_group_and_session(self, tmp_path: Path) -> None:
        server = """
            import json, os, sys
            print(json.dumps([os.getcwd(), os.getpgrp(), os.getsid(0), os.getppid()]))
            """
        us = "ours = [os.getcwd(), os.getpgrp(), os.getsid(0), os.getpid()]\n"
        both = "\nsys.stdout.write(json.dumps(ours) + '\\n')\n"
        done = python(
            textwrap.dedent(START) + us + textwrap.dedent(SAYS) + both,
            textwrap.dedent(server),
            cwd=tmp_path,
            start_new_session=True,
        )
        theirs, ours = map(json.loads, done.stdout.splitlines())
        assert theirs == ours

    def test_arguments_are_passed_as_they_are(self) -> None:
        arguments = ["a b", "", "--", "-x", "$HOME", "é'\"\n", "\udcff"]
        echo = "server = start([sys.executable, '-c', ECHO, *sys.argv[1:]])"
        received = told(
            textwrap.dedent(START)
            + "ECHO = 'import json, sys; print(json.dumps(sys.argv[1:]))'\n"
            + textwrap.dedent(SAYS).replace(
                'server = start([sys.executable, "-c", sys.argv[1]])', echo
            ),
            *arguments,
        )
        assert received == arguments

    def test_stderr_is_ours(self) -> None:
        script = textwrap.dedent(START) + textwrap.dedent(SAYS)
        done = python(script, "import os; os.write(2, b'boom')")
        assert done.stderr == b"boom"

    def test_signals_are_as_a_program_expects_them(self) -> None:
        """The interpreter ignores two for itself, and we take four; none of that is seen."""
        ours, theirs = told(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                def ignored_and_blocked(status):
                    lines = dict(line.split(":\\t") for line in status.splitlines())
                    return [int(lines[name], 16) for name in ("SigIgn", "SigBlk")]
                ours = ignored_and_blocked(open("/proc/self/status").read())
                server = start(["cat", "/proc/self/status"])
                os.set_blocking(server.stdout, True)
                said = b""
                while data := os.read(server.stdout, 65536):
                    said += data
                print(json.dumps([ours, ignored_and_blocked(said.decode())]))
                """
            )
        )
        by_python = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1
        assert ours[0] & by_python == by_python
        assert theirs == [ours[0] & ~by_python, ours[1]]

    @pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
    def test_what_was_ignored_is_ignored_by_the_server_too(self, number: int) -> None:
        ignored = server_says(
            """
            import json
            status = dict(line.split(":\\t") for line in open("/proc/self/status"))
            print(json.dumps(int(status["SigIgn"], 16)))
            """,
            before=f"signal.signal({int(number)}, signal.SIG_IGN)\n",
        )
        assert ignored & 1 << number - 1

    def test_what_was_blocked_is_blocked_in_the_server_too(self) -> None:
        blocked = server_says(
            """
            import json
            status = dict(line.split(":\\t") for line in open("/proc/self/status"))
            print(json.dumps(int(status["SigBlk"], 16)))
            """,
            before="signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])\n",
        )
        assert blocked == 1 << signal.SIGUSR2 - 1

    def test_no_descriptor_of_ours_is_left_in_it(self) -> None:
        fds = server_says(
            """
            import json, os
            print(json.dumps(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))))
            """
        )
        assert fds[:3] == [0, 1, 2]
        assert len(fds) == 4, "the fourth is the listing itself"

    def test_one_that_the_host_gave_us_is(self) -> None:
        theirs, for_server = os.pipe()
        os.set_inheritable(for_server, True)
        try:
            server_says(
                f"import os; os.write({for_server}, b'hello'); print(0)",
                pass_fds=[for_server],
            )
            assert os.read(theirs, 10) == b"hello"
        finally:
            os.close(theirs)
            os.close(for_server)

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    def test_standard_descriptors_that_are_closed_do_no_harm(
        self, closed: str, tmp_path: Path
    ) -> None:
        """A pipe of ours would otherwise be given the number 0, 1 or 2."""
        answer = tmp_path / "answer"
        script = textwrap.dedent(START) + textwrap.dedent(
            """
            server = start(["cat"])
            os.set_blocking(server.stdout, True)
            os.write(server.stdin, b"through")
            said = os.read(server.stdout, 100)
            os.close(server.stdin)
            open(os.environ["ANSWER"], "wb").write(said + os.read(server.stdout, 100))
            """
        )
        done = python(
            "import subprocess, sys; raise SystemExit(subprocess.call(sys.argv[1:]))",
            "sh",
            "-c",
            f'"$0" -c "$1" {closed}',
            sys.executable,
            script,
            env={**os.environ, "ANSWER": str(answer)},
        )
        assert done.returncode == 0, done.stderr
        assert answer.read_bytes() == b"through"


@linux_only
class TestTheEnvironment:
    def test_it_is_passed_on(self) -> None:
        shown = server_says(
            "import json, os; print(json.dumps(os.environ['REPORT_TO']))",
            env={**os.environ, "REPORT_TO": "a=b c\té"},
        )
        assert shown == "a=b c\té"

    def test_what_the_interpreter_adds_for_itself_is_not(self) -> None:
        """Hosts filter the environment; without a locale Python sets LC_CTYPE in ours."""
        bare = {"PATH": os.environ["PATH"]}
        ours, theirs = told(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                server = start(["/usr/bin/env"])
                os.set_blocking(server.stdout, True)
                said = b""
                while data := os.read(server.stdout, 65536):
                    said += data
                print(json.dumps([sorted(os.environ), said.decode()]))
                """
            ),
            env=bare,
        )
        assert "LC_CTYPE" in ours, "this interpreter does not coerce the C locale"
        assert theirs == f"PATH={bare['PATH']}\n"

    def test_the_hosts_own_lc_ctype_is_kept(self) -> None:
        shown = server_says(
            "import json, os; print(json.dumps(os.environ['LC_CTYPE']))",
            env={"PATH": os.environ["PATH"], "LC_CTYPE": "C.UTF-8"},
        )
        assert shown == "C.UTF-8"

    def test_where_the_original_cannot_be_read_ours_will_do(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LC_CTYPE", "C.UTF-8")

        def no_proc(path: str, mode: str) -> None:
            raise FileNotFoundError(path, mode)

        monkeypatch.setattr("builtins.open", no_proc)
        assert environment_as_found()[b"LC_CTYPE"] == b"C.UTF-8"
