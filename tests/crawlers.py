"""A product crawler on a store for tests: pages are kept and read, but nothing is fetched."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import update

from penstock.blobs.local import LocalBlobs
from penstock.events.log import EventLog
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.model import Failure, Outcome, Page, Request
from penstock.kernel.reader import Reader
from penstock.kernel.settings import AdmissionSettings
from penstock.products.tables import prices, source_products
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge
from penstock.queue.heartbeat import Heartbeat, Pulse
from penstock.queue.lanes import Homework, Lane, Provident, Result
from penstock.queue.ports import Claim, LaneLimit
from penstock.queue.seats import Seat
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from penstock.workloads.catalog.domains import Domains
from penstock.workloads.catalog.downloading import DownloadLane
from penstock.workloads.catalog.errors import Errors
from penstock.workloads.catalog.imaging import ImageLane
from penstock.workloads.catalog.model import DOWNLOADS, IMAGES, PARSES
from penstock.workloads.catalog.parsing import ParseLane
from penstock.workloads.catalog.scheduling import CatalogScheduler
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.submissions import Submissions
from penstock.workloads.catalog.submitting import Options, Submitter
from penstock.workloads.catalog.tables import crawl_attempts, crawl_tasks, error_logs
from penstock.workloads.catalog.tasks import Filter, Tasks
from tests.clocks import HandClock
from tests.monitors import product_page
from tests.stores import Stores, all_of, enter_worker, result_of, rows_of

Row = dict[str, Any]
WHO = "ann"
WORKER = "worker"
SHOP = "http://shop.test/product"
#: How a download turns out.
Turnout = Callable[[Claim], Outcome]


class Crawler:
    """Submits, schedules, claims and records; the test says what came of each download."""

    def __init__(
        self, store: Store, stores: Stores, folder: Path, settings: CatalogSettings
    ) -> None:
        self.store, self.settings = store, settings
        self._stores = stores
        self.open_circuits: set[str] = set()
        self.registry = open_registry(())
        self.folder, self.blobs = folder, LocalBlobs(folder)
        self.log = EventLog(store)
        limit = LaneLimit(settings.max_queued, settings.max_queued_per_domain, 60.0)
        self.queue = SqlQueue(store, {DOWNLOADS: limit})
        admission = Admission(AdmissionSettings(deny=("denied.test",)), SystemLookup(1))
        self.submitter = Submitter(admission, settings)
        self.submissions = Submissions(
            store,
            self.submitter,
            admission=admission,
            registry=self.registry,
            put_in=self.queue.put_in,
            nudge=lambda: None,
            most=settings.max_submission,
        )
        self.tasks = Tasks(store, self.registry, self.queue.put_in, lambda: None, settings)
        self.domains = Domains(store, settings, self.registry, self.log.append)
        self.errors = Errors(store)
        self.scheduler = self._scheduler()
        self.downloads = self._download_lane()
        self.parses = self._parse_lane()
        self.images = ImageLane(settings, self.blobs)
        self.lanes: dict[str, Lane] = {
            lane.name: lane for lane in (self.downloads, self.parses, self.images)
        }

    def _download_lane(self) -> DownloadLane:
        async def is_open(domain: str) -> bool:
            return domain in self.open_circuits

        return DownloadLane(
            self.settings,
            self.store,
            self.blobs,
            log=self.log,
            registry=self.registry,
            put_in=self.queue.put_in,
            is_open=is_open,
            clock=self._stores.clock,
            chance=random.Random(1),
        )

    def _parse_lane(self) -> ParseLane:
        quality = QualitySettings()
        return ParseLane(
            self.settings,
            quality,
            self.store,
            self.blobs,
            reader=Reader(self.registry, StandaloneJudge(quality)),
            log=self.log,
            put_in=self.queue.put_in,
            line_of=lambda _request: ("shop.test", 1),
        )

    def _scheduler(self) -> CatalogScheduler:
        clock = self._stores.clock
        heartbeat = Heartbeat(
            self.store, self.queue, clock, kind="scheduler", lanes=[], pulse=Pulse(5, 20)
        )
        return CatalogScheduler(
            self.store,
            self.queue.put_in,
            Seat(self.store, heartbeat, "tasks"),
            clock,
            random.Random(1),
            settings=self.settings,
            registry=self.registry,
            line_of=lambda request: (request.url.split("/")[2], 1),
        )

    # ── acting

    async def submit(self, *urls: str, **options: Any) -> str:
        """Hand URLs in; the id of the submission."""
        submission_id, _ = await self.submissions.submit(urls, Options(**options), WHO)
        return submission_id

    async def tick(self) -> None:
        """Hand what is due to the queue."""
        while await self.scheduler.tick():
            pass

    async def claims(self, lane: str = DOWNLOADS, limit: int = 10_000) -> list[Claim]:
        """Everything of a lane that can be begun, in the order of its line."""
        return await self.queue.claim(WORKER, [lane], limit, all_of)

    async def due(self) -> list[Claim]:
        """Everything that is due, claimed."""
        await self.tick()
        return await self.claims()

    async def begin(self, claim: Claim, turnout: Turnout) -> Result:
        """Carry a claim out; what came of it, which is not written yet."""
        lane = self.lanes[claim.lane]
        if isinstance(lane, Homework):
            outcome = await lane.do(claim)
        else:
            failure = await lane.provide(claim) if isinstance(lane, Provident) else None
            outcome = failing(failure)(claim) if failure else turnout(claim)
        return await result_of(lane, claim, outcome)

    async def settle(self, *results: Result) -> set[str]:
        """Write results in one transaction; the ids of those that were accepted."""
        by_id = {result.claim.id: result for result in results}
        lane = self.lanes[results[0].claim.lane]
        return await self.queue.settle(
            [(result.claim, result.ending) for result in results],
            lambda unit, accepted: lane.record(unit, [by_id[each] for each in accepted]),
        )

    async def end(self, claims: Sequence[Claim], turnout: Turnout) -> None:
        """Carry claims out and write what came of them."""
        if claims:
            await self.settle(*[await self.begin(claim, turnout) for claim in claims])

    async def download(self, turnout: Turnout) -> None:
        """Download everything that is due."""
        await self.end(await self.due(), turnout)

    async def parse(self) -> None:
        """Parse everything that waits for it."""
        await self.end(await self.claims(PARSES), showing())

    async def crawl(self, turnout: Turnout | None = None) -> None:
        """Download and parse everything that is due."""
        await self.download(turnout or showing())
        await self.parse()

    async def get_images(self, turnout: Turnout) -> None:
        """Get the pictures that are to be got."""
        await self.end(await self.claims(IMAGES), turnout)

    async def later(self, seconds: float) -> None:
        """Let time pass: by the test's clock, or by making everything older on a real one."""
        await self._stores.later(seconds)
        if isinstance(self._stores.clock, HandClock):
            return
        tasks, ms = crawl_tasks.c, int(seconds * 1000)
        times = ("scheduled_at", "next_crawl_at", "turn_key", "updated_at")
        await self.write(update(crawl_tasks).values({name: tasks[name] - ms for name in times}))

    async def write(self, statement: Any) -> None:
        await self.store.write(lambda unit: unit.run(statement) and None)

    async def change(self, which: str, **values: Any) -> None:
        """Change a task behind everybody's back."""
        await self.write(update(crawl_tasks).where(crawl_tasks.c.id == which).values(values))

    # ── looking

    async def task(self, id_or_url: str = f"{SHOP}/1") -> Row:
        return await self.tasks.get(id_or_url)

    async def all_tasks(self) -> list[Row]:
        return sorted(await rows_of(self.store, crawl_tasks), key=lambda row: str(row["url"]))

    async def statuses(self) -> dict[str, str]:
        """Where each task stands, by the last part of its URL."""
        return {row["url"].rpartition("/")[2]: row["status"] for row in await self.all_tasks()}

    async def attempts(self) -> list[Row]:
        found = await rows_of(self.store, crawl_attempts)
        return sorted(found, key=lambda row: str(row["id"]))

    async def all_errors(self) -> list[Row]:
        return await rows_of(self.store, error_logs)

    async def products(self) -> list[Row]:
        return await rows_of(self.store, source_products)

    async def all_prices(self) -> list[Row]:
        found = await rows_of(self.store, prices)
        return sorted(found, key=lambda row: str(row["id"]))

    async def now(self) -> int:
        return await self.store.read(lambda unit: unit.now)

    async def filter(self, **wanted: Any) -> list[str]:
        """The URLs of the tasks that are meant."""
        return [row["url"] for row in await self.tasks.list(Filter(**wanted))]


