"""What a client raises.

ClientError
├── ApiError               the service said no; has status, errors, request_id, retry_after
│   ├── InvalidRequest     422: `errors` names the fields
│   ├── Unauthenticated    401
│   ├── Forbidden          403
│   ├── NotFound           404
│   ├── Conflict           409: this Idempotency-Key was used for something else
│   ├── RateLimited        429, after all retries
│   ├── Unavailable        503, after all retries
│   └── TaskTimedOut       504: a synchronous task did not end in time
├── NotReached             the service did not answer, after all retries
├── PartitionLost          another consumer of the group has the partition now: see `stream_sources`
├── NotInTime              a job did not end within the time that was given it
└── WebhookInvalid         this webhook was not signed with our secret, or is too old
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.core.errors import PenstockError


class ClientError(PenstockError):
    """Something went wrong between a caller and the service."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with a status of 400 or more."""

    status: int
    error: str
    meta: Mapping[str, Any]
    request_id: str = ""
    retry_after: float | None = None


class ApiError(ClientError):
    """The service answered, and the answer is no."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.status}: {refusal.error}")
        self.status = refusal.status
        self.error = refusal.error
        self.request_id = refusal.request_id
        self.retry_after = refusal.retry_after
        self.errors: Sequence[Mapping[str, str]] = refusal.meta.get("errors") or ()


class InvalidRequest(ApiError):
    """The request is not what the endpoint takes."""


class Unauthenticated(ApiError):
    """There is no key, or none that the service knows."""


class Forbidden(ApiError):
    """The key does not allow this."""


class NotFound(ApiError):
    """There is no such task or job, or it belongs to somebody else."""


class Conflict(ApiError):
    """The Idempotency-Key was used for another request."""


class RateLimited(ApiError):
    """The key has made its requests for now."""


class Unavailable(ApiError):
    """The service takes no work at the moment."""


class TaskTimedOut(ApiError):
    """A synchronous task did not end in time."""


class NotReached(ClientError):
    """The service did not answer."""


class NotInTime(ClientError):
    """A job did not end within the time that was given it."""


class WebhookInvalid(ClientError):
    """A webhook that is not to be trusted."""


_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: InvalidRequest,
    429: RateLimited,
    503: Unavailable,
    504: TaskTimedOut,
}


def error_of(refusal: Refusal) -> ApiError:
    """The exception that an answer means."""
    return _BY_STATUS.get(refusal.status, ApiError)(refusal)
