"""Opening the log file: for us alone, never for long, never our own stdout."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nevermind.shell.journal_file import open_log


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    descriptor = open_log(str(tmp_path / "log"))
    assert stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o600
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


def test_an_old_file_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old\n")
    descriptor = open_log(str(path))
    os.write(descriptor, b"new\n")
    os.close(descriptor)
    assert path.read_bytes() == b"old\nnew\n"


def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    os.close(open_log("~/log"))
    assert (tmp_path / "log").exists()


@pytest.mark.parametrize("name", ["no/such/folder/log", "."])
def test_what_cannot_be_opened_says_why(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="directory"):
        open_log(name)


def test_a_named_pipe_without_a_reader_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="No such device"):
        open_log(str(path))


def _in_a_process(code: str, stdout: int | None = subprocess.PIPE) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    return done.stderr


def test_our_own_stdout_is_refused() -> None:
    code = "from nevermind.shell.journal_file import open_log; open_log('/dev/stdout')"
    assert "our own stdout" in _in_a_process(code)


def test_a_device_may_be_both(tmp_path: Path) -> None:
    code = "from nevermind.shell.journal_file import open_log; open_log('/dev/null')"
    assert _in_a_process(code, stdout=subprocess.DEVNULL) == ""


def test_a_closed_stdin_leaves_its_number_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; os.close(0)\n"
        "from nevermind.shell.journal_file import open_log\n"
        f"print(open_log({str(tmp_path / 'log')!r}) > 2, file=sys.stderr)\n"
        "try: os.fstat(0)\n"
        "except OSError: print('free', file=sys.stderr)"
    )
    assert _in_a_process(code).split() == ["True", "free"]


def test_with_stdout_closed_its_number_may_be_the_files(tmp_path: Path) -> None:
    script = (
        "import os, sys; os.close(1); from nevermind.shell.journal_file import open_log;"
        "os.write(open_log(sys.argv[1]), b'line')"
    )
    path = tmp_path / "log"
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == 0
    assert path.read_bytes() == b"line"
