"""How a run ends, told as stories on a clock that is moved by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nevermind.shell.ending import (
    AGAIN,
    GRACE_WHILE_WAITING,
    LAST_WORDS,
    PATIENCE,
    PIPE_CAPACITY,
    QUIET,
    READING,
    UNKILLABLE,
    Act,
    Ending,
    View,
)
from nevermind.shell.signals import SIGHUP, SIGINT, SIGTERM

CLOSE_SERVER_STDIN = Act.CLOSE_SERVER_STDIN
INTERRUPT = Act.INTERRUPT
TERMINATE = Act.TERMINATE
KILL = Act.KILL
STOP_READING = Act.STOP_READING
CLOSE_STDOUT = Act.CLOSE_STDOUT
LEAVE = Act.LEAVE

GRACE = 5.0


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
        self.view = replace(self.view, **view)  # type: ignore[arg-type]
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


@pytest.fixture
def story() -> Story:
    return Story()


class TestTheHostEnds:
    """The host closes our stdin: the server's is closed, and it has the grace to finish."""

    def test_nothing_is_asked_before_anything_has_happened(self, story: Story) -> None:
        assert not story.ending.begun
        assert story.acts() == []
        assert story.ending.deadline is None

    def test_the_servers_stdin_is_closed_at_once(self, story: Story) -> None:
        story.host_ends()
        assert story.ending.begun
        assert story.acts() == [CLOSE_SERVER_STDIN]
        assert story.acts() == []

    def test_but_only_when_all_that_the_host_wrote_is_delivered(self, story: Story) -> None:
        story.host_ends()
        assert story.acts(to_server=7) == []
        story.wait(1)
        assert story.acts(to_server=0) == [CLOSE_SERVER_STDIN]

    def test_a_server_that_goes_in_time_leaves_us_its_code(self, story: Story) -> None:
        story.host_ends()
        story.acts()
        story.wait(3)
        story.server_exits(4)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]
        assert story.ending.code == 4

    def test_a_server_that_stays_is_terminated_and_then_killed(self, story: Story) -> None:
        story.host_ends()
        story.acts()
        assert story.wait_until_due() == GRACE
        assert story.acts() == [TERMINATE]
        assert story.wait_until_due() == PATIENCE
        assert story.acts() == [KILL]
        story.server_exits(137)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]
        assert story.ending.code == 137

    def test_the_grace_runs_from_the_eof_even_if_nothing_can_be_delivered(
        self, story: Story
    ) -> None:
        story.host_ends()
        assert story.acts(to_server=1) == []
        story.wait(GRACE)
        assert story.acts() == [TERMINATE]

    def test_no_grace_at_all(self) -> None:
        story = Story(grace=0)
        story.host_ends()
        assert story.acts() == [CLOSE_SERVER_STDIN, TERMINATE]

    def test_what_ignores_the_kill_does_not_hold_us(self, story: Story) -> None:
        """A process in an uninterruptible sleep."""
        story.host_ends()
        story.wait(GRACE)
        story.acts()
        story.wait(PATIENCE)
        story.acts()
        slept = 0.0
        while (acts := story.acts()) in ([], [KILL]):
            slept += story.wait_until_due()
        assert slept == pytest.approx(UNKILLABLE)
        assert acts[-1] is LEAVE
        assert story.ending.code == 137


