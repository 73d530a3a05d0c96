"""The `catalog` lane: pages of tasks are downloaded, kept, and handed on to be parsed."""

import hashlib
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.core.errors import SettingsError, UrlError
from penstock.core.ids import new_id
from penstock.core.trace import new_trace
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.extract.registry import Registry
from penstock.kernel.model import (
    Blocked,
    Failure,
    Outcome,
    Page,
    Refused,
    Request,
    SiteWide,
    Wait,
)
from penstock.products.archiving import note_seen
from penstock.products.tables import domains
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Item, Receipt
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.holding import (
    GATE,
    WITHDRAWN,
    Begins,
    Held,
    attempt_row,
    give_back,
    held,
    write_attempts,
    write_errors,
    write_tasks,
)
from penstock.workloads.catalog.model import (
    DAY,
    DOWNLOADS,
    PARSES,
    WORKLOAD,
    Attempt,
    Category,
    Fared,
    Row,
    Status,
    queue_priority,
)
from penstock.workloads.catalog.recrawling import next_interval, retry_pause, wanted_frequency
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import crawl_tasks
from penstock.workloads.catalog.troubles import Trouble, trouble_of

PutIn = Callable[[Unit, Sequence[Item]], list[Receipt]]
#: Whether the circuit of a domain is open.
IsOpen = Callable[[str], Awaitable[bool]]
#: Headers that it takes to read a page again, and to ask whether it has changed.
KEPT_HEADERS = ("Content-Type", "ETag", "Last-Modified", "Content-Language")
#: Of so many tasks it is remembered when their site opens.
MOST_TURNS = 10_000


class Content(NamedTuple):
    """What is written of a download: where the page is kept, or why there is none."""

    path: str | None = None
    page_hash: str | None = None
    #: Where the page is kept that is none: a captcha, or an access that was denied.
    evidence: str | None = None
    circuit_is_open: bool = False


