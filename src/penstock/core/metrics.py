"""Prometheus metrics of the kernel: every gate, failure kind, wait and duration."""

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

_WAIT_BUCKETS = (0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200)
_SIZE_BUCKETS = tuple(4.0**n for n in range(4, 13))


class Metrics:
    """The counters of one platform; own registry, so that two platforms never mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._gates = self._counter(
            "penstock_gate_answers", "Answers of the gates on the path.", "gate", "answer"
        )
        self._failures = self._counter(
            "penstock_failures", "Requests that ended without a page.", "kind", "reason"
        )
        self._retries = self._counter("penstock_retries", "Attempts to be repeated.", "kind")
        self._pages = self._counter("penstock_pages", "Pages fetched.", "fetcher", "status")
        self._waits = self._histogram(
            "penstock_wait_seconds", "Time until a gate's turn.", _WAIT_BUCKETS, "gate"
        )
        self._durations = self._histogram(
            "penstock_fetch_duration_seconds",
            "Time from first contact to last byte.",
            Histogram.DEFAULT_BUCKETS,
            "fetcher",
        )
        self._sizes = self._histogram(
            "penstock_page_size_bytes", "Decoded size of pages.", _SIZE_BUCKETS, "fetcher"
        )
        # Looking up a labelled child costs more than counting: keep the children at hand.
        self._gate = cache(self._gates.labels)
        self._page = cache(self._pages.labels)
        self._duration = cache(self._durations.labels)
        self._size = cache(self._sizes.labels)

    def gate(self, gate: str, answer: str) -> None:
        """Count what a gate said."""
        self._gate(gate, answer).inc()

    def failed(self, kind: str, reason: str) -> None:
        """Count a request that is over without a page."""
        self._failures.labels(kind, reason).inc()

    def retried(self, kind: str) -> None:
        """Count an attempt that will be repeated."""
        self._retries.labels(kind).inc()

    def waited(self, gate: str, seconds: float) -> None:
        """Record how long a request has to wait for its turn."""
        self._waits.labels(gate).observe(seconds)

    def fetched(self, fetcher: str, status: int, seconds: float, size: int) -> None:
        """Record one page."""
        self._page(fetcher, str(status)).inc()
        self._duration(fetcher).observe(seconds)
        self._size(fetcher).observe(size)

    def text(self) -> str:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode()

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(name, says, labels, registry=self.registry)

    def _histogram(
        self, name: str, says: str, buckets: tuple[float, ...], *labels: str
    ) -> Histogram:
        return Histogram(name, says, labels, buckets=buckets, registry=self.registry)
