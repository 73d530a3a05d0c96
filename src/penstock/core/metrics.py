"""Prometheus metrics: every gate, failure kind, wait and duration; requests to the API; tasks.

Counting happens several times per page and reading once in a while: so counting is a plain
addition, and the Prometheus families are made when they are asked for.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

WAITS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = tuple(4.0**n for n in range(4, 13))
#: Numbers by the values of labels.
Counts = Mapping[tuple[str, ...], float]


class Tally:
    """A counter with labels."""

    def __init__(self, name: str, says: str, *labels: str) -> None:
        self._name, self._says, self._labels = name, says, labels
        self.counts: Counter[tuple[str, ...]] = Counter()

    def add(self, *labels: str, number: int = 1) -> None:
        """Count something that happened so many times."""
        self.counts[labels] += number

    def family(self) -> Metric:
        family = CounterMetricFamily(self._name, self._says, labels=self._labels)
        for labels, count in self.counts.items():
            family.add_metric(labels, count)
        return family


class Level:
    """A number with labels that goes up and down; all of it is said anew each time."""

    def __init__(self, name: str, says: str, *labels: str) -> None:
        self._name, self._says, self._labels = name, says, labels
        self.values: Mapping[tuple[str, ...], float] = {}

    def family(self) -> Metric:
        family = GaugeMetricFamily(self._name, self._says, labels=self._labels)
        for labels, value in self.values.items():
            family.add_metric(labels, value)
        return family


class Derived:
    """A counter of what is counted elsewhere, under another name."""

    def __init__(
        self, name: str, says: str, labels: Sequence[str], counts: Callable[[], Counts]
    ) -> None:
        self._name, self._says, self._labels, self._counts = name, says, labels, counts

    def family(self) -> Metric:
        family = CounterMetricFamily(self._name, self._says, labels=self._labels)
        for labels, count in self._counts().items():
            family.add_metric(labels, count)
        return family


class Spread:
    """A histogram with one label, or none."""

    def __init__(self, name: str, says: str, label: str, bounds: Sequence[float]) -> None:
        self._name, self._says, self._label, self._bounds = name, says, label, bounds
        self._buckets: dict[str, list[int]] = {}
        self._sums: defaultdict[str, float] = defaultdict(float)

    def observe(self, label: str, value: float) -> None:
        buckets = self._buckets.get(label)
        if buckets is None:
            buckets = self._buckets[label] = [0] * (len(self._bounds) + 1)
        buckets[bisect_left(self._bounds, value)] += 1
        self._sums[label] += value

    def family(self) -> Metric:
        labels = [self._label] if self._label else []
        family = HistogramMetricFamily(self._name, self._says, labels=labels)
        names = [*(str(bound) for bound in self._bounds), "+Inf"]
        for label, buckets in self._buckets.items():
            counts = zip(names, accumulate(buckets), strict=True)
            family.add_metric([label] if labels else [], list(counts), self._sums[label])
        return family


class Metrics:
    """The counters of one platform; own registry, so that two platforms never mix."""

    def __init__(self) -> None:
        self._gates = Tally("penstock_gate_answers", "Answers of the gates.", "gate", "answer")
        self._failures = Tally(
            "penstock_failures", "Requests that ended without a page.", "kind", "reason"
        )
        self._retries = Tally("penstock_retries", "Attempts to be repeated.", "kind")
        self._pages = Tally("penstock_pages", "Pages fetched.", "fetcher", "status")
        self._circuits = Tally(
            "penstock_circuit_changes", "Circuits that opened or closed.", "rules", "state"
        )
        self._probes = Tally(
            "penstock_circuit_probes", "Probes of sites that were down.", "rules", "result"
        )
        self._waits = Spread("penstock_wait_seconds", "Time until a gate's turn.", "gate", WAITS)
        self._durations = Spread(
            "penstock_fetch_duration_seconds", "First contact to last byte.", "fetcher", DURATIONS
        )
        self._sizes = Spread("penstock_page_size_bytes", "Decoded size of pages.", "fetcher", SIZES)
        self._requests = Tally(
            "penstock_api_requests", "Requests to the API.", "method", "route", "status"
        )
        self._latencies = Spread(
            "penstock_api_request_duration_seconds", "Time to an answer.", "route", DURATIONS
        )
        self._tasks = Tally(
            "penstock_scrape_tasks", "Scrape tasks that are over.", "target_type", "status"
        )
        #: What workloads count, each for itself.
        self._more: list[Tally | Level | Spread | Derived] = []
        self.gauges: Callable[[], Mapping[str, float]] = dict
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def tally(self, name: str, says: str, *labels: str) -> Tally:
        """A counter of a workload's own."""
        self._more.append(tally := Tally(name, says, *labels))
        return tally

    def derived(self, name: str, says: str, *labels: str, counts: Callable[[], Counts]) -> None:
        """A counter under a workload's name of what is counted here anyway."""
        self._more.append(Derived(name, says, labels, counts))

    def level(self, name: str, says: str, *labels: str) -> Level:
        """A gauge of a workload's own."""
        self._more.append(level := Level(name, says, *labels))
        return level

    def spread(self, name: str, says: str, label: str, bounds: Sequence[float]) -> Spread:
        """A histogram of a workload's own."""
        self._more.append(spread := Spread(name, says, label, bounds))
        return spread

    def gate(self, gate: str, answer: str) -> None:
        """Count what a gate said."""
        self._gates.counts[gate, answer] += 1

    def failed(self, kind: str, reason: str) -> None:
        """Count a request that is over without a page."""
        self._failures.counts[kind, reason] += 1

    def retried(self, kind: str) -> None:
        """Count an attempt that will be repeated."""
        self._retries.counts[kind,] += 1

    def circuit(self, rules: str, state: str) -> None:
        """Count a circuit that became open or closed."""
        self._circuits.counts[rules, state] += 1

    def probed(self, rules: str, well: bool) -> None:
        """Count a probe of a site that was down."""
        self._probes.counts[rules, "success" if well else "failure"] += 1

    def circuits_turned(self, rules: str, state: str) -> int:
        """How many circuits of a rule set became open, or closed."""
        return self._circuits.counts[rules, state]

    def probes(self, rules: str) -> Mapping[str, int]:
        """How many probes of a rule set there were, by their result."""
        return {result: self._probes.counts[rules, result] for result in ("success", "failure")}

    def waited(self, gate: str, seconds: float) -> None:
        """Record how long a request has to wait for its turn."""
        self._waits.observe(gate, seconds)

    def fetched(self, fetcher: str, status: int, seconds: float, size: int) -> None:
        """Record one page."""
        self._pages.counts[fetcher, str(status)] += 1
        self._durations.observe(fetcher, seconds)
        self._sizes.observe(fetcher, size)

    def requested(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record a request to the API."""
        self._requests.counts[method, route, str(status)] += 1
        self._latencies.observe(route, seconds)

    def task_over(self, target_type: str, status: str) -> None:
        """Count a scrape task that is over."""
        self._tasks.counts[target_type, status] += 1

    @property
    def tasks_over(self) -> Mapping[str, int]:
        """How many scrape tasks are over, by status."""
        totals: Counter[str] = Counter()
        for (_, status), number in self._tasks.counts.items():
            totals[status] += number
        return totals

    @property
    def pages_fetched(self) -> int:
        """How many pages were fetched."""
        return self._pages.counts.total()

    @property
    def failures(self) -> Mapping[tuple[str, ...], int]:
        """How many requests ended without a page, by kind and reason."""
        return self._failures.counts

    def collect(self) -> Iterator[Metric]:
        """The families, for the registry."""
        tallies = (self._gates, self._failures, self._retries, self._pages)
        for tally in (*tallies, self._circuits, self._probes, self._requests, self._tasks):
            yield tally.family()
        for spread in (self._waits, self._durations, self._sizes, self._latencies):
            yield spread.family()
        for more in self._more:
            yield more.family()
        for name, value in self.gauges().items():
            yield GaugeMetricFamily(f"penstock_{name}", name.replace("_", " "), value)

    def text(self) -> str:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode()
