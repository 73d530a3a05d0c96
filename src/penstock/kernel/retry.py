"""Retry: whether an attempt is repeated, and when.

Each request has a number of attempts, and each domain a budget that grows with the requests
made to it: when everything fails, retries stay a fraction of the traffic.
"""

import random
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from penstock.kernel.model import Failure, ProxyFailed, SiteWide
from penstock.kernel.settings import RetrySettings

MAX_DOMAINS = 10_000


class Retry:
    """Attempts, delays, jitter and budgets."""

    def __init__(
        self,
        settings: RetrySettings,
        chance: random.Random,
        workloads: Mapping[str, RetrySettings] | None = None,
    ) -> None:
        self._settings = settings
        self._of_workloads = workloads or {}
        self._chance = chance
        self._budgets: OrderedDict[str, float] = OrderedDict()

    def attempted(self, domain: str) -> None:
        """A first attempt earns its domain a part of a retry."""
        budget = self._budgets.get(domain)
        if budget is not None:
            earned = budget + self._settings.budget_ratio
            if earned >= self._settings.budget_floor:
                del self._budgets[domain]
            else:
                self._budgets[domain] = earned

    def delay(
        self, domain: str, attempt: int, failure: Failure, workload: str = ""
    ) -> float | None:
        """Seconds until the next attempt, or None if this one was the last."""
        settings = self._settings_of(workload)
        if not failure.retriable or attempt >= settings.max_attempts:
            return None
        if isinstance(failure, SiteWide) and not settings.site_wide:
            return None
        if settings.proxies_only and not isinstance(failure, ProxyFailed):
            return None
        budget = self._budgets.get(domain, float(self._settings.budget_floor))
        if budget < 1:
            return None
        self._spend(domain, budget)
        return self.backoff(attempt, workload)

    def backoff(self, attempt: int, workload: str = "") -> float:
        """The delay after so many attempts: exponential, bounded, a part of it by chance."""
        settings = self._settings_of(workload)
        longest = settings.max_delay_ms / 1000
        steps = min(attempt - 1, 64)
        delay = min(settings.initial_delay_ms / 1000 * settings.backoff_multiplier**steps, longest)
        return delay * (1 - settings.jitter * self._chance.random())

    def _settings_of(self, workload: str) -> RetrySettings:
        return self._of_workloads.get(workload, self._settings)

    def _spend(self, domain: str, budget: float) -> None:
        self._budgets[domain] = budget - 1
        if len(self._budgets) > MAX_DOMAINS:
            self._budgets.popitem(last=False)


def parse_retry_after(value: str, now: datetime, longest: float) -> float | None:
    """Seconds that a Retry-After header asks for; None if it is malformed or past."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(float(value), longest) or None
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        seconds = (moment - now).total_seconds()
    except OverflowError:
        return None
    return min(seconds, longest) if seconds > 0 else None
