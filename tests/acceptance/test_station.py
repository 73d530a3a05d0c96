"""The station between queue and crew: it holds what it can use, and gives back the rest."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from penstock.app import build
from penstock.app.engine import Engine, open_engine, open_ready_store
from penstock.core.clock import SystemClock
from penstock.core.errors import BlobError
from penstock.core.metrics import Metrics
from penstock.events.log import EventLog
from penstock.kernel.model import Outcome
from penstock.kernel.policy import Pace, Rate
from penstock.kernel.switches import Switches
from penstock.queue.health import judge, report
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim, Ending, Item
from penstock.queue.station import turns_within
from penstock.queue.tables import items
from penstock.workloads.fetch.lane import NAME, FetchLane
from tests.platforms import ONCE, policies, settings_for
from tests.shell import eventually
from tests.site import Reply, Site
from tests.stores import row_of, states_of


def item(number: int, url: str, group: str, **payload: Any) -> Item:
    wanted = {"url": url, "headers": {}, "extract": None, "run": "", **payload}
    return Item(f"{number:032}", NAME, wanted, group)


def products(host: str, number: int, first: int = 0) -> list[Item]:
    return [
        item(first + n, f"http://{host}/product/{n % 20 + 1}?n={n}", host) for n in range(number)
    ]


class Bench:
    """A running engine on the local site, and what it has settled."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.results: list[Result] = []
        self.hits: list[int] = []
        self.engine: Engine

    def settled(self, result: Result) -> None:
        self.results.append(result)
        self.hits.append(len(self._site.hits))

    def over(self, number: int) -> bool:
        return len(self.results) >= number


@asynccontextmanager
async def running(folder: Path, site: Site, **sections: Any) -> AsyncIterator[Bench]:
    sections["store"] = {"folder": folder}
    settings = settings_for(site, **sections)
    bench = Bench(site)
    async with (
        open_ready_store(settings, SystemClock()) as store,
        build(settings) as platform,
        open_engine(settings, platform, store, settled=bench.settled) as bench.engine,
        asyncio.TaskGroup() as tasks,
    ):
        work = tasks.create_task(bench.engine.work())
        yield bench
        bench.engine.stop()
        await work


async def test_a_closed_domain_is_given_back_and_holds_up_nobody(
    tmp_path: Path, site: Site
) -> None:
    hour = SystemClock().now().hour
    closed = {"allowed_hours": {"start": (hour + 2) % 24, "end": (hour + 3) % 24}}
    rules = policies(tmp_path, shop01_test=closed)
    async with running(tmp_path, site, policies=rules) as bench:
        await bench.engine.queue.put(products("shop01.test", 50) + products("shop02.test", 20, 50))
        await eventually(lambda: bench.over(20))
        await eventually(lambda: bench.engine.station.held == 0)
        first = await row_of(bench.engine.store, f"{0:032}")
        states = list((await states_of(bench.engine.store)).values())
    assert first["state"] == "waiting"
    assert first["attempts"] == 0
    assert first["not_before"] - first["enqueued_at"] > 3_500_000
    assert states.count("done") == 20
    assert not any("shop01" in hit.host for hit in site.hits)


async def test_of_a_slow_domain_only_what_it_can_take_is_claimed(
    tmp_path: Path, site: Site
) -> None:
    rules = policies(tmp_path, shop01_test={"request_delay_ms": 5000})
    async with running(tmp_path, site, policies=rules) as bench:
        await bench.engine.queue.put(
            products("shop01.test", 100) + products("shop02.test", 60, 100)
        )
        await eventually(lambda: bench.over(61))
        states = list((await states_of(bench.engine.store)).values())
    assert states.count("claimed") <= 5
    assert states.count("waiting") >= 90


async def test_who_is_idle_gets_work_though_most_of_what_is_held_waits(
    tmp_path: Path, site: Site
) -> None:
    slow = {"request_delay_ms": 600_000, "respect_robots_txt": False}
    rules = policies(tmp_path, shop01_test=slow)
    limits = {"capacity": 20, "claim_at_once": 20, "keep_seconds": 86_400}
    async with running(tmp_path, site, policies=rules, queue=limits, fetch={"workers": 2}) as bench:
        await bench.engine.queue.put(products("shop01.test", 16))
        await eventually(lambda: bench.over(1) and bench.engine.station.held == 15)
        await bench.engine.queue.put(products("shop02.test", 3, 16))
        await eventually(lambda: bench.over(4))
    assert {result.claim.group for result in bench.results[1:]} == {"shop02.test"}


