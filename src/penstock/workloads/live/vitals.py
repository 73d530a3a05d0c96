"""What is noted of every look and every scraper, for health and metrics alike."""

from collections.abc import Collection, Mapping

from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.workloads.live.health import Health, HealthStatus
from penstock.workloads.live.metrics import LiveMetrics
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.watcher import Watcher
from penstock.workloads.live.windows import RecentLooks


class Vitals:
    """Counts as things happen; says how it all does whenever it is asked."""

    def __init__(self, metrics: Metrics, clock: Clock) -> None:
        self.metrics = LiveMetrics(metrics)
        self._looks = RecentLooks(clock)
        self._health = Health(clock, self._looks)

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        """A look went well."""
        self._looks.looked(seconds)
        self.metrics.looked(match_id, seconds, changed=changed)

    def failed(self, match_id: str, kind: ErrorType) -> None:
        """A look went wrong."""
        self._looks.failed()
        self.metrics.failed(match_id, kind)

    def show(self, watchers: Mapping[str, Watcher]) -> None:
        """Have metrics say how scrapers do now."""
        contexts = [each.context for each in watchers.values() if each.context]
        self._health.measured(contexts)
        self.metrics.show_scrapers(contexts, watchers.keys())
        self.metrics.show_circuits(
            {match_id: each.rules.breaker.state for match_id, each in watchers.items()}
        )

    def status(self, watchers: Collection[Watcher]) -> HealthStatus:
        """How it all does now."""
        contexts = [each.context for each in watchers if each.context]
        breakers = [each.rules.breaker for each in watchers]
        return self._health.status(contexts, breakers, len(watchers))
