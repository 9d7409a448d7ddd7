"""Starting the server: which file is run, and what it finds when it starts."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from nevermind.shell.spawn import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    PIPE_SIZE,
    CannotStart,
    environment_as_found,
    locate,
    printable,
    widen,
)
from proxy.shell.in_process import python, told

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux processes")

START = """
    import json, os, signal, sys
    from nevermind.shell.spawn import CannotStart, start
"""

SAYS = """
    server = start([sys.executable, "-c", sys.argv[1]])
    os.set_blocking(server.stdout, True)
    said = b""
    while data := os.read(server.stdout, 65536):
        said += data
    os.waitpid(server.pid, 0)
    sys.stdout.write(said.decode())
"""


def server_says(script: str, before: str = "", **options: Any) -> Any:
    """Start a server that runs ``script``; what it printed, as JSON."""
    prepared = textwrap.dedent(START) + textwrap.dedent(before) + textwrap.dedent(SAYS)
    return told(prepared, textwrap.dedent(script), **options)


class TestWhichFile:
    @pytest.fixture
    def folders(self, tmp_path: Path) -> dict[str, str]:
        """PATH = first:second; ``tool`` is in both, but cannot be executed in the first."""
        for folder, mode in (("first", 0o644), ("second", 0o755)):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "tool").write_text("#!/bin/sh\n")
            (tmp_path / folder / "tool").chmod(mode)
        return {"PATH": f"{tmp_path}/first{os.pathsep}{tmp_path}/second"}

    def test_the_first_that_can_be_executed(self, folders: dict[str, str], tmp_path: Path) -> None:
        assert locate("tool", folders) == str(tmp_path / "second" / "tool")

    def test_a_folder_of_that_name_is_passed_over(
        self, folders: dict[str, str], tmp_path: Path
    ) -> None:
        (tmp_path / "first" / "tool").unlink()
        (tmp_path / "first" / "tool").mkdir()
        assert locate("tool", folders) == str(tmp_path / "second" / "tool")

    def test_a_name_with_a_slash_is_not_searched_for(self, folders: dict[str, str]) -> None:
        assert locate("/bin/sh", folders) == "/bin/sh"

    def test_an_empty_entry_is_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "here").write_text("#!/bin/sh\n")
        (tmp_path / "here").chmod(0o755)
        monkeypatch.chdir(tmp_path)
        assert os.path.samefile(locate("here", {"PATH": f"/nonexistent{os.pathsep}"}), "here")

    def test_without_a_path_the_systems_own_is_searched(self) -> None:
        assert os.path.basename(locate("sh", {})) == "sh"

    def test_not_found_shows_what_was_searched(self, folders: dict[str, str]) -> None:
        with pytest.raises(CannotStart) as caught:
            locate("no-such-tool", folders)
        assert caught.value.code == NOT_FOUND
        assert "no-such-tool" in str(caught.value)
        assert folders["PATH"] in str(caught.value)

    @pytest.mark.parametrize("command", ["/nonexistent/server", "nonexistent/server"])
    def test_not_found_under_a_path_of_its_own(self, command: str) -> None:
        with pytest.raises(CannotStart, match=command) as caught:
            locate(command, {"PATH": "/somewhere"})
        assert caught.value.code == NOT_FOUND
        assert "PATH=/somewhere" in str(caught.value)
        assert command[0] == "/" or os.getcwd() in str(caught.value)

    def test_no_name_at_all(self) -> None:
        with pytest.raises(CannotStart, match="''") as caught:
            locate("", {"PATH": "/bin"})
        assert caught.value.code == NOT_FOUND

    def test_found_but_not_executable(self, folders: dict[str, str], tmp_path: Path) -> None:
        (tmp_path / "second" / "tool").chmod(0o644)
        for command in ("tool", str(tmp_path / "first" / "tool")):
            with pytest.raises(CannotStart, match="not executable") as caught:
                locate(command, folders)
            assert caught.value.code == NOT_EXECUTABLE

    def test_a_folder_is_no_program(self, tmp_path: Path) -> None:
        with pytest.raises(CannotStart, match="a directory") as caught:
            locate(str(tmp_path))
        assert caught.value.code == NOT_EXECUTABLE

    def test_the_message_is_one_line_that_any_terminal_can_take(self) -> None:
        with pytest.raises(CannotStart) as caught:
            locate("a\nb\x1b[31m\udce9", {"PATH": "/x\r/y"})
        assert str(caught.value).isprintable()
        assert "a?b?[31m?" in str(caught.value)
        assert printable("naïve ✓") == "naïve ✓"


class TestWhatCannotBeExecuted:
    """Known only once the kernel has refused; nothing is left behind."""

    def refusal(self, path: Path) -> tuple[int, str]:
        path.chmod(0o755)
        code, message = told(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                try:
                    start(sys.argv[1:])
                except CannotStart as refused:
                    try:
                        os.waitpid(-1, 0)
                    except ChildProcessError:
                        os.kill(os.getpid(), 0)
                        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
                        print(json.dumps([refused.code, str(refused)]))
                """
            ),
            str(path),
        )
        return code, message

    def test_a_script_whose_interpreter_is_missing(self, tmp_path: Path) -> None:
        script = tmp_path / "script"
        script.write_text("#!/nonexistent/python\n")
        code, message = self.refusal(script)
        assert code == NOT_EXECUTABLE
        assert str(script) in message
        assert "interpreter" in message

    def test_a_file_that_is_no_program(self, tmp_path: Path) -> None:
        """No shell is asked to make sense of it."""
        script = tmp_path / "text"
        script.write_text("exit 0\n")
        code, message = self.refusal(script)
        assert code == NOT_EXECUTABLE
        assert "#!" in message

    def test_arguments_that_are_too_long(self) -> None:
        done = python(
            textwrap.dedent(START)
            + textwrap.dedent(
                """
                try:
                    start(["true", "x" * 10_000_000])
                except CannotStart as refused:
                    print(refused)
                    raise SystemExit(refused.code)
                """
            )
        )
        assert done.returncode == NOT_EXECUTABLE
        assert b"too long" in done.stdout


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
            assert self.size(sink) < PIPE_SIZE
            widen(sink)
            assert self.size(source) == PIPE_SIZE
            fcntl.fcntl(sink, 1031, 2 * PIPE_SIZE)
            widen(sink)
            assert self.size(sink) == 2 * PIPE_SIZE
        finally:
            os.close(source)
            os.close(sink)

    def test_what_is_no_pipe_is_left_as_it_is(self, tmp_path: Path) -> None:
        with open(tmp_path / "file", "wb") as file:
            widen(file.fileno())
