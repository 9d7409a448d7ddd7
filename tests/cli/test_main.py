"""The entry: which command, which modules, whatever PYTHONPATH and folder we are started in."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nevermind_cli
from cli.invocations import SCRIPT, nevermind
from nevermind_cli.__main__ import import_ours_first, let_interrupts_end_us
from nevermind_cli.version import VERSION


class TestWords:
    def test_the_version_is_one_line(self) -> None:
        done = nevermind("--version")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"nevermind {VERSION}\n", "")

    @pytest.mark.parametrize("word", ["--help", "-h"])
    def test_help_names_the_commands(self, word: str) -> None:
        done = nevermind(word)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.split()[0] for line in done.stdout.split("Commands:\n")[1].splitlines()] == [
            "run",
            "demo",
            "config",
        ]

    @pytest.mark.parametrize(
        ("words", "line"),
        [
            ((), "nevermind: which command? one of run, demo, config"),
            (("rnu",), "nevermind: no such command 'rnu'; did you mean run?"),
            (("serve",), "nevermind: no such command 'serve'; there are run, demo, config"),
            (("demo", "x"), "nevermind demo: unexpected argument 'x'"),
            (("demo", "--frobnicate"), "nevermind demo: unknown option '--frobnicate'"),
            (("--frobnicate",), "nevermind: unknown option '--frobnicate'"),
            (("a\nb",), "nevermind: no such command 'a\\nb'; there are run, demo, config"),
        ],
    )
    def test_what_is_no_command_is_named_in_one_line(
        self, words: tuple[str, ...], line: str
    ) -> None:
        done = nevermind(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line + "\n")


class TestModules:
    """A host's PYTHONPATH and folder are the server's business."""

    @pytest.fixture
    def hostile(self, tmp_path: Path) -> Path:
        names = "click trio orjson msgspec signal threading nevermind_config config cli proxy"
        for name in names.split():
            (tmp_path / f"{name}.py").write_text("raise RuntimeError('a foreign module')\n")
        return tmp_path

    def test_the_script_is_not_misled(self, hostile: Path) -> None:
        done = nevermind("run", "--help", command=SCRIPT, cwd=hostile, PYTHONPATH=str(hostile))
        assert (done.returncode, done.stderr) == (0, "")

    def test_nor_is_the_module(self, hostile: Path) -> None:
        done = nevermind("run", "--help", cwd=hostile, PYTHONPATH=f"{hostile}:")
        assert (done.returncode, done.stderr) == (0, "")

    def test_nor_is_a_whole_run_and_the_server_gets_the_variable(self, hostile: Path) -> None:
        code = "import os; print(os.environ['PYTHONPATH'])"
        words = ("run", "--log-level=off", "--", sys.executable, "-c", code)
        done = nevermind(*words, command=SCRIPT, cwd=hostile, PYTHONPATH=str(hostile))
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{hostile}\n", "")

    def test_foreign_entries_go_last_in_their_order(self) -> None:
        path = ["/here", "/one", "/lib", "/two", "/site"]
        import_ours_first(path, ["/one", "/two/"])
        assert path == ["/lib", "/site", "/here", "/one", "/two"]

    def test_an_empty_entry_is_the_current_folder(self) -> None:
        path = ["/here", os.getcwd(), "/lib"]
        import_ours_first(path, ["", "/one"])
        assert path == ["/lib", "/here", os.getcwd()]

    def test_where_they_are_how_we_were_found_they_stay(self) -> None:
        root = str(Path(nevermind_cli.__file__).parent.parent)
        path = ["/here", root, "/lib"]
        import_ours_first(path, [root])
        assert path == ["/here", root, "/lib"]


def test_the_package_says_which_version_it_is() -> None:
    import importlib.metadata

    assert importlib.metadata.version("nevermind") == VERSION


class TestInterrupts:
    """Ctrl-C before the server runs: the end, without a traceback."""

    @pytest.fixture(autouse=True)
    def _as_found(self) -> Iterator[None]:
        found = signal.getsignal(signal.SIGINT)
        yield
        signal.signal(signal.SIGINT, found)

    def test_python_s_own_handler_gives_way(self) -> None:
        """It would raise KeyboardInterrupt wherever we are."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        let_interrupts_end_us()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL

    def test_what_was_ignored_stays_ignored(self) -> None:
        """As under ``nohup`` and the like; the server inherits it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        let_interrupts_end_us()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
