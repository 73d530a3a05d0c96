"""Live pages on a store alone, as a command has them: others watch."""

from penstock.app import open_book
from penstock.app.engine import open_blobs
from penstock.app.monitoring import paces_of_sources
from penstock.core.clock import Clock, SystemClock
from penstock.extract.live.registry import open_live_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.queue.heartbeat import is_gone
from penstock.queue.upkeep import Upkeep
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.web.waiting import Waiters
from penstock.workloads.live.feeds import get_feed
from penstock.workloads.live.pace import Paces
from penstock.workloads.live.service import LiveService, Means

#: A process that watches feeds looks for new ones every second.
TAKE_SECONDS, LOOK_SECONDS = 3.0, 0.2


async def service_on(settings: Settings, store: Store) -> LiveService:
    """What live pages do for people; paces are those that processes on the store go by."""
    policies = open_book(settings)
    policies.learn_sources(await paces_of_sources(store))
    return LiveService(
        Means(
            store=store,
            blobs=open_blobs(settings),
            registry=open_live_registry(settings.live.adapters),
            # Only to look at URLs: names are looked up by whoever contacts them.
            admission=Admission(settings.admission, SystemLookup(1)),
            paces=Paces(policies, settings.live.polling_interval_seconds),
            waiters=Waiters(),
            clock=SystemClock(),
            settings=settings.live,
        )
    )


async def is_taken(settings: Settings, store: Store, match_id: str, clock: Clock) -> bool | None:
    """Whether a process watches a feed, or soon does; None if there is none that could."""
    give_up_at = clock.monotonic() + TAKE_SECONDS
    while True:
        row = await store.read(lambda unit: get_feed(unit, match_id))
        if row and row["worker"]:
            return True
        if not await _is_anybody_there(settings, store):
            return None
        if clock.monotonic() >= give_up_at:
            return False
        await clock.sleep(LOOK_SECONDS)


async def _is_anybody_there(settings: Settings, store: Store) -> bool:
    """Whether somebody works from the store who might watch feeds."""
    longest = settings.queue.silence_seconds * 1000
    return any(
        row["kind"] == "worker" and row["silent_ms"] < longest and not is_gone(row["process"])
        for row in await Upkeep(store).workers()
    )