class TestAnAnswerIsStillOwed:
    """While an uncancelled client request waits, the grace is 30 s."""

    def test_the_grace_is_longer(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=1)
        assert story.wait_until_due() == GRACE
        assert story.acts() == []
        assert story.wait_until_due() == GRACE_WHILE_WAITING - GRACE
        assert story.acts() == [TERMINATE]

    def test_a_grace_that_is_longer_still_is_kept(self) -> None:
        story = Story(grace=60)
        story.host_ends()
        story.acts(waiting=1)
        assert story.wait_until_due() == 60

    def test_within_the_plain_grace_it_makes_no_difference(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=1)
        story.wait(2)
        story.server_writes()
        story.acts(waiting=0)
        assert story.wait_until_due() == GRACE - 2
        assert story.acts() == [TERMINATE]

    def test_beyond_it_the_end_comes_once_all_is_answered_and_quiet(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=2)
        story.wait(GRACE + 1)
        assert story.acts(waiting=1) == []
        story.wait(1)
        story.server_writes()
        assert story.acts(waiting=0) == []
        assert story.wait_until_due() == pytest.approx(QUIET)
        assert story.acts() == [TERMINATE]

    def test_the_rest_of_a_long_answer_is_waited_for(self, story: Story) -> None:
        """Its head has retired the request, ten megabytes are still to come."""
        story.host_ends()
        story.acts(waiting=1)
        story.wait(GRACE + 1)
        story.acts()
        for _ in range(20):
            story.server_writes(65536)
            assert story.acts(waiting=0) == []
            story.wait(QUIET / 2)
        story.wait(QUIET)
        assert story.acts() == [TERMINATE]

    def test_a_slow_host_is_no_silence_of_the_server(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=1)
        story.wait(GRACE + 1)
        story.acts()
        story.server_writes()
        assert story.acts(waiting=0, reading=False, to_host=1) == []
        assert story.wait_until_due() == pytest.approx(GRACE_WHILE_WAITING - GRACE - 1)

    def test_not_if_nobody_can_read_the_answer(self, story: Story) -> None:
        story.reader_leaves()
        story.host_ends()
        story.acts(waiting=1)
        assert story.wait_until_due() == GRACE

    def test_not_if_the_server_has_closed_its_stdout(self, story: Story) -> None:
        story.server_output_ends()
        story.host_ends()
        assert story.acts(waiting=1) == [CLOSE_SERVER_STDIN, CLOSE_STDOUT]
        assert story.wait_until_due() == GRACE


class TestOurStdoutLosesItsReader:
    """As good as the host's EOF, but for what the host had written before."""

    def test_what_the_host_wrote_is_read_first(self, story: Story) -> None:
        story.reader_leaves()
        assert story.acts() == []
        story.wait(1)
        story.host_ends()
        assert story.acts() == [CLOSE_SERVER_STDIN]

    def test_the_grace_runs_from_the_loss(self, story: Story) -> None:
        story.reader_leaves()
        story.acts()
        story.wait(2)
        story.host_ends()
        story.acts()
        assert story.wait_until_due() == GRACE - 2
        assert story.acts() == [TERMINATE]

    def test_after_the_hosts_eof_it_starts_nothing_anew(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=1)
        story.wait(GRACE + 1)
        assert story.acts() == []
        story.reader_leaves()
        assert story.acts() == [TERMINATE]