class DownloadLane:
    """Downloads pages and keeps them."""

    name = DOWNLOADS

    def __init__(
        self,
        settings: CatalogSettings,
        store: Store,
        blobs: Blobs,
        *,
        log: EventLog,
        registry: Registry,
        put_in: PutIn,
        is_open: IsOpen,
        clock: Clock,
        chance: random.Random,
    ) -> None:
        self._settings = settings
        self._store = store
        self._blobs = blobs
        self._log = log
        self._registry = registry
        self._put_in = put_in
        self._is_open = is_open
        self._clock = clock
        self._chance = chance
        self._openings: dict[str, float] = {}

    def needs(self, claim: Claim) -> bool:
        """Every item needs leave: its task may have been stopped since it was put."""
        return _is_readable(claim)

    async def provide(self, claim: Claim) -> Failure | None:
        """Why an item is not to be begun any more."""
        begun = await self._store.write(lambda unit: unit.tally(_begins).add(claim), "settle")
        return None if claim.id in begun else WITHDRAWN

    def request(self, claim: Claim) -> Request:
        if not _is_readable(claim):
            raise ValueError("a crawl task's item needs task and url")
        payload = claim.payload
        known = payload.get("known") or {}
        return Request(
            payload["url"],
            id=claim.id,
            etag=known.get("etag", ""),
            last_modified=known.get("last_modified", ""),
            content_hash=known.get("page_hash", ""),
            workload=WORKLOAD,
            traceparent=claim.traceparent,
            fetcher=self._fetcher_for(payload),
        )

    def _fetcher_for(self, payload: Mapping[str, Any]) -> str:
        try:
            needs_browser = self._registry.needs_browser(parse(payload["url"]), payload["parser"])
        except (UrlError, SettingsError):
            return ""
        return "browser" if needs_browser else ""

    def will_wait(self, claim: Claim, wait: Wait) -> bool:
        """A site that is closed is not waited for here: its tasks are scheduled anew."""
        if wait.gate != "hours":
            return True
        if len(self._openings) >= MOST_TURNS:
            del self._openings[next(iter(self._openings))]
        self._openings[claim.id] = wait.until - self._clock.monotonic()
        return False

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        """What is wrong with a task stands in the task; its item is over."""
        if outcome.failure and not _is_readable(claim):
            return Bury(outcome.failure.as_json())
        return Done()

    def content(self, claim: Claim, outcome: Outcome) -> Content | Coroutine[Any, Any, Content]:
        """The page is kept before its task is said to be downloaded."""
        page = outcome.page
        if outcome.failure is None and page and page.body and not outcome.unchanged:
            return self._keep(page)
        if isinstance(outcome.failure, SiteWide):
            return self._ask_circuit(outcome)
        if isinstance(outcome.failure, Blocked) and page and page.body:
            return self._keep_evidence(page)
        del claim
        return Content()

    async def _keep(self, page: Page) -> Content:
        path = await self._blobs.put(page.body)
        return Content(path, hashlib.sha256(page.body).hexdigest())

    async def _keep_evidence(self, page: Page) -> Content:
        return Content(evidence=await self._blobs.put(page.body))

    async def _ask_circuit(self, outcome: Outcome) -> Content:
        return Content(circuit_is_open=await self._is_open(outcome.domain))

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        found = held(unit, [result for result in results if _is_readable(result.claim)])
        troubles: list[tuple[Row, Trouble]] = []
        attempts: list[Row] = []
        tasks, items = [], []
        for each in found:
            task, trouble = self._after(unit, each)
            if (fared := _fared(each, trouble)) is not None:
                row = attempt_row(each, Attempt.DOWNLOAD, fared, unit.now, trouble)
                if evidence := each.result.content.evidence:
                    row["document"] = {"evidence": evidence}
                attempts.append(row)
                task["attempts"] = each.task["attempts"] + 1
            if trouble:
                troubles.append((task, trouble))
            if task["status"] == Status.DOWNLOADED:
                items.append(parse_item(task, each.domain, each.result.claim.traceparent))
                task["item_id"] = items[-1].id
            tasks.append(task)
        self._put_in(unit, items)
        write_tasks(unit, tasks)
        write_attempts(unit, attempts)
        write_errors(unit, troubles)
        seen = [each.task["id"] for each in found if each.result.outcome.unchanged]
        note_seen(unit, seen, self._log.append)

    def note(self, result: Result) -> None:
        """A result is committed."""
        self._openings.pop(result.claim.id, None)

    def _after(self, unit: Unit, each: Held) -> tuple[Row, Trouble | None]:
        """The task as it is now, and what went wrong with it if anything did."""
        outcome, task = each.result.outcome, each.task
        failure = outcome.failure
        if isinstance(failure, Refused) and failure.gate in (GATE, "hours"):
            pause = self._openings.get(each.result.claim.id)
            at = None if pause is None else unit.now + int(pause * 1000)
            return give_back(unit, task, at), None
        if outcome.unchanged:
            task = completed(
                unit, each, changed=False, price_changed=False, settings=self._settings
            )
            return task | {"html_at": unit.now}, None
        content: Content = each.result.content
        if failure is None and content.path is None:
            trouble = Trouble(Category.CONTENT, "empty_page", "the page is empty")
            return self._failed(unit, each, trouble), trouble
        if failure is None:
            return _downloaded(unit, each, content), None
        trouble = trouble_of(failure)
        if content.circuit_is_open:
            # The site is down, not the page: it costs the task nothing.
            pause = retry_pause(0, self._settings, self._chance)
            return give_back(unit, task, unit.now + int(pause * 1000)), trouble
        return self._failed(unit, each, trouble), trouble

    def _failed(self, unit: Unit, each: Held, trouble: Trouble) -> Row:
        task = each.task
        if trouble.may_pass and task["retry_count"] < task["max_retries"]:
            pause = retry_pause(task["retry_count"], self._settings, self._chance)
            pause = max(pause, trouble.retry_after or 0.0)
            return give_back(unit, task, unit.now + int(pause * 1000)) | {
                "retry_count": task["retry_count"] + 1,
                "error_message": trouble.message,
                # Who failed lately goes first among equals.
                "turn_key": 0,
            }
        return failed(unit, each, trouble, self._settings)


