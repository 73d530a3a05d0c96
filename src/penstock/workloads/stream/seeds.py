"""Seeds: URLs and sitemaps whose URLs are put in the queue again and again, each when it is due.

A round pushes a batch, then remembers it, then goes on; when all is pushed the seed's next round is
written down. So a process that ends in the middle of a round begins it anew and skips what was
pushed; one that is killed between pushing and remembering pushes that batch once more.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.core.urls import Url, identity, parse
from penstock.extract.page.sitemap import Entry
from penstock.extract.sitemap_walk import SitemapWalk, WalkLimits, WalkReport
from penstock.kernel.pipeline import Pipeline
from penstock.workloads.stream.feeding import Answer, Pusher, feed, insist
from penstock.workloads.stream.memory import LinkMemory, NoLinkMemory, SeedMemory, SeedState
from penstock.workloads.stream.seed_file import Seed

BATCH = 500
#: Rounds that are under way at a time.
AT_ONCE = 16
HOLD_SECONDS = 30.0
HOLD_AGAIN = 10.0
ONCE_SECONDS = 600.0
#: Nobody sleeps longer than this without looking at the time again.
LONGEST_SLEEP = 300.0
#: After a round whose files could not all be had; twice as long each time.
SOON = 900.0
MOST_DOUBLINGS = 10
#: For how long a page is known as one where links begin.
ROOT_SECONDS = 7 * 86400.0


class Walk(Protocol):
    """A way to the URLs of a sitemap, and what was met on it."""

    report: WalkReport

    def entries(self, start: str) -> AsyncGenerator[Entry, None]: ...


#: Begins a walk for a seed; only what changed after a moment counts, if there is one.
StartWalk = Callable[[Seed, datetime | None], Walk]


def walks_through(pipeline: Pipeline, clock: Clock, limits: WalkLimits) -> StartWalk:
    """Walks that get each file on the path of any URL of the stream."""

    def start(seed: Seed, since: datetime | None) -> Walk:
        return SitemapWalk(
            pipeline,
            clock,
            workload="stream",
            limits=limits,
            since=since,
            any_site=seed.any_site,
        )

    return start


@dataclass(slots=True)
class Round:
    """What came of a round: URLs found, known from before, unwanted by a pattern, and pushed."""

    seed: Seed
    begun: datetime
    next_at: datetime
    found: int = 0
    known: int = 0
    unwanted: int = 0
    pushed: int = 0
    walked: WalkReport | None = None

    def as_json(self) -> dict[str, Any]:
        """The round as plain data."""
        walked = self.walked or WalkReport()
        return {
            "seed": self.seed.url,
            "found": self.found,
            "known": self.known,
            "unwanted": self.unwanted,
            "pushed": self.pushed,
            "files": walked.files,
            "elsewhere": walked.elsewhere,
            "old": walked.old,
            "undated": walked.undated,
            "unusable": walked.unusable,
            "cut": walked.cut,
            "troubles": [str(trouble) for trouble in walked.troubles],
            "next_at": self.next_at.isoformat(),
        }


class Seeds:
    """Pushes the URLs of each seed when it is due; of several processes one at a time does it."""

    def __init__(
        self,
        seeds: Iterable[Seed],
        *,
        walks: StartWalk,
        pusher: Pusher,
        memory: SeedMemory,
        clock: Clock,
        chance: random.Random,
        who: str,
        links: LinkMemory | None = None,
    ) -> None:
        self._seeds = list(seeds)
        self._walks = walks
        self._pusher = pusher
        self._memory = memory
        self._links = links or NoLinkMemory()
        self._clock = clock
        self._chance = chance
        self._who = who
        # Sitemaps of slow sites do not keep single URLs waiting.
        self._rooms = {kind: asyncio.Semaphore(AT_ONCE) for kind in ("url", "sitemap")}
        self.is_ours = False

    async def run(self) -> None:
        """Push what is due for as long as it is ours to do; else stand by."""
        # Before the seeds are looked at, or each would wait for the next look.
        await self._hold(HOLD_SECONDS)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_holding())
            for seed in self._seeds:
                group.create_task(self._keep_pushing(seed))

    async def once(self) -> list[Round]:
        """Push what is due now, and no more; nothing if another process does it."""
        await self._hold(ONCE_SECONDS)
        try:
            rounds = await asyncio.gather(*(self._look(seed) for seed in self._seeds))
        finally:
            if self.is_ours:
                await self._hold(0.0)
        return [found for found in rounds if isinstance(found, Round)]

    async def _keep_holding(self) -> None:
        while True:
            await self._hold(HOLD_SECONDS)
            await self._clock.sleep(HOLD_AGAIN)

    async def _hold(self, seconds: float) -> None:
        self.is_ours = await self._insist(partial(self._memory.hold, self._who, seconds))

    async def _keep_pushing(self, seed: Seed) -> None:
        while True:
            found = await self._look(seed)
            pause = found if isinstance(found, float) else 0.0
            await self._clock.sleep(min(pause, LONGEST_SLEEP))

    async def _look(self, seed: Seed) -> Round | float:
        """The seed's round, if it is due and ours to do; else how many seconds to wait."""
        if not self.is_ours:
            return HOLD_AGAIN
        async with self._rooms[seed.kind]:
            now = await self._insist(self._memory.now)
            state = await self._insist(partial(self._memory.state, seed.id))
            wait = (_due(seed, state) - now).total_seconds() if state else 0.0
            return wait if wait > 0 else await self._push_all(seed, state, now)

    async def _push_all(self, seed: Seed, state: SeedState | None, now: datetime) -> Round:
        """One round: find the URLs of a seed, push the new ones, and say when it comes again."""
        done = Round(seed, now, seed.timing.next_after(now, self._chance))
        async with aclosing(self._batches(done, state)) as batches:
            async for batch in batches:
                await self._push(batch, done)
                if not self.is_ours:
                    return done
        failures = _failures(done, state)
        whole_at = (state.whole_at if state else None) if failures else now
        if failures:
            soon = SOON * 2 ** min(failures - 1, MOST_DOUBLINGS)
            done.next_at = min(done.next_at, now + timedelta(seconds=soon))
        kept = SeedState(whole_at, done.next_at, failures)
        await self._insist(partial(self._memory.keep, seed.id, kept))
        _log(done)
        return done

    async def _batches(
        self, done: Round, state: SeedState | None
    ) -> AsyncGenerator[dict[str, str], None]:
        """The wanted URLs of a seed by their identity, a batch at a time."""
        batch: dict[str, str] = {}
        async with aclosing(self._urls(done, state)) as urls:
            async for url in urls:
                if not done.seed.filter.wants(url):
                    done.unwanted += 1
                    continue
                if done.found == done.seed.limit:
                    break
                done.found += 1
                batch.setdefault(identity(url), url.href)
                if len(batch) == BATCH:
                    yield batch
                    batch = {}
        if batch:
            yield batch

    async def _urls(self, done: Round, state: SeedState | None) -> AsyncGenerator[Url, None]:
        seed = done.seed
        if seed.kind == "url":
            yield parse(seed.url)
            return
        walk = self._walks(seed, seed.since_when(done.begun, state.whole_at if state else None))
        done.walked = walk.report
        async with aclosing(walk.entries(seed.url)) as entries:
            async for entry in entries:
                yield entry.url

    async def _push(self, batch: dict[str, str], done: Round) -> None:
        after = done.begun - timedelta(seconds=done.seed.timing.span(done.begun))
        known = await self._insist(partial(self._memory.pushed, list(batch), after))
        keys = [key for key in batch if key not in known]
        done.known += len(known)
        async for taken in feed([batch[key] for key in keys], self._pusher, self._clock):
            await self._remember(keys[:taken], done)
            keys = keys[taken:]
            done.pushed += taken

    async def _remember(self, keys: Sequence[str], done: Round) -> None:
        await self._insist(partial(self._memory.remember, keys, done.begun, done.next_at))
        await self._insist(partial(self._links.learn, keys, 0, ROOT_SECONDS))

    async def _insist(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        return await insist(call, self._clock)


def _due(seed: Seed, state: SeedState) -> datetime:
    """When the next round is due; an interval that was made shorter counts at once."""
    if seed.timing.every is None or state.whole_at is None or state.failures:
        return state.next_at
    longest = timedelta(seconds=seed.timing.every + seed.timing.jitter)
    return min(state.next_at, state.whole_at + longest)


def _failures(done: Round, state: SeedState | None) -> int:
    """How many rounds in a row had trouble that may pass, this one included."""
    troubles = done.walked.troubles if done.walked else []
    if not any(trouble.may_pass for trouble in troubles):
        return 0
    return (state.failures if state else 0) + 1


def _log(done: Round) -> None:
    walked = done.walked or WalkReport()
    log = get_logger().warning if walked.troubles or walked.cut else get_logger().info
    log("seed done", action="seeds.push", **done.as_json())
