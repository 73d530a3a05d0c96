"""How long a page may take to be there: longer where pages are slow, shorter where they are not."""

from penstock.workloads.live.settings import LiveSettings

#: The timeout is looked at after so many looks.
LOOKS = 10
#: Seconds that these take on average, and what becomes of the timeout.
SLOW_SECONDS, LONGER = 2.0, 1.5
FAST_SECONDS, SHORTER = 0.5, 0.8
SHORTEST, LONGEST = 15.0, 120.0


class Timeouts:
    """The timeout of one feed; begins with that of the settings, which is never out of bounds."""

    def __init__(self, settings: LiveSettings) -> None:
        first = settings.page_timeout_seconds
        self.seconds = first
        self._is_adaptive = settings.enable_adaptive_timeouts
        self._shortest, self._longest = min(SHORTEST, first), max(LONGEST, first)
        self._latencies: list[float] = []

    def looked(self, latency: float) -> None:
        """A look took so many seconds."""
        if not self._is_adaptive:
            return
        self._latencies.append(latency)
        if len(self._latencies) < LOOKS:
            return
        average = sum(self._latencies) / LOOKS
        self._latencies.clear()
        if average > SLOW_SECONDS:
            self.seconds = min(self.seconds * LONGER, self._longest)
        elif average < FAST_SECONDS:
            self.seconds = max(self.seconds * SHORTER, self._shortest)