class TestSigtermAndSighup:
    """The tree is terminated at once, and all is gone well within a host's 2 s."""

    @pytest.mark.parametrize(("number", "code"), [(SIGTERM, 143), (SIGHUP, 129)])
    def test_the_tree_goes_and_the_code_tells_the_signal(
        self, story: Story, number: int, code: int
    ) -> None:
        story.signal(number)
        assert story.acts() == [TERMINATE]
        story.server_exits(0)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]
        assert story.ending.code == code

    def test_what_is_left_is_killed_after_a_second(self, story: Story) -> None:
        story.signal(SIGTERM)
        story.acts()
        assert story.wait_until_due() == PATIENCE
        assert story.acts() == [KILL]

    def test_a_wrapper_that_goes_first_does_not_save_its_server(self, story: Story) -> None:
        story.signal(SIGTERM)
        story.acts()
        story.server_exits(143, children=True)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT]
        assert story.wait_until_due() == PATIENCE
        assert story.acts() == [KILL]
        assert story.acts(children=False) == [LEAVE]

    def test_what_keeps_appearing_is_killed_again(self, story: Story) -> None:
        story.signal(SIGTERM)
        story.acts()
        story.wait(PATIENCE)
        assert story.acts() == [KILL]
        assert story.wait_until_due() == pytest.approx(AGAIN)
        assert story.acts() == [KILL]

    def test_a_host_that_does_not_read_does_not_hold_us(self, story: Story) -> None:
        story.signal(SIGTERM)
        story.acts(to_host=5000, reading=False)
        story.server_exits(143)
        assert story.acts() == []
        assert story.wait_until_due() == LAST_WORDS
        assert story.acts() == [LEAVE]
        assert story.ending.code == 143

    def test_a_host_that_does_read_gets_everything(self, story: Story) -> None:
        story.signal(SIGTERM)
        story.acts(to_host=5000)
        story.server_exits(143)
        story.server_output_ends()
        story.wait(0.3)
        assert story.acts(to_host=10) == []
        story.wait(0.3)
        assert story.acts(to_host=0) == [CLOSE_STDOUT, LEAVE]

    def test_even_a_server_that_cannot_be_killed_does_not_hold_us(self, story: Story) -> None:
        story.signal(SIGTERM)
        elapsed = 0.0
        while (acts := story.acts()) in ([TERMINATE], [KILL], []):
            elapsed += story.wait_until_due()
        assert acts[-1] is LEAVE
        assert elapsed <= 1.6

    def test_the_first_signal_counts(self, story: Story) -> None:
        story.signal(SIGHUP)
        assert story.acts() == [TERMINATE]
        story.signal(SIGTERM)
        assert story.acts() == []
        story.server_exits(0)
        story.server_output_ends()
        story.acts()
        assert story.ending.code == 129

    def test_during_the_grace_it_ends_the_grace(self, story: Story) -> None:
        story.host_ends()
        story.acts(waiting=1)
        story.wait(2)
        story.signal(SIGTERM)
        assert story.acts() == [TERMINATE]

    def test_after_the_graces_own_sigterm_there_is_no_second_one(self, story: Story) -> None:
        story.host_ends()
        story.wait(GRACE)
        story.acts()
        story.wait(0.4)
        story.signal(SIGTERM)
        assert story.acts() == []
        assert story.wait_until_due() == pytest.approx(PATIENCE - 0.4)
        assert story.acts() == [KILL]

    def test_when_the_server_has_already_gone_its_helpers_are_left_alone(
        self, story: Story
    ) -> None:
        story.server_exits(0, children=True)
        story.server_output_ends()
        story.acts(to_host=10)
        story.signal(SIGTERM)
        assert story.acts() == []
        assert story.wait_until_due() == LAST_WORDS
        assert story.acts() == [LEAVE]
        assert story.ending.code == 143


class TestSigint:
    """Ctrl-C is the server's to answer: one that survives it keeps its host."""

    def test_it_is_handed_on_and_changes_nothing_else(self, story: Story) -> None:
        story.signal(SIGINT)
        assert story.acts() == [INTERRUPT]
        assert story.ending.deadline is None
        story.signal(SIGINT)
        assert story.acts() == [INTERRUPT]

    def test_unless_the_terminal_has_done_that(self, story: Story) -> None:
        story.signal(SIGINT, terminal_had_it=True)
        assert story.acts() == []

    def test_the_code_is_the_servers(self, story: Story) -> None:
        story.signal(SIGINT)
        story.acts()
        story.server_exits(130)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]
        assert story.ending.code == 130

    def test_when_the_server_has_gone_it_is_for_us(self, story: Story) -> None:
        """Somebody at a terminal waits for a reader that does not read."""
        story.server_exits(0)
        story.server_output_ends()
        story.acts(to_host=10)
        story.signal(SIGINT)
        story.acts()
        assert story.wait_until_due() == LAST_WORDS
        assert story.acts() == [LEAVE]
        assert story.ending.code == 130


class TestTheServerExits:
    """What it wrote is delivered, then we go, with its code."""

    def test_at_once_when_its_output_has_ended(self, story: Story) -> None:
        story.server_exits(3)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]
        assert story.ending.code == 3

    def test_a_slow_reader_gets_all_of_it(self, story: Story) -> None:
        story.server_exits(0)
        story.server_output_ends()
        assert story.acts(to_host=1) == []
        story.wait(3600)
        assert story.acts(to_host=1) == []
        assert story.ending.deadline is None
        assert story.acts(to_host=0) == [CLOSE_STDOUT, LEAVE]

    def test_helpers_of_a_server_that_ended_by_itself_are_left_alone(self, story: Story) -> None:
        story.server_exits(0, children=True)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]

    def test_its_stdin_needs_no_closing_any_more(self, story: Story) -> None:
        story.host_ends()
        story.server_exits(0)
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT, LEAVE]


