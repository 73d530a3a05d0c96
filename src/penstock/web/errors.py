"""What an API answers instead of data.

ApiError                     500  something is wrong on our side
├── InvalidRequest           422  the request; `meta.errors` names the fields
├── Unauthenticated          401  no key, or none of ours
├── Forbidden                403  the key is not for this
├── NotFound                 404  no such thing, or not yours
├── Conflict                 409  an Idempotency-Key was used for something else
├── BodyTooLarge             413
├── TooManyRequests          429  the key's rate limit; says when to come back
├── CredentialMissing        502  the backend has no credential for the provider
├── Unavailable              503  not now; says when to come back
│   ├── QueueFull
│   ├── ShuttingDown
│   ├── PoolExhausted
│   ├── CircuitOpen
│   ├── OutsideHours
│   └── NoHealthyProxies
└── TaskTimeout              504  a synchronous task took too long
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.core.errors import PenstockError


class ApiError(PenstockError):
    """An answer with a status of 400 or more; its message is for the caller."""

    status: ClassVar[int] = 500
    message: ClassVar[str] = "Internal server error"

    def __init__(
        self,
        message: str = "",
        *,
        meta: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message or self.message)
        self.meta = meta
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """The headers that belong to the answer."""
        if self.retry_after is None:
            return {}
        return {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


class InvalidRequest(ApiError):
    """The request is not what the endpoint takes."""

    status = 422
    message = "Invalid request"

    def __init__(self, errors: Sequence[Mapping[str, str]]) -> None:
        first = errors[0] if errors else {"field": "body", "message": "invalid"}
        meta = {"errors": [dict(each) for each in errors]}
        super().__init__(f"{first['field']}: {first['message']}", meta=meta)


def invalid(field: str, message: str) -> InvalidRequest:
    """One field is wrong; to be raised."""
    return InvalidRequest([{"field": field, "message": message}])


class Unauthenticated(ApiError):
    """There is no key, or none that we know."""

    status = 401
    message = "Invalid or missing service key"


class Forbidden(ApiError):
    """The key does not allow this."""

    status = 403
    message = "This key is not for that"


class NotFound(ApiError):
    """There is no such thing, or it belongs to somebody else."""

    status = 404
    message = "Not found"


class Conflict(ApiError):
    """What is asked for contradicts what was asked for before."""

    status = 409
    message = "This Idempotency-Key was used for another request"


class BodyTooLarge(ApiError):
    """The body is larger than is taken."""

    status = 413
    message = "The request body is too large"


class TooManyRequests(ApiError):
    """The key has made its requests for now."""

    status = 429
    message = "Too many requests with this key"


class CredentialMissing(ApiError):
    """A site needs a login that the backend does not have."""

    status = 502
    message = "Missing credentials for provider"


class Unavailable(ApiError):
    """Not now."""

    status = 503
    message = "Not available at the moment"


class QueueFull(Unavailable):
    """As many tasks wait as may."""

    message = "Task queue is full"


class ShuttingDown(Unavailable):
    """This process takes no new work."""

    message = "The service is shutting down"


class PoolExhausted(Unavailable):
    """No browser was free in time."""

    message = "Browser pool exhausted: no instance was free in time"


class CircuitOpen(Unavailable):
    """The site has been failing."""

    message = "Circuit breaker open for target domain"


class OutsideHours(Unavailable):
    """The site's hours do not allow a contact now."""

    message = "Outside the hours in which this domain may be contacted"


class NoHealthyProxies(Unavailable):
    """No proxy works."""

    message = "No healthy proxies available"


class TaskTimeout(ApiError):
    """A synchronous task did not end in time."""

    status = 504
    message = "Task execution timed out"
