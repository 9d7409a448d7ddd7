"""What operators are told: counts that add up, on a page that Prometheus can read."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from nevermind.notes import Statistics, What
from nevermind.peers import Peer
from nevermind.shell.metrics import CONTENT_TYPE, Page
from nevermind.shell.tally import Tally

ONE = Statistics(
    forwarded=10,
    dropped={What.LATE_RESPONSE: 2, What.NOISE: 1},
    cancelled=3,
    never_answered=1,
    longest_overrun_s=1.5,
    timed_out=1,
    answered=2,
    reaped=1,
)
OTHER = Statistics(forwarded=5, dropped={What.LATE_RESPONSE: 1}, longest_overrun_s=0.5)
LIVING = Statistics(forwarded=1, in_flight={Peer.CLIENT: 4, Peer.SERVER: 1})


def tally() -> Tally:
    found = Tally()
    found.opened = 3
    found.add(ONE, orderly=True)
    found.add(OTHER, orderly=False)
    found.refused[401] += 2
    found.refused[503] += 1
    found.failed = 1
    return found


def test_sums_are_over_past_and_living_sessions() -> None:
    totals = tally().totals([LIVING, LIVING])
    assert totals.forwarded == 17
    assert totals.dropped == {"late-response": 3, "noise": 1}
    assert (totals.cancelled, totals.never_answered) == (3, 1)
    assert (totals.timed_out, totals.answered, totals.reaped) == (1, 2, 1)
    assert totals.longest_overrun_s == 1.5
    assert totals.in_flight == 10


def test_to_ask_changes_nothing() -> None:
    counted = tally()
    assert counted.totals([LIVING]).forwarded == counted.totals([LIVING]).forwarded == 16
    assert counted.totals([]).in_flight == 0


def test_the_page_is_what_prometheus_reads() -> None:
    counted = tally()
    page = Page(counted, lambda: counted.totals([LIVING]), lambda: 1, 256)
    assert CONTENT_TYPE.startswith("text/plain")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.write().decode())
        for sample in family.samples
    }
    assert found == {
        ("nevermind_sessions",): 1,
        ("nevermind_sessions_limit",): 256,
        ("nevermind_requests_in_flight",): 5,
        ("nevermind_longest_overrun_seconds",): 1.5,
        ("nevermind_sessions_opened_total",): 3,
        ("nevermind_sessions_ended_total", "orderly"): 1,
        ("nevermind_sessions_ended_total", "lost"): 1,
        ("nevermind_connections_refused_total", "401"): 2,
        ("nevermind_connections_refused_total", "503"): 1,
        ("nevermind_connections_failed_total",): 1,
        ("nevermind_messages_forwarded_total",): 16,
        ("nevermind_messages_dropped_total", "late-response"): 3,
        ("nevermind_messages_dropped_total", "noise"): 1,
        ("nevermind_requests_cancelled_total",): 3,
        ("nevermind_requests_timed_out_total",): 1,
        ("nevermind_requests_answered_total",): 2,
        ("nevermind_tasks_reaped_total",): 1,
        ("nevermind_requests_never_answered_total",): 1,
    }
    counted.opened += 1
    assert b"nevermind_sessions_opened_total 4.0" in page.write()