async def test_a_site_that_stays_down_makes_a_lane_in_which_nothing_succeeds(
    tmp_path: Path, site: Site
) -> None:
    down = policies(tmp_path, down_test={"respect_robots_txt": False, "max_concurrent": 2})
    async with running(tmp_path, site, policies=down, retry=ONCE) as bench:
        station = bench.engine.station
        await bench.engine.queue.put(products("down.test", 30))
        await eventually(lambda: station.progress.in_vain[NAME] >= 30 and not station.held)
        told = report(station, [], Switches(), Metrics(), SystemClock())
        worker = {"id": "w", "kind": "worker", "silent_ms": 0, "status": told}
        ill = judge(await bench.engine.queue.depth(), [worker], {})
        await bench.engine.queue.put(products("shop01.test", 1, 30))
        await eventually(lambda: NAME in station.progress.last_success)
    assert ill.status == "degraded"
    assert "tries came to nothing" in ill.problems[0]
    assert bench.results[0].outcome.failure
    assert len(bench.results) < 30, "most were put back, because the circuit is open"
    assert station.progress.in_vain[NAME] == 0


async def test_an_item_that_makes_no_sense_is_buried_with_the_reason(
    tmp_path: Path, site: Site
) -> None:
    async with running(tmp_path, site) as bench:
        bad = Item("f" * 32, NAME, {"no": "url"})
        await bench.engine.queue.put([bad, *products("shop01.test", 1)])
        await eventually(lambda: bench.over(1))
        await eventually(lambda: bench.engine.station.held == 0)
        row = await row_of(bench.engine.store, "f" * 32)
    assert row["state"] == "dead"
    assert row["failure"]["reason"] == "bad_payload"


class Speechless(FetchLane):
    """A lane that can make nothing of what failed."""

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        raise KeyError("url")


async def test_of_what_its_lane_can_make_nothing_of_the_first_reason_is_kept(
    tmp_path: Path, site: Site
) -> None:
    async with running(tmp_path, site) as bench:
        bench.engine.station._lanes = {NAME: Speechless(bench.engine.log)}
        await bench.engine.queue.put([Item("f" * 32, NAME, {"no": "url"})])
        await bench.engine.queue.put(products("shop01.test", 1))
        await eventually(lambda: len(site.hits) > 1 and bench.engine.station.held == 0)
        senseless = await row_of(bench.engine.store, "f" * 32)
        fine = await row_of(bench.engine.store, f"{0:032}")
    assert (senseless["state"], senseless["failure"]["reason"]) == ("dead", "bad_payload")
    assert (fine["state"], fine["failure"]["reason"]) == ("dead", "internal_error")


async def suspect(engine: Engine, numbers: Sequence[int], **traits: int) -> None:
    """Let items look as if workers had been lost with them."""
    ids = [f"{number:032}" for number in numbers]
    statement = update(items).where(items.c.id.in_(ids)).values(**traits)
    await engine.store.write(lambda unit: unit.run(statement) and None)


async def test_suspects_are_tried_one_by_one_in_the_end_and_the_innocent_are_done(
    tmp_path: Path, site: Site
) -> None:
    async with running(tmp_path, site) as bench:
        later = [each._replace(delay=0.5) for each in products("shop01.test", 12)]
        await bench.engine.queue.put(later)
        await suspect(bench.engine, range(12), lost=5, tried=2)
        await eventually(lambda: bench.over(12))
        states = set((await states_of(bench.engine.store)).values())
        rows = [await row_of(bench.engine.store, each.id) for each in later]
    assert states == {"done"}
    assert {row["tried"] for row in rows} == {3}
    # Robots first, then never more than one page ahead of what is settled.
    assert bench.hits == list(range(2, 14))


async def test_many_suspects_are_tried_together_at_first(tmp_path: Path, site: Site) -> None:
    async with running(tmp_path, site) as bench:
        later = [each._replace(delay=0.5) for each in products("shop01.test", 40)]
        await bench.engine.queue.put(later)
        await suspect(bench.engine, range(40), lost=3)
        await eventually(lambda: bench.over(40))
        rows = [await row_of(bench.engine.store, each.id) for each in later]
    assert {(row["state"], row["tried"]) for row in rows} == {("done", 1)}
    assert bench.hits != list(range(2, 42)), "more than one page was under way"


