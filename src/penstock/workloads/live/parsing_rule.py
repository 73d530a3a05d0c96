"""What a page that cannot be read means: after many in a row, rest and try now and then."""

from penstock.workloads.live.settings import LiveSettings

#: More in a row than this, and the page has changed for good.
MOST_FAILURES = 10


class ParsingRule:
    """Counts pages of one feed that could not be read."""

    def __init__(self, settings: LiveSettings) -> None:
        self.failures = 0
        self._rest = settings.parse_retry_seconds

    @property
    def is_open(self) -> bool:
        """Whether the feed is only tried now and then."""
        return self.failures > MOST_FAILURES

    def failed(self) -> float | None:
        """A page could not be read; seconds to rest, if there were too many."""
        self.failures += 1
        return self._rest if self.is_open else None

    def succeeded(self) -> bool:
        """A page could be read; whether there had been too many before it."""
        was_open = self.is_open
        self.failures = 0
        return was_open
