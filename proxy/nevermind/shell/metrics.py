"""What a listening proxy counts, as a page for Prometheus.

Only this module knows the client library, which is an optional extra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from nevermind.shell.tally import Tally, Totals

CONTENT_TYPE = CONTENT_TYPE_LATEST


class Page(Collector):
    """Collected afresh whenever it is written.

    ``totals`` gives the sums over all sessions, ``open_now`` how many sessions there are,
    of at most ``limit``.
    """

    def __init__(
        self,
        tally: Tally,
        totals: Callable[[], Totals],
        open_now: Callable[[], int],
        limit: int,
    ) -> None:
        self._tally = tally
        self._totals = totals
        self._open_now = open_now
        self._limit = limit
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def write(self) -> bytes:
        """The page, in the text format of ``CONTENT_TYPE``."""
        return generate_latest(self._registry)

    def describe(self) -> list[Metric]:
        """Nothing is collected just to be registered."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All of it, as it stands now."""
        tally, totals = self._tally, self._totals()
        yield _gauge("sessions", "Sessions that are open.", self._open_now())
        yield _gauge("sessions_limit", "Most sessions at once.", self._limit)
        yield _gauge("requests_in_flight", "Requests that wait for an answer.", totals.in_flight)
        yield _gauge(
            "longest_overrun_seconds",
            "How long after its cancel the last late answer came, at worst.",
            totals.longest_overrun_s,
        )
        yield _counter("sessions_opened", "Sessions opened.", tally.opened)
        ended = _family("sessions_ended", "Sessions ended, by how.", "how")
        for how in ("orderly", "lost"):
            ended.add_metric([how], tally.ended[how])
        yield ended
        refused = _family("connections_refused", "Connections refused, by HTTP status.", "status")
        for status, count in sorted(tally.refused.items()):
            refused.add_metric([str(status)], count)
        yield refused
        yield _counter("connections_failed", "Connections that failed inside.", tally.failed)
        yield _counter("messages_forwarded", "Messages forwarded.", totals.forwarded)
        dropped = _family("messages_dropped", "Messages held back, by kind.", "what")
        for what, count in sorted(totals.dropped.items()):
            dropped.add_metric([what], count)
        yield dropped
        yield _counter("requests_cancelled", "Requests cancelled.", totals.cancelled)
        yield _counter("requests_timed_out", "Requests timed out by us.", totals.timed_out)
        yield _counter("requests_answered", "Cancelled requests answered by us.", totals.answered)
        yield _counter("tasks_reaped", "Tasks cancelled by us.", totals.reaped)
        yield _counter(
            "requests_never_answered",
            "Cancelled requests that got no answer at all.",
            totals.never_answered,
        )


def _gauge(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"nevermind_{name}", help, value=value)


def _counter(name: str, help: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"nevermind_{name}", help, value=value)


def _family(name: str, help: str, label: str) -> CounterMetricFamily:
    return CounterMetricFamily(f"nevermind_{name}", help, labels=[label])
