"""Full pipes: who is held up, who is not, and what a cancel still does."""

from __future__ import annotations

from e2e.harness import Conversation, cancel, encode, log_message, progress, request, result
from e2e.harness.processes import resident_mib

MIB = 1024 * 1024


def test_a_server_that_does_not_read_is_still_heard() -> None:
    large = request(1, blob="A" * 3_000_000)
    with Conversation() as wire:
        wire.server_stops_reading()
        wire.client_sends(large)
        wire.passes_to_client(log_message("one"), log_message("two"))
        wire.server_reads_on()
        wire.server_receives(large)


def test_a_host_that_does_not_read_is_still_heard() -> None:
    large = log_message("A" * 3_000_000)
    with Conversation() as wire:
        wire.client_stops_reading()
        wire.server_sends(large)
        wire.passes_to_server(request(1), request(2))
        wire.client_reads_on()
        wire.client_receives(large)


def test_more_than_the_queues_hold_may_cross() -> None:
    """24 MiB each way at once: both queues fill, and neither waits for the other."""
    up, down = request(1, blob="A" * 8 * MIB), log_message("B" * 8 * MIB)
    with Conversation() as wire:
        wire.client_sends(up, up, up)
        wire.server_sends(down, down, down)
        wire.client_receives(down, down, down)
        wire.server_receives(up, up, up)


def test_a_cancel_counts_although_the_server_does_not_read() -> None:
    large = request(2, blob="A" * 3_000_000)
    with Conversation() as wire:
        wire.passes_to_server(request(1, token=1))
        wire.server_stops_reading()
        wire.client_sends(large, cancel(1, "Escape"))
        wire.logs(event="cancel", id=1)
        wire.never_reaches_client(progress(1), result(1))
        wire.server_reads_on()
        wire.server_receives(large, cancel(1, "Escape"))


def test_an_answer_that_waits_in_our_queue_is_taken_back() -> None:
    """The host has not seen it when it cancels, so it must not see it after that."""
    filler = log_message("x" * MIB)
    with Conversation() as wire:
        wire.passes_to_server(request(1), request(2))
        wire.client_stops_reading()
        wire.server_sends(filler, result(1), result(2), filler)
        wire.server_has_written()  # The second filler is longer than a pipe: the answers are read.
        wire.never_reaches_server(cancel(1))
        wire.client_reads_on()
        wire.client_receives(filler, result(2), filler)
        wire.logs(event="drop", what="late-response", id=1)
        wire.logs(event="drop", what="redundant-cancel", id=1)


def test_a_flood_that_nobody_reads_is_not_kept_in_memory() -> None:
    line = log_message("x" * 100_000)
    with Conversation() as wire:
        wire.client_stops_reading()
        wire.server_sends(*[line] * 600)
        wire.server_is_stuck()
        assert resident_mib(wire.proxy_pid) < 120
        wire.client_reads_on()
        wire.client_receives(*[line] * 600)


def test_a_flood_of_late_progress_holds_nobody_up() -> None:
    with Conversation() as wire:
        wire.passes_to_server(request(1, token=1), request(2), cancel(1))
        wire.server_sends(encode(progress(1)) * 50_000, result(2))
        wire.client_receives(result(2))
        wire.client_closes()
        wire.proxy_exits(0)
        assert wire.logs(event="summary")["dropped"] == {"late-progress": 50_000}


def test_many_requests_are_told_apart() -> None:
    """Thousands in flight, every other one cancelled, answered from the last to the first."""
    ids = range(4000)
    with Conversation() as wire:
        wire.passes_to_server(b"".join(encode(request(i, token=i)) for i in ids))
        wire.passes_to_server(b"".join(encode(cancel(i)) for i in ids[1::2]))
        wire.server_sends(b"".join(encode(progress(i)) + encode(result(i)) for i in reversed(ids)))
        wire.client_receives(
            b"".join(encode(progress(i)) + encode(result(i)) for i in reversed(ids) if i % 2 == 0)
        )
