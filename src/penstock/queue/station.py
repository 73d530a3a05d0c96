"""The station: claims work from the queue, lets a crew carry it, writes back what became of it.

It takes from each domain about as much as its pace allows in the next seconds: the rest stays
in the queue, for any process. What has to wait for long is given back with the time. An outcome
counts when it is committed, with everything that belongs to it; then the item is over.
"""

import asyncio
import math
import traceback
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutine
from itertools import groupby
from typing import Any

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError, StoreError
from penstock.core.log import get_logger
from penstock.kernel.model import Broken, Outcome, RateLimited, Request, Wait
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import Pace, Rate
from penstock.queue.lanes import Bounded, Homework, Impatient, Lane, Provident, Result
from penstock.queue.ports import Bury, Claim, Claims, Ending, Release, Retry
from penstock.queue.sources import Source
from penstock.queue.suspects import MOST_TRIES, SUSPICIOUS, Suspects
from penstock.queue.worker import Crew, CrewSettings
from penstock.store.unit import Unit

#: For how many seconds of a domain's pace items are claimed ahead.
HORIZON = 10.0
#: Of a domain whose pace is not known yet.
FIRST_SHARE = 4
#: Of a group whose items are carried out here: none waits for a site.
AT_HOME = Pace((Rate(64, HORIZON),), delay=0.0, concurrency=64)
#: So many of them are carried out at a time: each has a page in memory.
MOST_AT_HOME = 64
#: Characters of where something broke that are kept.
LONGEST_TRACE = 8000
#: What could not be carried out here is tried again after so many seconds.
LATER = 5.0
#: So many are remembered; then they are looked up again.
MOST_PACES = 100_000
PAUSE = 1.0
#: Gates that have an item put back because its site fails.
IN_VAIN = frozenset({"breaker", "retry"})
#: When workers are idle, one in so many of what is claimed at a time otherwise is worth a claim.
FEWER = 8
#: Results are written at once while they are few; when many come, so many or so long at a time.
FEW, MANY, GATHERING = 8, 256, 0.05


@dataclass(frozen=True, slots=True)
class StationSettings:
    """How much is claimed, carried and waited for."""

    workers: int = 256
    capacity: int = 1024
    claim_at_once: int = 500
    keep_seconds: float = 30.0
    grace_seconds: float = 30.0


@dataclass(slots=True)
class Progress:
    """What a station has done in each lane, and when something last went well (monotonic).

    `in_vain` counts what came to nothing since then; `last_try` is when anything did or did not.
    """

    done: Counter[str] = field(default_factory=Counter)
    last_success: dict[str, float] = field(default_factory=dict)
    in_vain: Counter[str] = field(default_factory=Counter)
    last_try: dict[str, float] = field(default_factory=dict)

    def succeeded(self, lane: str, now: float) -> None:
        self.last_success[lane] = self.last_try[lane] = now
        self.in_vain[lane] = 0

    def failed(self, lane: str, now: float) -> None:
        self.last_try[lane] = now
        self.in_vain[lane] += 1