class TestAHelperHoldsThePipe:
    """The server is gone, its stdout is not at its end."""

    def test_a_quiet_one_is_not_waited_for(self, story: Story) -> None:
        story.server_exits(0)
        story.nothing_to_read()
        assert story.acts() == []
        assert story.wait_until_due() == pytest.approx(QUIET)
        assert story.acts() == [STOP_READING, CLOSE_STDOUT, LEAVE]

    def test_each_byte_starts_the_silence_again(self, story: Story) -> None:
        story.server_exits(0)
        story.nothing_to_read()
        story.acts()
        story.wait(QUIET * 0.9)
        story.server_writes()
        assert story.acts() == []
        story.wait(QUIET * 0.9)
        assert story.acts() == []
        story.wait(QUIET * 0.2)
        assert STOP_READING in story.acts()

    def test_one_that_goes_on_writing_is_read_for_two_seconds(self, story: Story) -> None:
        story.server_exits(0)
        story.nothing_to_read()
        read_for = 0.0
        while not (acts := story.acts()):
            story.wait(0.125)
            read_for += 0.125
            story.server_writes()
        assert read_for == READING
        assert acts[0] is STOP_READING

    def test_what_was_read_is_delivered_before_we_leave(self, story: Story) -> None:
        story.server_exits(0)
        story.nothing_to_read()
        story.acts(to_host=9)
        story.wait(QUIET)
        assert story.acts() == [STOP_READING]
        story.wait(60)
        assert story.acts() == []
        assert story.acts(to_host=0) == [CLOSE_STDOUT, LEAVE]

    def test_time_in_which_a_full_queue_kept_us_from_reading_does_not_count(
        self, story: Story
    ) -> None:
        story.server_exits(0)
        story.nothing_to_read()
        assert story.acts(reading=False, to_host=1) == []
        assert story.ending.deadline is None
        story.wait(30)
        assert story.acts(reading=True) == []
        assert story.wait_until_due() == pytest.approx(QUIET)
        assert story.acts() == [STOP_READING]

    def test_what_the_server_itself_wrote_is_read_however_long_that_takes(
        self, story: Story
    ) -> None:
        """We were stopped for a minute, and the pipe is still full of its last words."""
        story.server_exits(0)
        story.acts()
        story.wait(60)
        assert story.acts() == []
        story.server_writes(65536)
        assert story.acts() == []
        story.wait(60)
        story.nothing_to_read()
        assert STOP_READING in story.acts()

    def test_a_flood_that_is_more_than_a_pipe_holds_is_not_its_own(self, story: Story) -> None:
        story.server_exits(0)
        story.acts()
        story.wait(READING)
        story.server_writes(PIPE_CAPACITY - 1)
        assert story.acts() == []
        story.server_writes(1)
        assert STOP_READING in story.acts()


class TestTheServerClosesItsStdout:
    """It lives on: ours is closed, and its stdin is still fed."""

    def test_ours_is_closed_when_all_is_delivered(self, story: Story) -> None:
        story.server_output_ends()
        assert story.acts(to_host=5, to_server=5) == []
        assert story.acts(to_host=0) == [CLOSE_STDOUT]
        assert story.ending.deadline is None

    def test_its_exit_is_still_waited_for(self, story: Story) -> None:
        story.server_output_ends()
        assert story.acts() == [CLOSE_STDOUT]
        story.wait(3600)
        assert story.acts() == []
        story.server_exits(5)
        assert story.acts() == [LEAVE]
        assert story.ending.code == 5


class TestUnprompted:
    """A server that nobody has signalled ended for reasons of its own."""

    def test_it_ends_by_itself(self, story: Story) -> None:
        story.server_exits(1)
        assert story.ending.unprompted

    def test_it_ends_as_its_stdin_is_closed(self, story: Story) -> None:
        story.host_ends()
        story.acts()
        story.server_exits(1)
        assert story.ending.unprompted

    def test_we_had_to_end_it(self, story: Story) -> None:
        story.host_ends()
        story.acts()
        story.wait_until_due()
        assert story.acts() == [TERMINATE]
        story.server_exits(143)
        assert not story.ending.unprompted

    @pytest.mark.parametrize("number", [SIGTERM, SIGHUP, SIGINT])
    @pytest.mark.parametrize("terminal_had_it", [True, False])
    def test_we_were_told_to_go(self, story: Story, number: int, terminal_had_it: bool) -> None:
        story.signal(number, terminal_had_it=terminal_had_it)
        story.server_exits(1)
        assert not story.ending.unprompted
