"""Starting the server: which file is run, and which cannot be."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from nevermind.shell.spawn import NOT_EXECUTABLE, NOT_FOUND, CannotStart, locate, printable
from proxy.shell.in_process import python, told
from proxy.shell.started import START


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