async def open_crawler(stores: Stores, folder: Path, **settings: Any) -> Crawler:
    """A crawler on a store of the test's own."""
    store = await stores.open()
    await enter_worker(store, WORKER)
    return Crawler(store, stores, folder / "blobs", CatalogSettings(**settings))


async def another(crawler: Crawler, stores: Stores, folder: Path) -> Crawler:
    """A crawler in another process on the same store."""
    return Crawler(await stores.open(), stores, folder / "blobs", crawler.settings)


def shop(*numbers: int, host: str = "shop.test") -> list[str]:
    """URLs of products of a shop."""
    return [f"http://{host}/product/{number}" for number in numbers]


# ── turnouts


def page_at(claim: Claim, body: bytes, **headers: str) -> Outcome:
    """A page that came for an item."""
    kinds = {"Content-Type": "text/html; charset=utf-8", **headers}
    page = Page(claim.payload["url"], 200, kinds, body, 0.1)
    return Outcome(_request(claim), page, None, (), "shop.test", 1)


def showing(etag: str = "", **traits: Any) -> Turnout:
    """Pages of products with something special."""
    headers = {"ETag": etag} if etag else {}
    return lambda claim: page_at(
        claim, product_page(claim.payload["url"], **traits).encode(), **headers
    )


def saying(text: str) -> Turnout:
    return lambda claim: page_at(claim, text.encode())


def unchanged(claim: Claim) -> Outcome:
    return Outcome(_request(claim), None, None, (), "shop.test", 1, unchanged=True)


def failing(failure: Failure) -> Turnout:
    return lambda claim: Outcome(_request(claim), None, failure, (), "shop.test", 1)


def _request(claim: Claim) -> Request:
    return Request(claim.payload.get("url", ""), id=claim.id, workload="catalog")
