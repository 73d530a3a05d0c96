"""The desk of the page fetcher, wherever its queue is."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.app.engine import open_queue, open_ready_store
from penstock.app.stream_servers import open_redis, open_url_queue
from penstock.app.streaming import line_in
from penstock.core.clock import Clock
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.entrance import Entrance
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import PolicyBook
from penstock.kernel.settings import open_policies
from penstock.queue.ports import Queue
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.stream.desk import (
    DeadLetter,
    DeadLetters,
    Desk,
    Pushed,
    Standing,
)
from penstock.workloads.stream.model import NAME
from penstock.workloads.stream.stored import StoredDesk

if TYPE_CHECKING:
    from penstock.queue.redis import RedisQueue


class RedisDesk:
    """The lists in Redis, as everybody may push to them."""

    def __init__(self, queue: "RedisQueue") -> None:
        self._queue = queue

    async def push(self, urls: Sequence[str]) -> Pushed:
        await self._queue.put(urls)
        return Pushed(len(urls))

    async def depth(self, most: int | None = None) -> Standing:
        """Redis knows how long its lists are."""
        del most
        depth = await self._queue.depth()
        parked = sum(line.waiting for line in depth.parked.values())
        return Standing(depth.waiting, parked, sum(depth.claimed.values()), depth.dead)

    async def dead(
        self, after: str | None = None, limit: int = 100, *, domain: str = "", reason: str = ""
    ) -> DeadLetters:
        """By their place in the list."""
        found = await self._queue.dead_letters.show(
            int(after or 0), limit, domain=domain, reason=reason
        )
        letters = [_as_letter(each.url, each.reason, each.at) for each in found]
        return DeadLetters(letters, str(found[-1].place + 1) if len(found) == limit else None)

    async def revive(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return await self._queue.dead_letters.revive(urls, domain=domain, reason=reason)

    async def discard(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return await self._queue.dead_letters.forget(urls, domain=domain, reason=reason)


def _as_letter(url: str, reason: Mapping[str, Any], at: datetime | None) -> DeadLetter:
    return DeadLetter(
        url=url,
        type=reason.get("type", "url_specific"),
        kind=reason.get("kind", ""),
        reason=reason.get("reason", ""),
        detail=reason.get("detail", ""),
        status_code=reason.get("status_code"),
        domain=reason.get("domain", ""),
        at=at,
    )


def stored_desk(
    settings: Settings,
    store: Store,
    queue: Queue | None = None,
    path: Pipeline | None = None,
) -> Desk:
    """The desk of a store that is open; beside an engine, on its queue and its path."""
    # Only to look at URLs: names are looked up by whoever contacts them.
    admission = Admission(settings.admission, SystemLookup(1))
    line_of = partial(line_in, path or Entrance(admission, _policies(settings)))
    return StoredDesk(store, queue or open_queue(settings, store), admission, line_of)


@asynccontextmanager
async def open_desk(settings: Settings, clock: Clock) -> AsyncIterator[Desk]:
    """The desk that the settings mean."""
    async with AsyncExitStack() as stack:
        if settings.stream.uses_servers:
            server = await stack.enter_async_context(open_redis(settings.stream))
            # Only who claims URLs has to know their lines.
            yield RedisDesk(open_url_queue(settings.stream, server, str))
        else:
            store = await stack.enter_async_context(open_ready_store(settings, clock))
            yield stored_desk(settings, store)


def _policies(settings: Settings) -> PolicyBook:
    return open_policies(settings.pacing, settings.policies, {NAME: settings.stream.as_policy()})
