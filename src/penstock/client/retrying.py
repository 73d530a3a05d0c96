"""When a call is repeated: as the service says, else later each time, and not for ever."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Not now, rather than no: the service says when to come back.
WORTH_A_RETRY = frozenset({429, 502, 503})


def _today() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Retrying:
    """How often a call is repeated and how long is waited before it.

    Submissions carry an Idempotency-Key of their own: repeated, they are the same task or job.
    """

    retries: int = 5
    first_seconds: float = 0.5
    most_seconds: float = 60.0
    chance: random.Random = field(default_factory=random.Random)
    now: Callable[[], datetime] = _today

    def pause(self, attempt: int, retry_after: float | None = None) -> float | None:
        """Seconds to wait after a failed attempt, the first being 0; None to give up."""
        if attempt >= self.retries:
            return None
        if retry_after is not None:
            return retry_after if retry_after <= self.most_seconds else None
        longest = min(self.first_seconds * 2.0**attempt, self.most_seconds)
        return longest * self.chance.uniform(0.5, 1.0)

    def read_retry_after(self, header: str | None) -> float | None:
        """The seconds that a Retry-After header asks for, in either of its forms."""
        if not header:
            return None
        if header.strip().isdigit():
            return float(header)
        try:
            at = parsedate_to_datetime(header)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - self.now()).total_seconds())
