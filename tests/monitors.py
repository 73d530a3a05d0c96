"""A price monitor on a store for tests: real pages are read, but nothing is fetched."""

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from penstock.client import AsyncClient
from penstock.core.ids import new_id
from penstock.core.urls import canonical, parse
from penstock.events.log import EventLog
from penstock.extract.registry import Registry, open_registry
from penstock.kernel.model import (
    Failure,
    Outcome,
    Page,
    Refused,
    Request,
    UrlSpecific,
)
from penstock.kernel.reader import Reader
from penstock.notify.ops import OpsAlert
from penstock.products.sources import approve_terms, create_retailer, create_source
from penstock.products.tables import prices
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge
from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.ports import Claim, LaneLimit
from penstock.queue.seats import Seat
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import Adapters
from penstock.workloads.monitor.changes import Change
from penstock.workloads.monitor.clearance import Clearance
from penstock.workloads.monitor.counting import Fate
from penstock.workloads.monitor.ending import Ends
from penstock.workloads.monitor.lane import MonitorLane
from penstock.workloads.monitor.leaving import Timetable
from penstock.workloads.monitor.quarantine import Quarantine
from penstock.workloads.monitor.recording import Recorder
from penstock.workloads.monitor.runs import LANE, Launcher, Runs
from penstock.workloads.monitor.scheduling import TargetScheduler
from penstock.workloads.monitor.tables import (
    quarantined_offers,
    scrape_adapter_status,
    scrape_results,
    scrape_runs,
    scrape_targets,
)
from penstock.workloads.monitor.upkeep import RunUpkeep
from tests.clocks import HandClock
from tests.stores import Stores, all_of, result_of, rows_of

Row = dict[str, Any]
WHO = "ann"
#: How a page of a target turns out.
Turnout = Callable[[Claim], Outcome]


