"""How much a page may ask for: in its whole life, or in one stretch of time after another."""

from dataclasses import dataclass

from penstock.core.clock import Clock


@dataclass(frozen=True, slots=True)
class EgressLimits:
    """How much one page may ask for, and how long a connection may take to be made.

    With `window_seconds` the rest counts anew after so long: for pages that stay open.
    """

    max_bytes: int
    max_requests: int
    connect_seconds: float
    window_seconds: float | None = None


class Allowance:
    """Counts requests and bytes against the limits."""

    def __init__(self, limits: EgressLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock.monotonic()
        self._requests = 0
        self._bytes = 0

    @property
    def is_renewed(self) -> bool:
        """Whether what is used up comes back."""
        return self._limits.window_seconds is not None

    def ask(self) -> bool:
        """Count one more request; whether it may pass."""
        self._renew()
        self._requests += 1
        is_heavy = self._bytes > self._limits.max_bytes
        return self._requests <= self._limits.max_requests and not is_heavy

    def carry(self, size: int) -> bool:
        """Count so many bytes more; whether they may pass."""
        self._renew()
        self._bytes += size
        return self._bytes <= self._limits.max_bytes

    def _renew(self) -> None:
        window, now = self._limits.window_seconds, self._clock.monotonic()
        if window is not None and now - self._began >= window:
            self._began, self._requests, self._bytes = now, 0, 0
