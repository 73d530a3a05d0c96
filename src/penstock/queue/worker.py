"""The crew: workers that take URLs from the frontier along the path until none is left.

A worker carries one visit at a time and only while there is something to do for it; a visit
that waits for its turn lies in the frontier. Workers without work sleep until they are woken.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.kernel.model import Outcome, Request, Visit, Wait
from penstock.kernel.pipeline import Pipeline
from penstock.queue.frontier import Frontier

#: The gates that say that a site is away, as opposed to: not your turn yet.
AWAY = frozenset({"hours", "breaker"})
MAX_PARKED_LINES = 100_000


@dataclass(frozen=True, slots=True)
class CrewSettings:
    """How many visits are carried at once, queued at most, and how long a site may be away."""

    workers: int = 256
    max_queued: int = 1_000_000
    patience: float = 900.0


class Crew:
    """Feeds requests through a pipeline; `stop` lets what is under way come to its end."""

    def __init__(
        self,
        pipeline: Pipeline,
        clock: Clock,
        deliver: Callable[[Outcome], None],
        settings: CrewSettings,
        *,
        far: Callable[[Request, Wait], None] | None = None,
        still_wanted: Callable[[Request], bool] = lambda _request: True,
        will_wait: Callable[[Request, Wait], bool] = lambda _request, _wait: True,
        not_yet: Callable[[Request], Wait | None] = lambda _request: None,
    ) -> None:
        self._pipeline = pipeline
        self._clock = clock
        self._deliver = deliver
        self._settings = settings
        self._far = far
        self._still_wanted = still_wanted
        self._will_wait = will_wait
        self._not_yet = not_yet
        self._under_way: dict[str, asyncio.Timeout] = {}
        self._frontier: Frontier[Request | Visit] = Frontier()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._away_since: dict[str, float] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._dropped: list[Request | Visit] = []
        self._fed = False
        self._stopping = False
        self._room = asyncio.Event()
        self._changed = asyncio.Event()
        self.accepted = 0
        self.finished = 0

    @property
    def queued(self) -> int:
        """How many requests wait in the frontier."""
        return len(self._frontier)

    @property
    def has_idle(self) -> bool:
        """Whether a worker has nothing to do."""
        return bool(self._idle)

    @property
    def running(self) -> int:
        """How many visits are being carried."""
        return self._frontier.running

    async def work(self, requests: AsyncIterator[Request]) -> list[Request]:
        """Take in requests and carry them all; return those left over after a `stop`."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._feed(requests))
            alarm = tasks.create_task(self._ring())
            count = self._settings.workers
            self._workers = [tasks.create_task(self._labour()) for _ in range(count)]
            await asyncio.wait(self._workers)
            alarm.cancel()
        left = self._frontier.drain() + self._dropped
        return [await self._leave_over(item) for item in left]

    async def _leave_over(self, item: Request | Visit) -> Request:
        if isinstance(item, Request):
            return item
        await self._pipeline.let_go(item)
        return item.request

    def stop(self) -> None:
        """Begin nothing new; `work` returns when what is under way is over."""
        self._stopping = True
        self._room.set()
        self._wake_all()

    def abort(self) -> None:
        """Begin nothing new and drop what is under way; it is left over, too."""
        self.stop()
        for worker in self._workers:
            worker.cancel()

    def cancel(self, request_id: str) -> None:
        """Break off what is under way for a request; nothing is delivered for it."""
        limit = self._under_way.get(request_id)
        if limit and limit.when() is None:
            limit.reschedule(asyncio.get_running_loop().time())

    async def _feed(self, requests: AsyncIterator[Request]) -> None:
        """Put requests in the frontier as long as there is room, then wait for room."""
        try:
            async for request in requests:
                self._accept(request)
                if self._stopping:
                    break
                if len(self._frontier) >= self._settings.max_queued:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._fed = True
            self._wake_all()

    def _accept(self, request: Request) -> None:
        """Queue a request; a visit is made of it when its turn comes, to save the room."""
        self.accepted += 1
        line, limit = self._pipeline.line_of(request)
        self._frontier.put(line, request, limit)
        self._wake_one()

    async def _labour(self) -> None:
        while not self._stopping:
            taken = self._frontier.take(self._clock.monotonic())
            if taken is not None:
                if self._frontier.has_ready:
                    self._wake_one()
                await self._carry(*taken)
            elif self._is_over():
                self._wake_all()
                return
            else:
                await self._sleep()

    async def _carry(self, line: str, item: Request | Visit) -> None:
        """Take one item as far as it goes now."""
        if not self._still_wanted(item if isinstance(item, Request) else item.request):
            await self._leave_over(item)
            self._frontier.done(line)
            return
        visit = self._pipeline.admit(item) if isinstance(item, Request) else item
        try:
            step = visit if isinstance(visit, Outcome) else await self._advance(visit)
        except asyncio.CancelledError:
            self._dropped.append(item)
            raise
        if isinstance(step, Wait) and isinstance(visit, Visit):
            if self._far and self._is_far(step) and not _is_midway(visit, step):
                await self._pipeline.let_go(visit)
                self._frontier.done(line)
                self._far(visit.request, step)
            else:
                self._put_aside(line, visit, step)
        elif isinstance(step, Outcome):
            self._frontier.done(line)
            if isinstance(visit, Visit) and _is_well(step):
                self._away_since.pop(visit.ledger, None)
            self._finish(step)
        else:
            self._frontier.done(line)
        if not self._room.is_set() and len(self._frontier) < self._settings.max_queued:
            self._room.set()

    async def _advance(self, visit: Visit) -> Outcome | Wait | None:
        """Walk on; a fault of our own ends this visit, not the others. None: it was cancelled."""
        request = visit.request
        limit = asyncio.timeout(None)
        try:
            return await self._walk(visit, limit)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                await self._pipeline.let_go(visit)
                return None
            get_logger().exception("internal error", request_id=request.id)
            return await self._pipeline.fail(visit, error)

    async def _walk(self, visit: Visit, limit: asyncio.Timeout) -> Outcome | Wait:
        """As far as it goes, unless somebody cancels it meanwhile."""
        try:
            async with limit:
                self._under_way[visit.request.id] = limit
                if wait := self._not_yet(visit.request):
                    await self._pipeline.let_go(visit)
                    return wait
                step = await self._pipeline.advance(visit)
                if isinstance(step, Wait) and self._gives_up(visit, step):
                    return await self._pipeline.give_up(visit, step)
                return step
        finally:
            self._under_way.pop(visit.request.id, None)

    def _gives_up(self, visit: Visit, wait: Wait) -> bool:
        if not self._will_wait(visit.request, wait):
            return True
        if self._far and visit.so_far and self._is_far(wait):
            # What was read so far is better than to begin anew, for ever.
            return True
        return self._far is None and self._too_long(visit.ledger, wait)

    def _put_aside(self, line: str, visit: Visit, wait: Wait) -> None:
        goal, limit = visit.ledger, visit.policy.pace.concurrency
        if wait.line:
            self._frontier.give_back(line, visit, wait.until, line=goal, limit=limit)
        else:
            self._frontier.done(line)
            self._frontier.put_later(goal, visit, wait.until, limit)
        self._changed.set()

    def _is_far(self, wait: Wait) -> bool:
        return wait.until - self._clock.monotonic() > self._settings.patience

    def _too_long(self, line: str, wait: Wait) -> bool:
        """Whether a site has been away, or will be, for longer than we are ready to wait."""
        if wait.gate not in AWAY:
            return self._is_far(wait)
        if len(self._away_since) >= MAX_PARKED_LINES:
            self._away_since.clear()
        since = self._away_since.setdefault(line, self._clock.monotonic())
        return wait.until - since > self._settings.patience

    def _finish(self, outcome: Outcome) -> None:
        self.finished += 1
        self._deliver(outcome)

    def _is_over(self) -> bool:
        return self._fed and not len(self._frontier) and not self._frontier.running

    async def _sleep(self) -> None:
        """Wait until there may be something to take."""
        wake = asyncio.get_running_loop().create_future()
        self._idle.append(wake)
        self._changed.set()
        await wake

    def _wake_one(self) -> bool:
        """Wake a worker that sleeps, if there is one."""
        while self._idle:
            wake = self._idle.popleft()
            if not wake.done():
                wake.set_result(None)
                return True
        return False

    def _wake_all(self) -> None:
        for _ in range(len(self._idle)):
            self._wake_one()

    async def _ring(self) -> None:
        """Wake a worker whenever the time of the next waiting item comes."""
        while True:
            self._changed.clear()
            at = self._frontier.next_at()
            if at is None:
                await self._changed.wait()
                continue
            pause = at - self._clock.monotonic()
            if pause > 0:
                await self._clock.wait_for(self._changed, pause)
            elif self._wake_one():
                # It takes what is due and may be long about it: look for the next time then.
                await asyncio.sleep(0)
            else:
                await self._changed.wait()


def _is_midway(visit: Visit, wait: Wait) -> bool:
    """Whether the way back to the first URL would be the way to the same wait."""
    return bool(visit.hops) and wait.gate == "pacing"


def _is_well(outcome: Outcome) -> bool:
    """Whether an outcome shows that the site is there."""
    return outcome.failure is None or outcome.failure.site_is == "well"