class Monitor:
    """Schedules, claims and records; the test says what came of each fetch."""

    def __init__(self, store: Store, stores: Stores, limit: LaneLimit, registry: Registry) -> None:
        self.store, self.clock = store, stores.clock
        self.log = EventLog(store)
        self.queue = SqlQueue(store, {LANE: limit})
        self.registry = registry
        self.reader = Reader(registry, StandaloneJudge(QualitySettings()))
        self.alerts: list[OpsAlert] = []
        self.changes: list[Change] = []
        self.fates: dict[str, Fate] = {}
        self.rejected: list[tuple[str, int]] = []
        timetable = Timetable()
        ends = Ends(self.log, lambda _unit, alerts: self.alerts.extend(alerts))
        recorder = Recorder(
            ends,
            QualitySettings(),
            timetable,
            tell_changes=lambda _unit, changes: self.changes.extend(changes),
            judged=self.fates.update,
        )
        self.lane = MonitorLane(
            registry, recorder, Clearance(store, self.clock), clock=self.clock, blobs=None
        )
        self.launcher = Launcher(
            lambda unit, items: self.queue.put_in(unit, items, are_new=True),
            registry,
            max_age=86_400.0,
        )
        self.runs = Runs(store, self.launcher)
        self.adapters = Adapters(store, self.log)
        self.quarantine = Quarantine(
            store, self.log, lambda _unit, changes: self.changes.extend(changes)
        )
        self.upkeep = RunUpkeep(store, ends, timetable)
        self.scheduler = self._scheduler(store)

    def _scheduler(self, store: Store) -> TargetScheduler:
        heartbeat = Heartbeat(
            store, self.queue, self.clock, kind="scheduler", lanes=[], pulse=Pulse(5, 20)
        )
        return TargetScheduler(
            store,
            self.launcher,
            Seat(store, heartbeat, "targets"),
            self.clock,
            random.Random(1),
            rejected=lambda reason, number: self.rejected.append((reason, number)),
            tell_ops=lambda _unit, alerts: self.alerts.extend(alerts),
        )

    # ── arranging

    async def source(self, name: str = "shop", *, approved: bool = True, **more: Any) -> str:
        """The id of a new source at `<name>.test`."""
        return await add_source(self.store, name, f"{name}.test", approved=approved, **more)

    async def targets(
        self, source_id: str, number: int, *, host: str = "shop.test", **columns: Any
    ) -> list[str]:
        """Ids of new targets, which are due now."""
        urls = [f"http://{host}/product/{place}" for place in range(1, number + 1)]
        return await add_targets(self.store, source_id, urls, **columns)

    async def make_due(self, ids: Sequence[str] | None = None) -> None:
        """Let targets that are in no run be due: an hour later, where time is the test's."""
        if isinstance(self.clock, HandClock):
            self.clock.move(3600)
        columns = scrape_targets.c
        chosen = [columns.run_id.is_(None), columns.next_due_at.is_not(None)]
        if ids is not None:
            chosen.append(columns.id.in_(ids))
        due = update(scrape_targets).where(*chosen)
        await self.store.write(lambda unit: unit.run(due.values(next_due_at=unit.now)) and None)

    # ── acting

    async def tick(self) -> None:
        """Schedule whatever is due."""
        while await self.scheduler.tick():
            pass

    async def claims(self, limit: int = 10_000) -> list[Claim]:
        """Everything that can be begun, begun."""
        return await self.queue.claim("worker", [LANE], limit, all_of)

    async def end(self, claims: Sequence[Claim], turnout: Turnout) -> None:
        """Record what came of claims, in one transaction."""
        outcomes = []
        for claim in claims:
            failure = await self.lane.provide(claim)
            request = self.lane.request(claim)
            outcomes.append(_failed(request, failure) if failure else turnout(claim))
        await self.settle(claims, outcomes)

    async def settle(self, claims: Sequence[Claim], outcomes: Sequence[Outcome]) -> None:
        """Record outcomes that were come to before."""
        pairs = zip(claims, outcomes, strict=True)
        results = [await result_of(self.lane, claim, outcome) for claim, outcome in pairs]
        by_id = {result.claim.id: result for result in results}
        await self.queue.settle(
            [(result.claim, result.ending) for result in results],
            lambda unit, accepted: self.lane.record(unit, [by_id[each] for each in accepted]),
        )

    async def run(self, turnout: Turnout) -> Row:
        """A whole run of what is due; the run as it ended."""
        await self.tick()
        await self.end(await self.claims(), turnout)
        return (await self.all_runs())[-1]

    # ── turnouts

    def page(self, claim: Claim, text: str, **headers: str) -> Outcome:
        """A page that came, read as the pipeline would."""
        request = self.lane.request(claim)
        kinds = {"Content-Type": "text/html; charset=utf-8", **headers}
        page = Page(request.url, 200, kinds, text.encode(), 0.1)
        reading = self.reader.read(page, request.extract or "")
        failure = None
        if reading.judgment.verdict is None:
            extraction = reading.extraction
            failure = UrlSpecific(str(extraction.reason), extraction.detail, 200)
        return Outcome(request, page, failure, (), "shop.test", 1, reading=reading)

    def showing(self, **traits: Any) -> Turnout:
        """Pages of products with something special."""
        return lambda claim: self.page(claim, product_page(claim.payload["url"], **traits))

    def good(self, claim: Claim) -> Outcome:
        return self.page(claim, product_page(claim.payload["url"]))

    def sold_out(self, claim: Claim) -> Outcome:
        return self.page(claim, product_page(claim.payload["url"], price=None, stock="OutOfStock"))

    def changed_markup(self, claim: Claim) -> Outcome:
        return self.page(claim, NEW_SHOP)

    def unchanged(self, claim: Claim) -> Outcome:
        return Outcome(self.lane.request(claim), None, None, (), "shop.test", 1, unchanged=True)

    def failing(self, failure: Failure) -> Turnout:
        return lambda claim: _failed(self.lane.request(claim), failure)

    # ── looking

    async def all_runs(self) -> list[Row]:
        return sorted(await rows_of(self.store, scrape_runs), key=lambda row: row["id"])

    async def all_targets(self) -> list[Row]:
        return sorted(await rows_of(self.store, scrape_targets), key=lambda row: row["id"])

    async def target(self, target_id: str) -> Row:
        query = select(scrape_targets).where(scrape_targets.c.id == target_id)
        return await self.store.read(lambda unit: next(unit.rows(query)))

    async def results(self) -> list[Row]:
        return sorted(await rows_of(self.store, scrape_results), key=lambda row: row["id"])

    async def all_prices(self) -> list[Row]:
        return await rows_of(self.store, prices)

    async def set_aside(self) -> list[Row]:
        return await rows_of(self.store, quarantined_offers)

    async def status(self) -> Row:
        [row] = await rows_of(self.store, scrape_adapter_status)
        return row

    async def topics(self) -> list[str]:
        return [event.message.topic for event in await self.log.read()]


