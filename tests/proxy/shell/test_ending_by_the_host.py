"""How a run ends when the host does: its EOF, answers that are still owed, a reader that leaves."""

from __future__ import annotations

import pytest

from nevermind.shell.ending import GRACE_WHILE_WAITING, PATIENCE, QUIET, UNKILLABLE
from proxy.shell.ending_story import (
    CLOSE_SERVER_STDIN,
    CLOSE_STDOUT,
    GRACE,
    KILL,
    LEAVE,
    TERMINATE,
    Story,
)


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
