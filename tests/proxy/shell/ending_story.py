"""An ending told as a story, on a clock that is moved by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nevermind.shell.ending import Act, Ending, View

CLOSE_SERVER_STDIN = Act.CLOSE_SERVER_STDIN
INTERRUPT = Act.INTERRUPT
TERMINATE = Act.TERMINATE
KILL = Act.KILL
STOP_READING = Act.STOP_READING
CLOSE_STDOUT = Act.CLOSE_STDOUT
LEAVE = Act.LEAVE

GRACE = 5.0
"""Seconds that the server has after the end of its stdin."""


class Story:
    """An ``Ending``, the shell's part of it, and the time, which starts at 1000 s.

    ``acts`` asks as a pump does: until there is nothing more to do, and what is asked of
    it is done, with its consequences.
    """

    def __init__(self, grace: float = GRACE) -> None:
        self.waiting = 0
        self.ending = Ending(grace, lambda: self.waiting)
        self.now = 1000.0
        self.view = View()

    def acts(self, *, waiting: int | None = None, **view: object) -> list[Act]:
        self.waiting = self.waiting if waiting is None else waiting
        self.view = replace(self.view, **view)
        done: list[Act] = []
        while acts := self.ending.decide(self.now, self.view):
            done += acts
            if STOP_READING in acts:
                self.server_output_ends()
            if LEAVE in acts:
                break
        return done

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def wait_until_due(self) -> float:
        """Sleep as long as the ending lets us; how long that was."""
        assert self.ending.deadline is not None, "it would sleep for ever"
        slept = self.ending.deadline - self.now
        assert slept > 0, "it would spin"
        self.now = self.ending.deadline
        return slept

    def host_ends(self) -> None:
        self.ending.host_ended(self.now)

    def reader_leaves(self) -> None:
        self.ending.reader_lost(self.now)

    def signal(self, number: int, *, terminal_had_it: bool = False) -> None:
        self.ending.signalled(number, self.now, terminal_had_it=terminal_had_it)

    def server_exits(self, code: int = 0, *, children: bool = False) -> None:
        self.view = replace(self.view, children=children, to_server=0)
        self.ending.server_exited(code, self.now)

    def server_output_ends(self) -> None:
        self.ending.server_output_ended()

    def server_writes(self, count: int = 100) -> None:
        self.ending.read_something(self.now, count)

    def nothing_to_read(self) -> None:
        self.ending.found_nothing()
