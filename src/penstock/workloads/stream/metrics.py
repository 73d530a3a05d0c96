"""The metrics of the page fetcher, under the names that its dashboards know."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from penstock.core.metrics import Counts, Metrics
from penstock.kernel.model import Outcome
from penstock.kernel.ports import CircuitState
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Done, Retry

RULES: Final = "stream"
STATES: Final = {"closed": 0.0, "open": 1.0, "half_open": 2.0}
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BYTES = tuple(4.0**n for n in range(4, 13))


def _turned(metrics: Metrics, state: str) -> Counts:
    return {(): metrics.circuits_turned(RULES, state)}


class StreamMetrics:
    """Counts URLs that are over, and shows the queue and the domains that are down."""

    def __init__(self, metrics: Metrics) -> None:
        tally, level, derived = metrics.tally, metrics.level, metrics.derived
        self._fetched = tally("page_fetcher_pages_fetched", "Pages that were delivered.")
        self._failed = tally("page_fetcher_pages_failed", "URLs that failed for good.")
        self._skipped = tally("page_fetcher_pages_skipped_robots", "URLs robots.txt forbids.")
        self._requeued = tally("page_fetcher_pages_requeued", "URLs put back: their site is down.")
        self._retries = tally("page_fetcher_retries", "Attempts that were repeated.")
        self._dead = tally("page_fetcher_dlq_enqueued", "URLs put on the dead-letter queue.")
        for name, state in (("opened", "open"), ("closed", "closed")):
            derived(
                f"page_fetcher_circuit_breaker_{name}",
                f"Times that a domain's circuit {name}.",
                counts=partial(_turned, metrics, state),
            )
        derived(
            "page_fetcher_circuit_breaker_probes",
            "Probes of domains that were down.",
            "result",
            counts=lambda: {(result,): n for result, n in metrics.probes(RULES).items()},
        )
        self._waiting = level("page_fetcher_input_queue_size", "URLs that wait.")
        self._dlq = level("page_fetcher_dlq_size", "URLs on the dead-letter queue.")
        circuit = "page_fetcher_circuit_breaker"
        self._states = level(f"{circuit}_state", "0 closed, 1 open, 2 half-open.", "domain")
        self._failures = level(f"{circuit}_consecutive_failures", "Failures in a row.", "domain")
        self._backoffs = level(f"{circuit}_current_backoff_seconds", "Until a probe.", "domain")
        self._durations = metrics.spread(
            "page_fetcher_fetch_duration_seconds", "First contact to last byte.", "", SECONDS
        )
        self._sizes = metrics.spread("page_fetcher_content_size_bytes", "Size of pages.", "", BYTES)
        self._lookups = tally("page_fetcher_cache_lookups", "Bodies that were asked for.", "result")

    def note(self, result: Result) -> None:
        """Count a URL that is over, or goes back."""
        outcome, ending = result.outcome, result.ending
        self._retries.add(number=max(0, outcome.attempts - 1))
        if isinstance(ending, Retry):
            self._requeued.add()
        elif isinstance(ending, Bury):
            self._failed.add()
            self._dead.add()
        elif isinstance(ending, Done):
            self._note_page(outcome)

    def _note_page(self, outcome: Outcome) -> None:
        if outcome.page is None or outcome.failure:
            self._skipped.add()
            return
        self._fetched.add()
        self._durations.observe("", outcome.page.seconds)
        self._sizes.observe("", len(outcome.page.body))

    def looked_up(self, found: bool) -> None:
        """Count a body that somebody asked the cache for."""
        self._lookups.add("hit" if found else "miss")

    def show_queue(self, waiting: int, dead: int) -> None:
        """Say how much waits and how much failed."""
        self._waiting.values = {(): waiting}
        self._dlq.values = {(): dead}

    def show_circuits(self, troubled: Sequence[CircuitState]) -> None:
        """Say which domains are not up."""
        self._states.values = {(c.domain,): STATES[c.state] for c in troubled}
        self._failures.values = {(c.domain,): c.failures for c in troubled}
        self._backoffs.values = {(c.domain,): c.backoff for c in troubled}