async def add_source(
    store: Store, name: str, domain: str, *, approved: bool = True, **more: Any
) -> str:
    """The id of a new source."""

    def work(unit: Unit) -> str:
        retailer = create_retailer(unit, name, who=WHO)
        source = create_source(unit, name, domain, retailer["id"], who=WHO, **more)
        if approved:
            approve_terms(unit, source["id"], who=WHO)
        identity: str = source["id"]
        return identity

    return await store.write(work)


async def add_targets(
    store: Store, source_id: str, urls: Sequence[str], **columns: Any
) -> list[str]:
    """Ids of new targets, which are due now."""

    def work(unit: Unit) -> list[str]:
        rows = [
            {
                "id": new_id(),
                "url": url,
                "canonical_url": canonical(parse(url)),
                "source_id": source_id,
                "adapter_id": "product",
                "next_due_at": unit.now,
                "created_at": unit.now,
                "updated_at": unit.now,
                **columns,
            }
            for url in urls
        ]
        unit.insert_all(scrape_targets, rows)
        return [str(row["id"]) for row in rows]

    return await store.write(work)


async def open_monitor(
    stores: Stores, limit: LaneLimit | None = None, adapters: Sequence[str] = ()
) -> Monitor:
    """A monitor on a store of the test's own."""
    limit = limit or LaneLimit(10_000, 1_000, 60.0)
    return Monitor(await stores.open(), stores, limit, open_registry(adapters))


async def status_at_end(penstock: AsyncClient, run_id: str) -> str:
    """How a run ended, looked at from outside."""
    async with asyncio.timeout(20):
        while not (run := await penstock.monitor.runs.get(run_id)).is_over:
            pass
        return run.status


def _failed(request: Request, failure: Failure) -> Outcome:
    return Outcome(request, None, failure, (), "shop.test", 1)


#: Enough words to be a page, and none that an adapter could take for an offer.
WORDS = "<p>" + "It has been tested by people who use it every day and say what they think. " * 8
#: What a page is that was built anew, and of which an adapter understands nothing.
NEW_SHOP = f"<html><body><div id=app>Welcome to our new shop {WORDS}</div></body></html>"
ROBOTS_DENY = Refused("robots_denied", "Disallow: /", gate="robots")


def product_page(
    url: str,
    *,
    price: str | None = "19.99",
    stock: str | None = "InStock",
    shown: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """A page of a shop; its product is that of the URL. `shown` is the price that people see."""
    number = url.rpartition("/")[2]
    offer: Row = {"@type": "Offer", "url": url, "priceCurrency": "USD"}
    if price is not None:
        offer["price"] = price
    if stock is not None:
        offer["availability"] = f"https://schema.org/{stock}"
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": f"Kettle {number}",
        "sku": f"SKU-{number}",
        "brand": {"@type": "Brand", "name": "Aldermoor"},
        "image": [f"http://shop.test/image/{number}.png"],
        "offers": offer,
        **(more or {}),
    }
    words = {"InStock": "In stock", "OutOfStock": "Out of stock"}.get(stock or "", "")
    amount = shown or price
    shelf = f'<p class="price">${amount}</p>' if amount else ""
    return (
        f'<!doctype html><html lang="en"><head><title>Kettle {number}</title>'
        f'<script type="application/ld+json">{json.dumps(data)}</script></head><body><main>'
        f"<h1>Kettle {number}</h1>{shelf}<p class=stock>{words}</p>{WORDS}</main></body></html>"
    )
