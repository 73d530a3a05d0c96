"""Where scrapers hand in what they see; a keeper brings it into the store."""

from dataclasses import dataclass, replace
from typing import Protocol

from penstock.notify.ops import OpsAlert
from penstock.workloads.live.model import ErrorType, Resolution, Update


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something went wrong with a feed; `at` is in milliseconds since 1970.

    `evidence` and `picture` are the page that could not be read, and how it looked.
    """

    match_id: str
    scraper_id: str
    url: str
    at: int
    type: ErrorType
    message: str
    operation: str
    retry_attempt: int = 0
    stack_trace: str | None = None
    evidence: bytes | None = None
    picture: bytes | None = None

    def without_evidence(self) -> "Trouble":
        """The same, once the evidence is kept elsewhere or cannot be."""
        return replace(self, evidence=None, picture=None)


class Counts(Protocol):
    """Counts what scrapers hand in."""

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        """A look went well."""
        ...

    def failed(self, match_id: str, kind: ErrorType) -> None:
        """A look went wrong."""
        ...


class Desk(Protocol):
    """Takes what scrapers hand in, at once and without waiting for the store."""

    def take(self, update: Update) -> None:
        """Take news of a page; `JournalFailed` if it can be kept nowhere."""
        ...

    def lacks(self, match_id: str) -> bool:
        """Whether the last update of a feed was lost for want of room: then all is news."""
        ...

    def looked(self, match_id: str, seconds: float, *, changed: bool) -> None:
        """Take note of a good look."""
        ...

    def trouble(self, trouble: Trouble) -> None:
        """Take note of an error."""
        ...

    def settle(self, match_id: str, method: Resolution) -> None:
        """The errors of a feed are over."""
        ...

    def alert(self, alert: OpsAlert) -> None:
        """Tell ops."""
        ...

    def calm(self, kind: str, match_id: str) -> None:
        """What ops were told is over."""
        ...
