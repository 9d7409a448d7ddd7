"""How a run ends when the server does: it exits, closes its stdout, or leaves children behind."""

from __future__ import annotations

import pytest

from nevermind.shell.ending import PIPE_CAPACITY, QUIET, READING
from nevermind.shell.signals import SIGHUP, SIGINT, SIGTERM
from proxy.shell.ending_story import CLOSE_STDOUT, LEAVE, STOP_READING, TERMINATE, Story


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