def _begins() -> Begins:
    active = select(domains.c.id).where(domains.c.is_active)
    also = (crawl_tasks.c.is_paused.is_(False), crawl_tasks.c.domain_id.in_(active))
    return Begins(Status.QUEUED, Status.CRAWLING, *also)


def _is_readable(claim: Claim) -> bool:
    return all(isinstance(claim.payload.get(name), str) for name in ("task", "url", "parser"))


def _fared(each: Held, trouble: Trouble | None) -> Fared | None:
    """How an attempt fared; None if there was none."""
    outcome = each.result.outcome
    if outcome.unchanged:
        return Fared.UNCHANGED
    if trouble:
        return Fared.FAILED
    return Fared.OK if outcome.failure is None else None


def item_of(task: Mapping[str, Any], parser: str, group: str, *, is_known: bool) -> Item:
    """A task as an item to download; with what its page was if it need not be read again."""
    headers = task["html_headers"] or {}
    known = {
        "etag": headers.get("ETag", ""),
        "last_modified": headers.get("Last-Modified", ""),
        "page_hash": task["page_hash"] or "",
    }
    return Item(
        id=new_id(),
        lane=DOWNLOADS,
        payload={
            "task": task["id"],
            "url": task["url"],
            "parser": parser,
            **({"known": known} if is_known else {}),
        },
        group=group,
        priority=queue_priority(task["priority"]),
        quota=task["domain_id"],
        traceparent=new_trace(),
    )


def parse_item(task: Mapping[str, Any], domain: Mapping[str, Any], traceparent: str = "") -> Item:
    """A page that is kept as an item to parse."""
    return Item(
        id=new_id(),
        lane=PARSES,
        payload={"task": task["id"]},
        # A line of its own: a page that is kept waits for no turn of its site.
        group=f"{PARSES} {domain['domain_name']}",
        priority=queue_priority(task["priority"]),
        quota=domain["id"],
        traceparent=traceparent,
    )


def _downloaded(unit: Unit, each: Held, content: Content) -> Row:
    page = each.result.outcome.page
    headers = {name: page.headers.get(name) for name in KEPT_HEADERS} if page else {}
    return {
        **each.task,
        "status": Status.DOWNLOADED.value,
        "html_path": content.path,
        "html_at": unit.now,
        "html_headers": {name: value for name, value in headers.items() if value},
        "html_url": page.url if page else each.task["url"],
        "page_hash": content.page_hash,
        "next_crawl_at": None,
        "error_message": None,
        "updated_at": unit.now,
    }


def completed(
    unit: Unit, each: Held, *, changed: bool, price_changed: bool, settings: CatalogSettings
) -> Row:
    """The task of a page that was crawled well: when it is crawled again."""
    task = each.task
    quiet = 0 if changed else task["unchanged_in_a_row"] + 1
    interval = next_interval(
        wanted_frequency(task, each.domain, settings),
        task["crawl_interval"],
        price_changed=price_changed,
        unchanged_in_a_row=quiet,
        settings=settings,
    )
    return {
        **task,
        "status": Status.COMPLETED.value,
        "completed_at": unit.now,
        "retry_count": 0,
        "error_message": None,
        "failure": None,
        "crawl_interval": interval,
        "next_crawl_at": None if interval is None else unit.now + interval * 1000,
        "unchanged_in_a_row": quiet,
        "item_id": None,
        "turn_key": unit.now,
        "updated_at": unit.now,
    }


def failed(unit: Unit, each: Held, trouble: Trouble, settings: CatalogSettings) -> Row:
    """The task of a page that is given up; it is due again only if that makes sense."""
    interval = each.task["crawl_interval"] or wanted_frequency(each.task, each.domain, settings)
    if not trouble.is_due_again:
        interval = 0
    elif trouble.category is Category.REFUSED:
        # A site that says no today may say yes another day, also to who wants a page only once.
        interval = interval or DAY
    return {
        **each.task,
        "status": Status.FAILED.value,
        "error_message": trouble.message,
        "failure": trouble.as_json(),
        "accept_next": False,
        "next_crawl_at": unit.now + interval * 1000 if interval else None,
        "item_id": None,
        "turn_key": unit.now,
        "updated_at": unit.now,
    }