class Station:
    """Empties lanes of the queue until it is stopped."""

    def __init__(
        self,
        queue: Claims,
        source: Source,
        lanes: Mapping[str, Lane],
        *,
        pipeline: Pipeline,
        clock: Clock,
        settings: StationSettings,
        settled: Callable[[Result], None] = lambda _result: None,
    ) -> None:
        self._queue = queue
        self._source = source
        self._lanes = lanes
        # Asked once: for every item that would cost more than most of what is done for it.
        self._provident = {n: lane for n, lane in lanes.items() if isinstance(lane, Provident)}
        self._impatient = {n: lane for n, lane in lanes.items() if isinstance(lane, Impatient)}
        self._bounded = {n: lane for n, lane in lanes.items() if isinstance(lane, Bounded)}
        self._homework = {n: lane for n, lane in lanes.items() if isinstance(lane, Homework)}
        self._pipeline = pipeline
        self._clock = clock
        self._settings = settings
        self._settled = settled
        self._claims: dict[str, Claim] = {}
        self._in_hand: deque[Request] = deque()
        self._suspects = Suspects(queue)
        self._providing: dict[asyncio.Task[None], Claim] = {}
        self._ending: set[str] = set()
        self._held: Counter[str] = Counter()
        self._paces: dict[str, Pace] = {}
        self._making: dict[asyncio.Task[None], Claim] = {}
        self._at_home = asyncio.Semaphore(MOST_AT_HOME)
        self._endings: list[tuple[Claim, Ending, Result | None]] = []
        self._to_settle = asyncio.Event()
        self._is_enough = asyncio.Event()
        self._enough = FEW
        self._stopping = asyncio.Event()
        self._is_late = asyncio.Event()
        self.worker = ""
        self.progress = Progress()
        self._crew = Crew(
            pipeline,
            clock,
            self._ended,
            CrewSettings(settings.workers, settings.capacity, settings.keep_seconds),
            far=self._put_back,
            still_wanted=lambda request: request.id in self._claims,
            will_wait=self._will_wait,
            not_yet=self._not_yet,
        )

    @property
    def held(self) -> int:
        """How many claims are ours at the moment."""
        return len(self._claims)

    def stop(self) -> None:
        """Claim nothing more; what is under way may come to its end."""
        self._stopping.set()
        self._source.nudge()
        self._crew.stop()

    def abort(self) -> None:
        """Drop what is under way; it is given back."""
        self.stop()
        self._is_late.set()
        self._crew.abort()

    def cancel(self, item: str) -> bool:
        """Break off an item that was withdrawn from the queue; whether it was ours."""
        if item not in self._claims:
            return False
        self._crew.cancel(item)
        self._end(item, Release())
        return True

    async def forget(self) -> None:
        """Our claims are another's now: begin none of them."""
        for item in self._claims:
            self._source.over(item)
        self._claims.clear()
        self._ending.clear()
        self._suspects.drain()
        self._held.clear()

    async def run(self, worker: str) -> None:
        """Work until stopped; then everything is ended or given back, and written."""
        self.worker = worker
        try:
            async with asyncio.TaskGroup() as tasks:
                settling = tasks.create_task(self._keep_settling())
                hurry = tasks.create_task(self._end_of_grace())
                left = await self._crew.work(self._requests())
                await self._all_made()
                hurry.cancel()
                self._give_back(left)
                await self._all_settled()
                settling.cancel()
        finally:
            self._cancel_errands()

    async def _end_of_grace(self) -> None:
        await self._stopping.wait()
        await self._clock.sleep(self._settings.grace_seconds)
        self.abort()

    async def _all_made(self) -> None:
        """Wait for what is being made of pages, as long as there is time."""
        while self._making and not self._is_late.is_set():
            await self._clock.wait_for(self._is_late, PAUSE / 20)

    def _give_back(self, left: Sequence[Request]) -> None:
        """Release everything that did not come to its end."""
        begun = [claim.id for claim in (*self._providing.values(), *self._making.values())]
        self._cancel_errands()
        waiting = (*left, *self._in_hand, *self._suspects.drain())
        for item in (*begun, *(request.id for request in waiting)):
            self._end(item, Release())

    def _cancel_errands(self) -> None:
        for task in (*self._providing, *self._making):
            task.cancel()

    # ── claiming

    async def _requests(self) -> AsyncIterator[Request]:
        """Requests of claimed items, as long as there is room for more."""
        while not self._stopping.is_set():
            # All are ours from here on, also those that nobody takes from us after a stop.
            for claim in await self._claim():
                self._claims[claim.id] = claim
                self._held[claim.group] += 1
                lane = self._provident.get(claim.lane)
                if lane and lane.needs(claim):
                    _run_errand(self._providing, claim, self._provide(lane, claim))
                else:
                    self._accept(claim)
            await self._try_suspects()
            while self._in_hand:
                yield self._in_hand.popleft()

    async def _claim(self) -> list[Claim]:
        settings = self._settings
        room = settings.capacity - len(self._claims)
        limit = min(room, settings.claim_at_once)
        # Not one by one as room is made, but many at a time; fewer if some worker has nothing to
        # do, as when most of what is held waits for its turn.
        spare = settings.capacity - settings.workers
        enough = min(spare, settings.claim_at_once) // 2
        if room < (enough // FEWER if self._crew.has_idle else enough):
            limit = 0
        try:
            return await self._source.claims(self.worker, limit, self._share)
        except StoreError as error:
            get_logger().error("nothing can be claimed", error=str(error))
            await self._clock.sleep(PAUSE)
            return []

    async def _try_suspects(self) -> None:
        try:
            begun, lost = await self._suspects.try_next(self._claims)
        except StoreError as error:
            get_logger().error("suspects cannot be tried", error=str(error))
            return
        for request in begun:
            self._begin(request)
        for item in lost:
            self._end(item, Release())

    def _share(self, group: str) -> tuple[int, float]:
        """How many more items of a domain are wanted, and for how long they will do."""
        pace = self._paces.get(group)
        wanted = FIRST_SHARE if pace is None else turns_within(pace, HORIZON)
        return max(0, wanted - self._held[group]), HORIZON if pace else 0.0

    async def _provide(self, lane: Provident, claim: Claim) -> None:
        """Get what an item needs without holding up the others."""
        try:
            failure = await lane.provide(claim)
        except Exception as error:
            get_logger().exception("an item cannot be provided for", item=claim.id)
            failure = Broken("internal_error", repr(error))
        if self._claims.get(claim.id) is not claim:
            return
        if failure is None:
            self._accept(claim)
            self._source.nudge()
        elif request := self._request_of(claim):
            self._ended(Outcome(request, None, failure, ()))

    async def _do(self, lane: Homework, claim: Claim) -> None:
        """Carry an item out that needs no visit; what we lack at the moment is no fault of its."""
        try:
            async with self._at_home:
                outcome = await lane.do(claim)
        except PenstockError as error:
            get_logger().error("an item cannot be carried out", item=claim.id, error=str(error))
            if self._claims.get(claim.id) is claim:
                self._end(claim.id, Release(LATER))
            return
        except Exception as error:
            get_logger().exception("an item cannot be carried out", item=claim.id)
            outcome = _broken(Request("", id=claim.id), "internal_error", error)
        if self._claims.get(claim.id) is claim:
            self._ended(outcome)

    def _accept(self, claim: Claim) -> None:
        """Have an item begun as soon as may be."""
        if request := self._request_of(claim):
            if claim.tried >= MOST_TRIES:
                detail = f"workers were lost {claim.lost} times while they had it"
                self._ended(Outcome(request, None, Broken("worker_lost", detail), ()))
            elif claim.lost >= SUSPICIOUS:
                self._suspects.add(request)
            else:
                self._begin(request)

    def _begin(self, request: Request) -> None:
        claim = self._claims.get(request.id)
        if claim and (at_home := self._homework.get(claim.lane)):
            _run_errand(self._making, claim, self._do(at_home, claim))
        else:
            self._in_hand.append(request)

    def _request_of(self, claim: Claim) -> Request | None:
        try:
            request = self._lanes[claim.lane].request(claim)
        except (KeyError, TypeError, ValueError) as error:
            get_logger().error("an item cannot be read", item=claim.id, error=repr(error))
            request = Request("", id=claim.id, traceparent=claim.traceparent)
            self._ended(_broken(request, "bad_payload", error))
            return None
        if claim.group not in self._paces:
            if len(self._paces) >= MOST_PACES:
                self._paces.clear()
            is_at_home = claim.lane in self._homework
            self._paces[claim.group] = AT_HOME if is_at_home else self._pipeline.pace_of(request)
        return request

    # ── ending

    def _ended(self, outcome: Outcome) -> None:
        """The crew came to an end with a request."""
        claim = self._claims.get(outcome.request.id)
        if claim is None:
            return
        result = self._result_or_trouble(claim, outcome)
        if result is not None and iscoroutine(result.content):
            _run_errand(self._making, claim, self._make(result))
        elif result is not None:
            self._end(claim.id, result.ending, result)

    def _result_or_trouble(self, claim: Claim, outcome: Outcome) -> Result | None:
        """What an outcome means to its lane; if nothing at all, the item is buried."""
        try:
            return self._result(claim, outcome)
        except Exception as error:
            get_logger().exception("nothing can be made of an outcome", item=claim.id)
            broken = _broken(outcome.request, "internal_error", error)
        try:
            return self._result(claim, broken)
        except Exception:
            # What was wrong in the first place says more than that nothing can be made of it.
            failure = outcome.failure or broken.failure
            self._end(claim.id, Bury(failure.as_json() if failure else {}))
            return None

    def _result(self, claim: Claim, outcome: Outcome) -> Result:
        lane = self._lanes[claim.lane]
        return Result(claim, outcome, lane.conclude(claim, outcome), lane.content(claim, outcome))

    async def _make(self, result: Result | None) -> None:
        """Wait for what is to be written of an outcome, without holding up the others."""
        while result is not None and iscoroutine(result.content):
            claim, outcome = result.claim, result.outcome
            try:
                result = result._replace(content=await result.content)
            except Exception as error:
                get_logger().error("a result cannot be made yet", item=claim.id, error=str(error))
                if not isinstance(error, PenstockError):
                    outcome = _broken(outcome.request, "internal_error", error)
                await self._clock.sleep(PAUSE)
                is_ours = self._claims.get(claim.id) is claim
                result = self._result_or_trouble(claim, outcome) if is_ours else None
        if result is not None:
            self._end(result.claim.id, result.ending, result)

    def _will_wait(self, request: Request, wait: Wait) -> bool:
        claim = self._claims.get(request.id)
        lane = self._impatient.get(claim.lane) if claim else None
        return not (claim and lane) or lane.will_wait(claim, wait)

    def _not_yet(self, request: Request) -> Wait | None:
        """Nothing is fetched for a lane that has no room for it."""
        claim = self._claims.get(request.id)
        lane = self._bounded.get(claim.lane) if claim else None
        if lane is None or lane.has_room():
            return None
        return Wait(self._clock.monotonic() + PAUSE, "room", "what was fetched is not delivered")

    def _put_back(self, request: Request, wait: Wait) -> None:
        """A gate asks to wait for longer than claims are kept."""
        delay = max(0.0, wait.until - self._clock.monotonic())
        if wait.gate in IN_VAIN and (claim := self._claims.get(request.id)):
            self.progress.failed(claim.lane, self._clock.monotonic())
        if wait.gate == "retry" and wait.line:
            # The site was asked and said: later. That was an attempt.
            failure = {"kind": RateLimited.kind, "reason": "rate_limited", "detail": wait.why}
            self._end(request.id, Retry(delay, failure, park=True))
        else:
            self._end(request.id, Release(delay, park=wait.line))

    def _end(self, item: str, ending: Ending, result: Result | None = None) -> None:
        # After a spell of being taken for dead, an item may be carried twice; it ends once.
        claim = result.claim if result else self._claims.get(item)
        if claim and self._claims.get(item) is claim and item not in self._ending:
            self._ending.add(item)
            self._endings.append((claim, ending, result))
            self._to_settle.set()
            # When all that is held is over, nothing comes that could be waited for.
            if len(self._endings) >= self._enough or len(self._ending) == len(self._claims):
                self._is_enough.set()

    async def _keep_settling(self) -> None:
        """Write back endings, as many at a time as there are; what fails is tried again."""
        while True:
            await self._to_settle.wait()
            if self._enough > FEW:
                await self._clock.wait_for(self._is_enough, GATHERING)
            self._to_settle.clear()
            self._is_enough.clear()
            batch, self._endings = self._endings, []
            # What a write costs hardly depends on its size: when much is coming, gather more.
            self._enough = MANY if len(batch) > FEW else FEW
            try:
                await self._settle(batch)
            except PenstockError as error:
                get_logger().error("results cannot be written yet", error=str(error))
                self._endings = batch + self._endings
                self._to_settle.set()
                await self._clock.sleep(PAUSE)

    async def _settle(self, batch: Sequence[tuple[Claim, Ending, Result | None]]) -> None:
        results = [result for _, _, result in batch if result]
        results.sort(key=lambda result: result.claim.lane)

        def record(unit: Unit, accepted: Collection[str]) -> None:
            chosen = [result for result in results if result.claim.id in accepted]
            for lane, some in groupby(chosen, key=lambda result: result.claim.lane):
                self._lanes[lane].record(unit, list(some))

        endings = [(claim, ending) for claim, ending, _ in batch]
        accepted = await self._queue.settle(endings, record)
        for claim, _ in endings:
            # One that was forgotten may be ours again by now, under another token.
            if self._claims.get(claim.id) is claim:
                del self._claims[claim.id]
                self._ending.discard(claim.id)
                self._let_go(claim.group)
                self._source.over(claim.id)
        if self._suspects:
            self._source.nudge()
        for result in results:
            if result.claim.id in accepted:
                self._note(result)

    def _let_go(self, group: str) -> None:
        self._held[group] -= 1
        if self._held[group] <= 0:
            del self._held[group]

    def _note(self, result: Result) -> None:
        lane, now = result.claim.lane, self._clock.monotonic()
        self.progress.done[lane] += 1
        if result.outcome.ok:
            self.progress.succeeded(lane, now)
        else:
            self.progress.failed(lane, now)
        self._settled(result)

    async def _all_settled(self) -> None:
        """Wait for the last results; a store that stays away is not waited for for ever."""
        patience = self._clock.monotonic() + self._settings.grace_seconds
        while self._claims and self._clock.monotonic() < patience:
            await self._clock.sleep(PAUSE / 20)


def _run_errand(
    errands: dict[asyncio.Task[None], Claim], claim: Claim, errand: Coroutine[Any, Any, None]
) -> None:
    """Do something for a claim beside everything else."""
    task = asyncio.create_task(errand)
    errands[task] = claim
    task.add_done_callback(errands.pop)


def _broken(request: Request, reason: str, error: Exception) -> Outcome:
    trace = "".join(traceback.format_exception(error))[-LONGEST_TRACE:]
    return Outcome(request, None, Broken(reason, repr(error), trace=trace), ())


def turns_within(pace: Pace, seconds: float) -> int:
    """About how many turns a pace allows in a time; as many as can be used at once at least."""
    rates = [rate.limit * seconds / rate.window for rate in pace.rates]
    if pace.delay:
        rates.append(seconds / pace.delay)
    return max(pace.concurrency, math.ceil(min(rates)))
