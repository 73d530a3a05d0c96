"""Who may call: the key of a request, its scope and its rate."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader

from penstock.web.errors import Forbidden, TooManyRequests, Unauthenticated
from penstock.web.keys import Key, KeyRing, RateLimiter, Scope

_HEADER = APIKeyHeader(
    name="X-Service-Key",
    scheme_name="ServiceKey",
    description="A key of this service: the configured one, or one of `penstock keys create`.",
    auto_error=False,
)

#: The key that a request brings, if it brings one.
ServiceKey = Annotated[str | None, Security(_HEADER)]


class Guard:
    """Lets a request in, or says why not."""

    def __init__(self, ring: KeyRing, limiter: RateLimiter) -> None:
        self._ring = ring
        self._limiter = limiter

    async def admit(self, secret: str | None, scope: Scope) -> Key:
        """The key of a secret, if it is good for a scope and not used too often."""
        key = await self._ring.find(secret) if secret else None
        if key is None:
            raise Unauthenticated
        if (seconds := self._limiter.take(key)) is not None:
            raise TooManyRequests(retry_after=seconds)
        if not key.allows(scope):
            raise Forbidden(f"This key has no scope '{scope}'")
        return key


def _allowing(scope: Scope) -> Callable[..., Awaitable[Key]]:
    async def allow(request: Request, secret: ServiceKey = None) -> Key:
        guard: Guard = request.app.state.guard
        return await guard.admit(secret, scope)

    return allow


Reader = Annotated[Key, Depends(_allowing(Scope.READ))]
Scraper = Annotated[Key, Depends(_allowing(Scope.SCRAPE))]
Admin = Annotated[Key, Depends(_allowing(Scope.ADMIN))]
