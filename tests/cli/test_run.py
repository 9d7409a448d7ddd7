"""``nevermind run`` as a process: refusals start nothing, stdout is the host's channel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.invocations import MODULE, nevermind

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def run(
    *words: str, sent: str = "", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return nevermind("run", *words, sent=sent, command=MODULE, cwd=cwd, **environment)


def marker(path: Path) -> list[str]:
    """A command that leaves a trace if it is started."""
    return ["--", sys.executable, "-c", f"open({str(path)!r}, 'w')"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "named"),
        [
            (["--bogus"], "'--bogus'"),
            (["--cancel", "never"], "--cancel"),
            (["--late-response", "never"], "--late-response"),
            (["--late-progress", "never"], "--late-progress"),
            (["--stale-progress", "never"], "--stale-progress"),
            (["--redundant-cancel", "never"], "--redundant-cancel"),
            (["--id-reuse", "never"], "--id-reuse"),
            (["--noise", "never"], "--noise"),
            (["--remember", "-1"], "--remember"),
            (["--max-message", "big"], "--max-message"),
            (["--grace", "nan"], "--grace"),
            (["--log-level", "loud"], "--log-level"),
            (["--log-format", "xml"], "--log-format"),
            (["--log-file", "no/such/folder/log"], "--log-file"),
        ],
    )
    def test_one_line_names_the_flag_and_nothing_is_started(
        self, words: list[str], named: str, tmp_path: Path
    ) -> None:
        trace = tmp_path / "trace"
        done = run(*words, *marker(trace), cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("nevermind run: ")
        assert named in done.stderr
        assert done.stderr.count("\n") == 1
        assert not trace.exists()

    def test_a_bad_variable_is_named(self, tmp_path: Path) -> None:
        trace = tmp_path / "trace"
        done = run(*marker(trace), NEVERMIND_MAX_MESSAGE="big")
        assert done.returncode == 2
        assert done.stderr.startswith("nevermind run: NEVERMIND_MAX_MESSAGE: 'big' is not a size")
        assert not trace.exists()

    def test_a_log_file_that_a_variable_names_is_refused_under_that_name(
        self, tmp_path: Path
    ) -> None:
        done = run(*marker(tmp_path / "trace"), NEVERMIND_LOG_FILE="no/such/folder/log")
        assert done.returncode == 2
        assert done.stderr.startswith("nevermind run: NEVERMIND_LOG_FILE: 'no/such/folder/log': ")

    def test_our_own_stdout_is_no_log_file(self, tmp_path: Path) -> None:
        trace = tmp_path / "trace"
        done = run("--log-file", "/dev/stdout", *marker(trace))
        assert (done.returncode, done.stdout) == (2, "")
        assert "--log-file" in done.stderr
        assert not trace.exists()

    def test_no_command_is_refused(self) -> None:
        done = run()
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "nevermind run: no command given: nevermind run [OPTIONS] -- COMMAND [ARG]...\n"
        )

    def test_a_command_that_is_not_there(self) -> None:
        done = run("--", "no-such-server", PATH="/bin:/nowhere")
        assert (done.returncode, done.stdout) == (127, "")
        assert done.stderr.count("\n") == 1
        assert "no-such-server" in done.stderr
        assert "PATH=/bin:/nowhere" in done.stderr

    def test_a_command_that_is_no_program(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("hello")
        done = run("--", str(path))
        assert (done.returncode, done.stdout) == (126, "")
        assert str(path) in done.stderr
        assert done.stderr.count("\n") == 1

    def test_with_stderr_closed_nothing_goes_to_stdout_instead(self) -> None:
        words = [sys.executable, "-m", "nevermind_cli", "run", "--bogus"]
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" 2>&-', "sh", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b"")


class TestRuns:
    def test_help_is_help(self) -> None:
        done = run("--shield", "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: nevermind run [OPTIONS] -- COMMAND [ARG]...\n")

    def test_messages_pass_and_a_summary_ends_the_log(self) -> None:
        done = run("--", sys.executable, "-c", ECHO, sent=PING)
        assert (done.returncode, done.stdout) == (0, PING)
        assert done.stderr.startswith("nevermind: summary: forwarded 2, dropped 0")

    @pytest.mark.parametrize("late", [0, 0.5])
    @pytest.mark.parametrize("level", ["info", "warning"])
    def test_it_is_the_same_whether_or_not_it_is_over_at_once(
        self, late: float, level: str
    ) -> None:
        """The engine has been imported by then, or was not waited for."""
        server = (
            f"import sys, time; print(sys.stdin.read(), end=''); time.sleep({late}); sys.exit(3)"
        )
        done = run("--log-level", level, "--", sys.executable, "-c", server, sent=PING)
        assert (done.returncode, done.stdout) == (3, PING)
        summary = "nevermind: summary: forwarded 2, dropped 0, cancelled 0, never answered 0\n"
        assert done.stderr == (summary if level == "info" else "")

    def test_the_servers_exit_code_is_ours(self) -> None:
        assert run("--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7

    def test_one_that_dies_after_a_cancel_makes_us_name_the_cure(self) -> None:
        cancel = PING + (
            '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
        )
        hint = (
            "nevermind: hint: server ended with 7 after a cancel:"
            " if it dies of cancels, --cancel absorb keeps them from it\n"
        )
        dies = ["--", sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(7)"]
        done = run(*dies, sent=cancel)
        assert done.returncode == 7
        assert hint in done.stderr
        assert run("--log-level=warning", *dies, sent=cancel).stderr == hint
        assert "hint" not in run("--cancel=absorb", *dies, sent=cancel).stderr
        assert "hint" not in run(*dies, sent=PING).stderr
        ends_well = ["--", sys.executable, "-c", "import sys; sys.stdin.read()"]
        assert "hint" not in run(*ends_well, sent=cancel).stderr

    def test_a_host_that_sends_headers_is_told_of_the_dialect(self) -> None:
        framed = f"Content-Length: {len(PING) - 1}\r\n\r\n{PING[:-1]}"
        echo = ["--log-level=warning", "--", sys.executable, "-c", ECHO]
        done = run(*echo, sent=framed * 3)
        assert (done.returncode, done.stdout.count("Content-Length")) == (0, 3)
        assert done.stderr == (
            "nevermind: hint: the host sends Content-Length headers, which mcp has not:"
            " --dialect lsp may be meant\n"
        )
        assert run("--dialect=lsp", *echo, sent=framed).stderr == ""

    def test_one_that_we_had_to_end_says_nothing_of_cancels(self) -> None:
        cancel = PING + (
            '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
        )
        stays = ["--", sys.executable, "-c", "import time; time.sleep(60)"]
        done = run("--grace=0", *stays, sent=cancel)
        assert done.returncode == 143
        assert "cancelled 1" in done.stderr
        assert "hint" not in done.stderr

    def test_the_log_goes_where_it_is_told_to(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        words = ["--log-format=json", "--log-file", str(path), "--", sys.executable, "-c", ECHO]
        done = run(*words, sent=PING)
        assert (done.returncode, done.stdout, done.stderr) == (0, PING, "")
        summary = json.loads(path.read_text())
        assert (summary["event"], summary["forwarded"]) == ("summary", 2)

    def test_switches_reach_the_session(self) -> None:
        words = ["--noise", "drop", "--log-level", "off", "--", sys.executable, "-c", ECHO]
        assert run(*words, sent="noise\n" + PING).stdout == PING

    def test_variables_reach_the_session(self) -> None:
        words = ["--", sys.executable, "-c", ECHO]
        done = run(*words, sent="noise\n" + PING, NEVERMIND_SHIELD="1", NEVERMIND_LOG_LEVEL="off")
        assert (done.stdout, done.stderr) == (PING, "noise\n")

    def test_the_server_gets_its_own_words(self) -> None:
        code = "import sys; print(sys.argv[1:])"
        words = ["--", sys.executable, "-c", code, "--", "--shield", "a b", ""]
        assert run(*words).stdout == "['--', '--shield', 'a b', '']\n"


def test_nothing_slow_is_imported_before_the_server_is_started() -> None:
    # each of these costs 5 to 100 ms, which a host would wait for the server's first word
    code = "import sys, nevermind_cli.run; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {"click", "dataclasses", "enum", "msgspec", "orjson", "re", "signal", "subprocess"}
    slow |= {"threading", "trio", "typing", "json", "inspect", "nevermind.policy"}
    assert slow.isdisjoint(shown.stdout.split())
