"""Tasks and jobs of the scrape service in a store, carried out without any site."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from penstock.blobs.local import LocalBlobs
from penstock.core.metrics import Metrics
from penstock.events.log import EventLog
from penstock.events.tables import deliveries, events
from penstock.kernel.admission import Admission
from penstock.kernel.model import Outcome, Page, Request, UrlSpecific
from penstock.kernel.settings import AdmissionSettings
from penstock.notify.webhooks import WebhookSubscription
from penstock.queue.lanes import Lane
from penstock.queue.ports import Claim, Done
from penstock.queue.sql import SqlQueue
from penstock.queue.tables import counts, items
from penstock.store.store import Store
from penstock.web.keys import Key, Scope
from penstock.web.waiting import Waiters
from penstock.workloads.fetch.lane import FetchLane
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.lane import ScrapeLane
from penstock.workloads.scrape.model import TargetType
from penstock.workloads.scrape.requests import BatchScrapeRequest, ScrapeRequest
from penstock.workloads.scrape.service import Connections, ScrapeService
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.scrape.tables import (
    scrape_files,
    scrape_jobs,
    scrape_submissions,
    scrape_tasks,
)
from tests.stores import Stores, all_of, enter_worker, result_of, rows_of

HOOK = "https://backend.test/hook"
KEY = Key("key", "tests", "", frozenset({Scope.ADMIN}))
SCRAPED = (
    *(scrape_tasks, scrape_jobs, scrape_files, scrape_submissions),
    *(items, counts, events, deliveries),
)


async def no_lookup(host: str) -> list[str]:
    raise AssertionError(f"{host} must not be looked up")


class Archive:
    """The scrape service on a store; tasks end as a test says."""

    def __init__(
        self, stores: Stores, store: Store, folder: Path, settings: ScrapeSettings
    ) -> None:
        self.store = store
        self._stores = stores
        self.queue = SqlQueue(store, {})
        self.blobs = LocalBlobs(folder)
        self.log = EventLog(store, [WebhookSubscription()])
        self.announcer = Announcer(self.log, settings.default_webhook_url)
        clock = stores.clock
        self.lane = ScrapeLane(settings, self.log, self.blobs, clock=clock, metrics=Metrics())
        self.fetch = FetchLane(self.log, self.blobs)
        connections = Connections(
            store=store,
            put_in=self.queue.put_in,
            nudge=lambda: None,
            cancel=lambda _: None,
            line_of=lambda request: (request.url, 1),
            admission=Admission(AdmissionSettings(), no_lookup),
            blobs=self.blobs,
            clock=clock,
        )
        self.service = ScrapeService(settings, connections, self.announcer, Waiters())

    async def submit(
        self,
        workspace: str,
        url: str,
        kind: TargetType = TargetType.PAGE,
        callback_url: str | None = HOOK,
    ) -> str:
        """Submit one page; the id of its task."""
        request = _request(workspace, url, kind, callback_url)
        accepted = await self.service.submit(KEY, request, f"once-{workspace}-{kind}-{hash(url)}")
        return accepted.task_ids[0]

    async def submit_job(
        self, *targets: tuple[str, str], callback_url: str | None = HOOK
    ) -> tuple[str, Sequence[str]]:
        """Submit pages as (workspace, url); the ids of the job and of its tasks."""
        wanted = [_request(workspace, url) for workspace, url in targets]
        batch = BatchScrapeRequest(targets=wanted, callback_url=callback_url)
        accepted = await self.service.submit_batch(KEY, batch, f"once-{hash(targets)}")
        return accepted.job_id or "", accepted.task_ids

    async def claim(self, lane: str = "scrape") -> list[Claim]:
        """Claim everything of a lane."""
        await self._stores.later(1)
        return await self.queue.claim("w", [lane], 1000, all_of)

    async def finish(
        self, claims: Sequence[Claim], lane: Lane | None = None, failing: Collection[str] = ()
    ) -> set[str]:
        """Bring claims to their end: with a page that names its URL, or a failure."""
        lane = lane or self.lane
        results = {
            claim.id: await result_of(
                lane, claim, _outcome(lane.request(claim), claim.id in failing)
            )
            for claim in claims
        }
        return await self.queue.settle(
            [(claim, Done()) for claim in claims],
            lambda unit, accepted: lane.record(unit, [results[each] for each in sorted(accepted)]),
        )

    async def work(self) -> None:
        """Bring all tasks to a good end."""
        await self.finish(await self.claim())

    async def everything(self, *tables: Table) -> str:
        """All that the tables say, as text."""
        return repr([await rows_of(self.store, table) for table in tables or SCRAPED])


async def open_archive(stores: Stores, folder: Path, **settings: Any) -> Archive:
    """An archive in a store, in which a worker is known; pages become blobs unless said so."""
    store = await stores.open()
    await enter_worker(store, "w")
    chosen = ScrapeSettings(**{"inline_bytes": 10, **settings})
    return Archive(stores, store, folder / "blobs", chosen)


def _request(
    workspace: str,
    url: str,
    kind: TargetType = TargetType.PAGE,
    callback_url: str | None = None,
) -> ScrapeRequest:
    content: dict[str, Any] = {"workspace_id": workspace, "target_url": url, "target_type": kind}
    return ScrapeRequest(**content, callback_url=callback_url)


def _outcome(request: Request, fails: bool) -> Outcome:
    if fails:
        return Outcome(request, None, UrlSpecific("not_found", "there is no such page"), ())
    body = f"<html><body>all about {request.url}</body></html>".encode()
    return Outcome(
        request, Page(request.url, 200, {"Content-Type": "text/html"}, body, 0.1), None, ()
    )
