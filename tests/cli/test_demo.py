"""The demonstration shows what it says it shows, or says that it did not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nevermind_cli import demo
from nevermind_cli.demo_server import Server
from nevermind_cli.demo_side import describe


@pytest.fixture
def paper() -> list[str]:
    return []


class TestTheShow:
    def test_it_ends_well(
        self, paper: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Whatever is configured."""
        monkeypatch.setenv("NEVERMIND_LATE_RESPONSE", "forward")
        (tmp_path / "nevermind").mkdir()
        (tmp_path / "nevermind" / "nevermind.toml").write_text('late-progress = "forward"')
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        assert demo.show(paper.append) == 0
        lines = "\n".join(paper).split("\n")
        assert all(line.isascii() and len(line) <= 80 for line in lines)
        rows = [line[7:].split("|") for line in lines if line[4:7] == "s  "]
        left = [row[0].strip() for row in rows]
        right = [words for row in rows if (words := row[1].strip())]
        assert [words for words in left if words.startswith(("!!", "**"))] == [
            "!! error for 1, code 0",
            "!! progress 2 of 4 for 1",
            "!! progress 3 of 4 for 1",
            "!! progress 4 of 4 for 1",
            "!! result for 1",
            "** the server is gone, exit code 1",
        ]
        assert right == [
            "-> initialize, id 0",
            "<- result for 0",
            "-> notifications/initialized",
            "-> tools/call, id 1",
            "<- progress 1 of 4 for 1",
            "-> cancel 1",
            "-> ping, id 2",
            "<- result for 2",
            "-> cancel 1",
            "-> tools/list, id 3",
            "<- result for 3",
        ]
        log = "\n".join(lines)
        assert log.count("drop late-response") == 2
        assert log.count("drop late-progress") == 3
        assert log.count("drop redundant-cancel") == 1

    def test_it_says_so_when_the_proxy_does_not_help(
        self, paper: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(demo, "PROXY", ["env"])  # a plain pipe
        assert demo.show(paper.append) == 1
        complaints = [line for line in paper if line.startswith("This was not as promised")]
        assert [line.partition(": ")[2] for line in complaints] == [
            "behind nevermind, nothing of that reaches the host.",
            "behind nevermind, all other requests are answered.",
            "behind nevermind, the server ends when the host does.",
        ]

    def test_it_says_so_when_the_server_behaves(
        self, paper: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kind = "import sys, json\nfor line in sys.stdin:\n m = json.loads(line)\n"
        kind += " if m.get('id') in (0, 2, 3): print(json.dumps({'id': m['id'], 'result': {}}))\n"
        monkeypatch.setattr(demo, "SERVER", [sys.executable, "-u", "-c", kind])
        assert demo.show(paper.append) == 1
        complaints = [line for line in paper if line.startswith("This was not as promised")]
        assert [line.partition(": ")[2] for line in complaints] == [
            "bare, the cancelled call is answered twice and its progress goes on.",
            "bare, the second cancel kills the server.",
        ]

    def test_it_does_not_wait_for_ever(
        self, paper: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(demo, "PATIENCE", 0.1)
        mute = 'import time\nwhile True: print(\'{"method": "x"}\', flush=True); time.sleep(0.01)'
        monkeypatch.setattr(demo, "SERVER", [sys.executable, "-c", mute])
        assert demo.show(paper.append) == 1
        assert "not over after 0.1 s" in paper


class TestTheServer:
    def receive(
        self, server: Server, capsys: pytest.CaptureFixture[str], **message: object
    ) -> list[str]:
        server.receive({"jsonrpc": "2.0", **message})
        return [describe(json.loads(line)) for line in capsys.readouterr().out.splitlines()]

    def test_it_answers_a_cancelled_call_twice_and_goes_on_with_progress(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("nevermind_cli.demo_server.PAUSE", 0)
        server = Server()
        call = {"_meta": {"progressToken": 9}}
        cancel = {"requestId": 5}
        assert self.receive(server, capsys, id=5, method="tools/call", params=call) == [
            "progress 1 of 4 for 9"
        ]
        assert self.receive(server, capsys, method="notifications/cancelled", params=cancel) == [
            "error for 5, code 0",
            "progress 2 of 4 for 9",
            "progress 3 of 4 for 9",
            "progress 4 of 4 for 9",
            "result for 5",
        ]
        with pytest.raises(SystemExit, match="responded to already"):
            self.receive(server, capsys, method="notifications/cancelled", params=cancel)

    def test_what_it_does_not_know_it_ignores(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.receive(Server(), capsys, method="notifications/initialized") == []


def test_the_command_runs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nevermind_cli", "demo"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("One server, asked the same by one host.")
