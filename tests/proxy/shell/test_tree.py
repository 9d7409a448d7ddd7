"""The server's tree: found in /proc, signalled one by one, its exit code collected."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from nevermind.shell.tree import ServerTree, below, in_foreground, parse_stat
from proxy.shell.in_process import told

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

NO_PROCESS = 2**22 + 1
"""Beyond the largest pid that Linux gives."""


class TestReadingProc:
    def test_a_stat_line(self) -> None:
        assert parse_stat(b"42 (cat) S 7 6 6 0 -1 4194304\n") == (7, 6, b"S")

    @pytest.mark.parametrize("name", [b"a b", b") R 1 1 (", b"((", b"\xff\n", b""])
    def test_a_program_may_have_any_name(self, name: bytes) -> None:
        assert parse_stat(b"42 (" + name + b") Z 7 6 6 0\n") == (7, 6, b"Z")

    def test_descendants_come_after_their_parents(self) -> None:
        parents = {5: 4, 4: 2, 3: 2, 2: 1, 9: 8, 1: 0}
        assert below(1, parents) == [2, 4, 3, 5]
        assert below(5, parents) == []
        assert below(77, parents) == []


@linux_only
class TestARealTree:
    """A shell, its child, an orphan in a session of its own: started in a process apart."""

    PROLOGUE = """
        import json, os, signal, subprocess, sys, time
        from nevermind.shell.linux import adopt_orphans
        from nevermind.shell.tree import ServerTree
        assert adopt_orphans()
        SLEEPER = '''import signal, sys, time
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print(flush=True)
        time.sleep(60)'''.replace("        ", "")
        shell = subprocess.Popen(
            ["sh", "-c", '"$0" -c "$1" & setsid "$0" -c "$1" & (setsid "$0" -c "$1" &) ; wait',
             sys.executable, SLEEPER],
            stdout=subprocess.PIPE,
        )
        for _ in range(3):
            assert shell.stdout.readline()
        tree = ServerTree(shell.pid, whole=True)
        def ended():
            ends = {}
            while True:
                try:
                    pid, status = os.waitpid(-1, 0)
                except ChildProcessError:
                    return ends
                ends[pid] = os.waitstatus_to_exitcode(status)
    """

    def test_everyone_is_found(self) -> None:
        first, count, us_among_them = told(
            self.PROLOGUE
            + """
        members = tree.members()
        print(json.dumps([list(members)[0] == shell.pid, len(members), os.getpid() in members]))
        tree.signal(9)
        """
        )
        assert first
        assert count == 4
        assert not us_among_them

    def test_everyone_is_signalled_whatever_session_they_chose(self) -> None:
        codes = told(
            self.PROLOGUE
            + """
        tree.signal(signal.SIGTERM)
        print(json.dumps(sorted(ended().values())))
        """
        )
        assert codes == [-15, -15, -15, -15]

    def test_an_interrupt_reaches_our_group_alone_and_not_ourselves(self) -> None:
        """As from a terminal, but neither us nor our host, who are in the group too."""
        left, ours = told(
            self.PROLOGUE
            + """
        ours = []
        signal.signal(signal.SIGINT, lambda *_: ours.append(1))
        tree.interrupt()
        while len(tree.members()) > 2:  # the shell, and what it started in our group
            time.sleep(0.01)
        print(json.dumps([len(tree.members()), ours]))
        tree.signal(9)
        """
        )
        assert left == 2
        assert ours == []

    def test_children_of_ours_that_are_not_the_servers_are_left_out(self) -> None:
        """A script started them, and then became us by exec; so are their own children."""
        among_others, left, alive = told(
            self.PROLOGUE
            + """
        elder = subprocess.Popen(["sh", "-c", '"$0" -c "$1"; :', sys.executable, SLEEPER],
                                 stdout=subprocess.PIPE)
        elder.stdout.readline()
        everyone = len(tree.members())
        tree = ServerTree(shell.pid, whole=True, others=frozenset([elder.pid]))
        among_others = everyone - len(tree.members())
        tree.signal(9)
        left = True
        while left:
            left = tree.reap()[1]
        print(json.dumps([among_others, left, elder.poll() is None]))
        ServerTree(0, whole=True).signal(9)
        """
        )
        assert among_others == 2
        assert not left
        assert alive

    def test_the_dead_are_not_members(self) -> None:
        assert (
            told(
                self.PROLOGUE
                + """
        tree.signal(9)
        while tree.members():
            time.sleep(0.01)
        print(json.dumps(list(tree.members())))
        """
            )
            == []
        )


class TestReaping:
    PROLOGUE = """
        import json, os, subprocess, sys, time
        from nevermind.shell.tree import ServerTree
        def start(*command):
            return subprocess.Popen(command)
        def reap_until_gone(tree):
            code, left = None, True
            while left:
                ended, left = tree.reap()
                code = code if ended is None else ended
                time.sleep(0.01)
            return code
    """

    @pytest.mark.parametrize(("end", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
    def test_the_servers_exit_code(self, end: str, code: int) -> None:
        assert (
            told(
                self.PROLOGUE
                + """
        server = start("sh", "-c", sys.argv[1])
        print(json.dumps(reap_until_gone(ServerTree(server.pid, whole=True))))
        """,
                end,
            )
            == code
        )

    def test_orphans_are_collected_too_and_nobody_takes_them_for_the_server(self) -> None:
        code = told(
            self.PROLOGUE
            + """
        orphan = start("sh", "-c", "exit 9")
        server = start("sh", "-c", "exit 3")
        print(json.dumps(reap_until_gone(ServerTree(server.pid, whole=True))))
        """
        )
        assert code == 3

    def test_while_it_runs_there_is_no_code(self) -> None:
        running = told(
            self.PROLOGUE
            + """
        server = start("sleep", "60")
        print(json.dumps(ServerTree(server.pid, whole=True).reap()))
        server.kill()
        """
        )
        assert running == [None, True]

    def test_after_the_last_child_there_is_nobody_to_wait_for(self) -> None:
        assert told(
            self.PROLOGUE + "\n        print(json.dumps(ServerTree(1, whole=True).reap()))\n"
        ) == [None, False]


class TestWhereOrphansAreNotAdopted:
    """Elsewhere than on Linux, or where /proc cannot be read: the direct child."""

    def test_the_tree_is_the_direct_child(self) -> None:
        assert ServerTree(os.getpid(), whole=False).members() == {os.getpid(): os.getpgrp()}

    def test_a_child_that_is_gone_is_no_tree(self) -> None:
        assert ServerTree(NO_PROCESS, whole=False).members() == {}

    def test_proc_may_be_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def no_proc(path: str) -> list[str]:
            raise FileNotFoundError(path)

        monkeypatch.setattr("os.listdir", no_proc)
        assert ServerTree(os.getpid(), whole=True).members() == {os.getpid(): os.getpgrp()}

    def test_signalling_who_is_gone_is_no_error(self) -> None:
        ServerTree(NO_PROCESS, whole=False).signal(15)


class TestTheTerminal:
    def test_without_a_terminal_we_are_not_in_its_foreground(self) -> None:
        assert (
            told(
                """
            import json
            from nevermind.shell.tree import in_foreground
            print(json.dumps(in_foreground()))
            """,
                start_new_session=True,
            )
            is False
        )

    @linux_only
    def test_a_session_with_a_terminal(self, tmp_path: Path) -> None:
        """In front we had its Ctrl-C ourselves; in a background group nobody had."""
        answers = told(
            """
            import fcntl, json, os, pty, termios
            pid, terminal = pty.fork()
            if pid == 0:
                from nevermind.shell.tree import in_foreground
                front = in_foreground()
                if os.fork() == 0:
                    os.setpgid(0, 0)
                    open(os.path.join(os.environ["ANSWERS"], "back"), "w").write(
                        json.dumps(in_foreground()))
                    os._exit(0)
                os.wait()
                open(os.path.join(os.environ["ANSWERS"], "front"), "w").write(json.dumps(front))
                os._exit(0)
            os.waitpid(pid, 0)
            read = lambda name: json.load(open(os.path.join(os.environ["ANSWERS"], name)))
            print(json.dumps([read("front"), read("back")]))
            """,
            env={**os.environ, "ANSWERS": str(tmp_path)},
        )
        assert answers == [True, False]

    def test_asking_is_harmless(self) -> None:
        assert in_foreground() in (True, False)
