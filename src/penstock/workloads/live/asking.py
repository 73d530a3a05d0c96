"""Who may ask for live pages, and for what.

Feeds belong to all of the platform: who steers them, or looks behind them, has a key that is not
one of a workspace alone. What they say is for everybody who may read; if the settings say so, also
without a key.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Path, Query, Request

from penstock.web.asking import of_no_workspace
from penstock.web.guard import Admin, Guard, Reader, ServiceKey
from penstock.web.keys import Key, Scope
from penstock.workloads.live.service import ID_PATTERN

PREFIX = "/api/v1/live"
LARGEST = 2**63 - 1
A_FEED = "match456"
WHOSE = "Feeds are"


async def _onlooker(key: Reader) -> Key:
    return of_no_workspace(key, WHOSE)


async def _operator(key: Admin) -> Key:
    return of_no_workspace(key, WHOSE)


Onlooker = Annotated[Key, Depends(_onlooker)]
Operator = Annotated[Key, Depends(_operator)]
FeedId = Annotated[
    str, Path(pattern=ID_PATTERN, description="The id of a feed.", examples=[A_FEED])
]
FeedCursor = Annotated[
    str | None,
    Query(pattern=ID_PATTERN, description="`meta.next_cursor` of the part before."),
]


async def admit_consumer(guard: Guard, secret: str | None, *, keys_required: bool) -> None:
    """Let somebody read, or say why not; whoever has a key is counted, also if none is needed."""
    if secret or keys_required:
        await guard.admit(secret, Scope.READ)


def consumers(*, keys_required: bool) -> Callable[..., Awaitable[None]]:
    """What endpoints depend on that tell what feeds say."""

    async def allow(request: Request, secret: ServiceKey = None) -> None:
        await admit_consumer(request.app.state.guard, secret, keys_required=keys_required)

    return allow