async def test_who_costs_workers_again_and_again_is_given_up_with_an_outcome(
    tmp_path: Path, site: Site
) -> None:
    async with running(tmp_path, site) as bench:
        (poison,) = [each._replace(delay=0.5) for each in products("shop01.test", 1)]
        await bench.engine.queue.put([poison])
        await suspect(bench.engine, [0], lost=8, tried=5)
        await eventually(lambda: bench.over(1))
        row = await row_of(bench.engine.store, poison.id)
        events = await bench.engine.log.read()
    assert (row["state"], row["failure"]["reason"]) == ("dead", "worker_lost")
    assert [event.message.data["reason"] for event in events] == ["worker_lost"]
    assert not any("/product" in hit.path for hit in site.hits)


async def test_a_site_that_asks_to_come_back_later_costs_an_attempt(
    tmp_path: Path, site: Site
) -> None:
    site.reply("shop01.test", "/busy", Reply(429, "later", headers={"Retry-After": "120"}))
    async with running(tmp_path, site) as bench:
        busy = item(1, "http://shop01.test/busy", "shop01.test")
        await bench.engine.queue.put([busy])
        await eventually(lambda: any(hit.path == "/busy" for hit in site.hits))
        await eventually(lambda: bench.engine.station.held == 0)
        row = await row_of(bench.engine.store, busy.id)
    assert (row["state"], row["attempts"]) == ("waiting", 1)
    assert row["failure"]["reason"] == "rate_limited"
    assert row["not_before"] - row["enqueued_at"] > 100_000


class Careful(FetchLane):
    """A lane that takes as long as it is told to make what it writes of some pages."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(log)
        self.ready = asyncio.Event()
        self.troubles: list[Exception] = []

    def content(self, claim: Claim, outcome: Outcome) -> Any:
        content = super().content(claim, outcome)
        is_slow = "slow" in outcome.request.url and outcome.ok
        return self._slowly(content) if is_slow else content

    async def _slowly(self, content: Any) -> Any:
        await self.ready.wait()
        if self.troubles:
            raise self.troubles.pop()
        return content


@asynccontextmanager
async def with_careful_lane(bench: Bench) -> AsyncIterator[Careful]:
    lane = Careful(bench.engine.log)
    bench.engine.station._lanes = {**bench.engine.station._lanes, NAME: lane}
    slow = item(99, "http://shop01.test/product/1?slow", "shop01.test")
    await bench.engine.queue.put([slow, *products("shop01.test", 20)])
    yield lane
    await eventually(lambda: bench.over(21))


async def test_a_result_that_takes_long_to_make_holds_up_no_other(
    tmp_path: Path, site: Site
) -> None:
    async with running(tmp_path, site) as bench, with_careful_lane(bench) as lane:
        await eventually(lambda: bench.over(20))
        assert bench.engine.station.held == 1
        lane.ready.set()
    assert bench.results[-1].claim.id == f"{99:032}"


@pytest.mark.parametrize(
    ("trouble", "state"), [(BlobError("the disk is full"), "done"), (ValueError("odd"), "dead")]
)
async def test_a_result_that_cannot_be_made_is_made_later_or_says_why(
    tmp_path: Path, site: Site, trouble: Exception, state: str
) -> None:
    async with running(tmp_path, site) as bench:
        async with with_careful_lane(bench) as lane:
            lane.troubles.append(trouble)
            lane.ready.set()
        row = await row_of(bench.engine.store, f"{99:032}")
    assert row["state"] == state
    if state == "dead":
        assert row["failure"]["reason"] == "internal_error"


@pytest.mark.parametrize(
    ("pace", "turns"),
    [
        (Pace((Rate(1, 2.0),), 2.0, 1), 5),
        (Pace((Rate(2, 10.0),), 0.0, 1), 2),
        (Pace((Rate(1, 60.0),), 30.0, 1), 1),
        (Pace((Rate(1000, 1.0),), 0.0, 8), 10_000),
        (Pace((Rate(1, 60.0),), 0.0, 3), 3),
    ],
)
def test_turns_of_a_pace_in_ten_seconds(pace: Pace, turns: int) -> None:
    assert turns_within(pace, 10.0) == turns
