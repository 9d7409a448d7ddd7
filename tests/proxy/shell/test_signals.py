"""Signals as input: noted in order, seen by a poll, given back as they were found."""

from __future__ import annotations

import select
import signal
import threading
from collections.abc import Iterator

import pytest

from nevermind.shell.signals import OURS, SIGCHLD, SIGHUP, SIGINT, SIGTERM, SignalInbox
from proxy.shell.in_process import told


@pytest.fixture
def inbox() -> Iterator[SignalInbox]:
    inbox = SignalInbox()
    yield inbox
    inbox.release()


def readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])


def test_each_signal_is_noted_in_order(inbox: SignalInbox) -> None:
    assert not readable(inbox.fd)
    signal.raise_signal(SIGHUP)
    signal.raise_signal(SIGTERM)
    assert readable(inbox.fd)
    assert inbox.take() == [SIGHUP, SIGTERM]
    assert not readable(inbox.fd)
    assert inbox.take() == []


def test_a_keyboard_interrupt_is_a_signal_like_any_other(inbox: SignalInbox) -> None:
    signal.raise_signal(SIGINT)
    assert inbox.take() == [SIGINT]


def test_a_storm_of_signals_does_not_block(inbox: SignalInbox) -> None:
    for _ in range(100_000):  # more than the pipe has room for
        inbox.wake()
    signal.raise_signal(SIGTERM)
    assert inbox.take() == [SIGTERM]
    assert not readable(inbox.fd)


def test_another_thread_can_wake_the_poll(inbox: SignalInbox) -> None:
    thread = threading.Thread(target=inbox.wake)
    thread.start()
    assert select.select([inbox.fd], [], [], 30)[0]
    thread.join()
    assert inbox.take() == []


def test_a_plain_loop_is_woken_by_the_signal_itself(inbox: SignalInbox) -> None:
    """Not by the handler, which would only run once the poll is over."""
    inbox.wake_a_plain_loop(True)
    try:
        assert signal.set_wakeup_fd(-1) != -1
    finally:
        inbox.wake_a_plain_loop(False)
    assert signal.set_wakeup_fd(-1) == -1


def test_all_is_given_back() -> None:
    before = [signal.getsignal(number) for number in OURS]
    inbox = SignalInbox()
    assert all(signal.getsignal(number) not in before for number in OURS)
    inbox.release()
    assert [signal.getsignal(number) for number in OURS] == before


@pytest.mark.parametrize(
    ("number", "kept"), [(SIGHUP, True), (SIGINT, True), (SIGTERM, False), (SIGCHLD, False)]
)
def test_what_was_ignored_stays_ignored_where_that_is_a_wish(number: int, kept: bool) -> None:
    """nohup ignores SIGHUP, a shell's background job SIGINT; the others we need."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        inbox = SignalInbox()
        ignored = signal.getsignal(number) is signal.SIG_IGN
        inbox.release()
        assert ignored is kept
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_blocked_signals_wait_until_they_are_let_through(inbox: SignalInbox) -> None:
    inbox.block()
    signal.raise_signal(SIGTERM)
    assert inbox.take() == []
    inbox.unblock()
    assert inbox.take() == [SIGTERM]


def test_the_end_of_a_child_is_heard_though_its_signal_was_blocked() -> None:
    """Some hosts start us with signals blocked; without this one we would never end."""
    blocked = told(
        """
        import json, signal
        from nevermind.shell.signals import SignalInbox
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGUSR1])
        inbox = SignalInbox()
        inbox.block()
        inbox.unblock()
        print(json.dumps([int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])]))
        """
    )
    assert blocked == [signal.SIGUSR1]


def test_importing_it_does_not_import_signal() -> None:
    """Its enums cost more than all the rest that runs before the server is started."""
    slow = told(
        """
        import json, sys
        before = set(sys.modules)
        import nevermind.shell.signals
        print(json.dumps(sorted({"signal", "enum", "typing", "re"} & (set(sys.modules) - before))))
        """
    )
    assert slow == []
