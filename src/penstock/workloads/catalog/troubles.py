"""What a failure means for a crawl task, and what is written down of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.core.ids import new_id
from penstock.kernel.model import (
    Blocked,
    Broken,
    Failure,
    ProxyFailed,
    RateLimited,
    Refused,
    ServerError,
    SiteWide,
    UrlSpecific,
)
from penstock.workloads.catalog.model import Category, Row

#: Reasons of failures that our own side is to blame for.
INTERNAL = frozenset({"internal_error", "bad_payload", "worker_lost"})
#: Refusals that are none for good: the page is due again.
DUE_AGAIN = frozenset({"robots"})
#: Refusals for want of an answer of the site: it may be there in a while.
MAY_PASS = frozenset({"robots_unreachable"})


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong with a task, as it is logged."""

    category: Category
    error_type: str
    message: str
    stack_trace: str | None = None
    #: Whether it may be better next time.
    may_pass: bool = False
    #: Whether the page is due again although it failed.
    is_due_again: bool = False
    retry_after: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "category": self.category.value,
            "error_type": self.error_type,
            "message": self.message,
        }


def trouble_of(failure: Failure) -> Trouble:
    """What a failure of a download is to its task."""
    reason = failure.reason
    detail = failure.detail or reason
    match failure:
        case _ if reason in INTERNAL:
            trace = failure.trace if isinstance(failure, Broken) else ""
            return Trouble(Category.INTERNAL, reason, detail, trace or None, may_pass=True)
        case SiteWide() | ServerError() | ProxyFailed():
            return Trouble(Category.NETWORK, reason, detail, may_pass=True)
        case RateLimited(retry_after=seconds):
            return Trouble(Category.NETWORK, reason, detail, may_pass=True, retry_after=seconds)
        case Blocked():
            return Trouble(Category.BLOCKED, reason, detail, is_due_again=True)
        case Refused(gate=gate):
            again, may_pass = gate in DUE_AGAIN, reason in MAY_PASS
            return Trouble(Category.REFUSED, reason, detail, may_pass=may_pass, is_due_again=again)
        case Broken():
            return Trouble(Category.CONTENT, reason, detail)
        case UrlSpecific():
            return Trouble(Category.HTTP, reason, detail)
        case _:
            return Trouble(Category.INTERNAL, reason, detail)


def error_row(task: Mapping[str, Any], trouble: Trouble, now: int) -> Row:
    """A row of `error_logs`."""
    return {
        "id": new_id(),
        "crawl_task_id": task["id"],
        "domain_id": task["domain_id"],
        "category": trouble.category.value,
        "error_type": trouble.error_type,
        "error_message": trouble.message,
        "stack_trace": trouble.stack_trace,
        "occurred_at": now,
    }
