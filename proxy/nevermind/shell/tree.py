"""The server's tree of processes: who is in it, and how to signal all of it.

Never by process group: the server shares ours, and ours may be the host's.  As sub-reaper
we are an ancestor of all that the server ever started, so the tree is whatever /proc shows
below us; where there is no such thing, it is the direct child.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from nevermind.shell.signals import SIGINT
from nevermind.shell.spawn import exit_code_of


def parse_stat(stat: bytes) -> tuple[int, int, bytes]:
    """(parent, process group, state) out of one ``/proc/PID/stat``.

    The command's name stands in parentheses and may hold any byte, closing ones included.
    """
    fields = stat[stat.rindex(b")") + 1 :].split()
    return int(fields[1]), int(fields[2]), fields[0]


def below(root: int, parents: dict[int, int]) -> list[int]:
    """All descendants of ``root``, parents before their children."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = []
    level = [root]
    while level:
        level = [pid for parent in level for pid in children.get(parent, ())]
        found.extend(level)
    return found


class ServerTree:
    """The server and what it started.

    ``root`` is the server's pid.  ``whole`` says that we adopt its orphans, so that its
    descendants are ours.  ``others`` are children of ours that are not the server's.
    """

    def __init__(self, root: int, *, whole: bool, others: frozenset[int] = frozenset()) -> None:
        self.root = root
        self._whole = whole
        self._others = others
        self._reaped = False

    def members(self) -> dict[int, int]:
        """pid → process group of everyone alive in the tree, the direct child first."""
        parents: dict[int, int] = {}
        groups: dict[int, int] = {}
        if self._whole:
            for name in _processes():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        parent, group, state = parse_stat(file.read())
                except (OSError, ValueError):
                    continue  # it ended while we looked
                parents[int(name)] = parent
                if state not in b"ZX":
                    groups[int(name)] = group
        if parents:
            for pid in self._others:
                parents.pop(pid, None)
            return {pid: groups[pid] for pid in below(os.getpid(), parents) if pid in groups}
        if self._reaped:
            return {}
        try:
            return {self.root: os.getpgid(self.root)}
        except OSError:
            return {}

    def signal(self, number: int) -> None:
        """Send ``number`` to everyone in the tree."""
        _send(number, self.members())

    def interrupt(self) -> None:
        """Send SIGINT to those who share our process group, as a terminal would."""
        ours = os.getpgrp()
        _send(SIGINT, [pid for pid, group in self.members().items() if group == ours])

    def reap(self) -> tuple[int | None, bool]:
        """Collect what has ended: the server's exit code if it is among them, and whether
        any of the tree is left.
        """
        code = None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return code, False
            if pid == 0:
                return code, not self._others or bool(self.members())
            if pid == self.root and not self._reaped:
                self._reaped = True
                code = exit_code_of(status)


def in_foreground() -> bool:
    """Whether our group has the terminal, which then sent its Ctrl-C to the server as well."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _processes() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _send(number: int, pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue  # it ended, or changed its user
