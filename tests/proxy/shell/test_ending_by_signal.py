"""How a run ends by a signal, and how it goes on after Ctrl-C."""

from __future__ import annotations

import pytest

from nevermind.shell.ending import AGAIN, LAST_WORDS, PATIENCE
from nevermind.shell.signals import SIGHUP, SIGINT, SIGTERM
from proxy.shell.ending_story import CLOSE_STDOUT, GRACE, INTERRUPT, KILL, LEAVE, TERMINATE, Story


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
