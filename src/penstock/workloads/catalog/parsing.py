"""The `catalog_parse` lane: pages that are kept become products of the catalogue.

Nothing is fetched: a page can be parsed again whenever its parser is better than it was.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from penstock.blobs.ports import Blobs
from penstock.core.errors import SettingsError, UrlError
from penstock.core.money import to_minor
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.extract.page.document import Document
from penstock.extract.product.images import FoundImage, find_images
from penstock.kernel.model import Broken, Failure, Outcome, Page, Request, UrlSpecific
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.kernel.records import Accept, Drop, DropReason, Product, Quarantine
from penstock.products.announcing import product_messages
from penstock.products.catalogue import Entry, Kept, refusal_of_entry, write_entries
from penstock.products.finding import Key, key_of
from penstock.products.history import last_seen_by_key
from penstock.quality.confidence import confidence_of
from penstock.quality.identity import identity_key
from penstock.quality.plausibility import Money, describe_jump
from penstock.quality.settings import QualitySettings
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.downloading import PutIn, completed, failed
from penstock.workloads.catalog.holding import (
    WITHDRAWN,
    Begins,
    Held,
    attempt_row,
    give_back,
    held,
    sites_of,
    write_attempts,
    write_errors,
    write_tasks,
)
from penstock.workloads.catalog.imaging import image_items
from penstock.workloads.catalog.model import (
    PARSES,
    WORKLOAD,
    Attempt,
    Category,
    Fared,
    Row,
    Status,
)
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.troubles import Trouble

#: Bytes of a page that are read in no time to speak of.
LONG_PAGE = 250_000
#: Drops of the judge that the catalogue keeps all the same: it says what is not known.
KEPT_DROPS = frozenset({DropReason.UNKNOWN_AVAILABILITY, DropReason.OOS_NO_PRICE})
#: Of a page that is only parsed again, this stays: it was not visited, and is due when it was.
OF_VISITS = ("crawl_interval", "next_crawl_at", "unchanged_in_a_row", "turn_key")
PAGE_GONE = UrlSpecific("page_not_kept", "the page is not kept any more: it is downloaded again")

#: What a candidate adapter makes of a page beside the one in use, if there is one.
Compare = Callable[[Page, Reading], dict[str, Any] | None]
#: Hears of an item whose page gave no product, and why.
Unread = Callable[[str, str], None]


class Content(NamedTuple):
    """What was made of a page before the transaction."""

    key: str | None = None
    confidence: Mapping[str, float] = {}
    images: Sequence[FoundImage] = ()
    shadow: dict[str, Any] | None = None


class _Parsed(NamedTuple):
    """A page that gave a product which can be kept."""

    each: Held
    entry: Entry


class ParseLane:
    """Parses pages and records products."""

    name = PARSES

    def __init__(
        self,
        settings: CatalogSettings,
        quality: QualitySettings,
        store: Store,
        blobs: Blobs,
        *,
        reader: Reader,
        log: EventLog,
        put_in: PutIn,
        line_of: Callable[[Request], tuple[str, int]],
        compare: Compare = lambda _page, _reading: None,
        unread: Unread = lambda _item_id, _why: None,
    ) -> None:
        self._settings = settings
        self._quality = quality
        self._store = store
        self._blobs = blobs
        self._reader = reader
        self._log = log
        self._put_in = put_in
        self._line_of = line_of
        self._compare = compare
        self._unread = unread

    def request(self, claim: Claim) -> Request:
        if not isinstance(claim.payload.get("task"), str):
            raise ValueError("an item to parse needs its task")
        return Request("", id=claim.id, workload=WORKLOAD, traceparent=claim.traceparent)

    async def do(self, claim: Claim) -> Outcome:
        """Read the page of a task."""
        request = self.request(claim)
        begun = await self._store.write(lambda unit: unit.tally(_Begins).add(claim), "settle")
        task = begun.get(claim.id)
        if task is None:
            return _without_page(request, WITHDRAWN)
        body = await self._blobs.get(task["html_path"]) if task["html_path"] else None
        if body is None:
            return _without_page(request, PAGE_GONE)
        page = Page(
            url=task["html_url"] or task["url"],
            status=200,
            headers=task["html_headers"] or {},
            body=body,
            seconds=0.0,
            fetcher="kept",
        )
        try:
            reading = await self._read(page, task["parser"] or self._settings.parser)
        except SettingsError as error:
            return _without_page(request, UrlSpecific("no_parser", str(error)))
        return Outcome(request, page, None, (), domain=task["domain_name"], reading=reading)

    async def _read(self, page: Page, parser: str) -> Reading:
        if len(page.body) < LONG_PAGE:
            return self._reader.read(page, parser)
        return await asyncio.to_thread(self._reader.read, page, parser)

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        if outcome.failure and not isinstance(claim.payload.get("task"), str):
            return Bury(outcome.failure.as_json())
        return Done()

    def content(self, claim: Claim, outcome: Outcome) -> Content:
        del claim
        page, reading = outcome.page, outcome.reading
        if page is None or reading is None:
            return Content()
        record = reading.record
        shadow = self._compare(page, reading)
        if not isinstance(record, Product):
            return Content(shadow=shadow)
        return Content(
            key=_key(record, page),
            confidence=confidence_of(reading.extraction, reading.judgment.invalid),
            images=find_images(
                Document.of(page),
                reading.extraction.fields.get("image_urls") or (),
                self._settings.max_images,
            ),
            shadow=shadow,
        )

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        readable = [each for each in results if isinstance(each.claim.payload.get("task"), str)]
        tasks: list[Row] = []
        attempts: list[Row] = []
        troubles: list[tuple[Row, Trouble]] = []
        parsed: list[_Parsed] = []
        found = held(unit, readable)
        last = self._last_prices(unit, found)
        for each in found:
            if each.result.outcome.failure in (WITHDRAWN, PAGE_GONE):
                # Not parsed at all: it is downloaded again.
                tasks.append(give_back(unit, each.task) | {"html_path": None})
                continue
            trouble = self._trouble_with(each, last)
            if trouble is None:
                parsed.append(_Parsed(each, self._entry(unit, each)))
                continue
            task = failed(unit, each, trouble, self._settings)
            task["parser_version"] = _version(each)
            tasks.append(task)
            troubles.append((task, trouble))
            attempts.append(_attempt(unit, each, Fared.FAILED, trouble))
            self._unread(each.result.claim.id, trouble.error_type)
        kept = write_entries(unit, [each.entry for each in parsed], self._settings.max_images)
        for (each, _), product in zip(parsed, kept, strict=True):
            tasks.append(self._completed(unit, each, product))
            attempts.append(_attempt(unit, each, Fared.OK) | {"changed": product.changed})
        self._put_in(unit, image_items(kept, self._line_of))
        write_tasks(unit, tasks)
        write_attempts(unit, attempts)
        write_errors(unit, troubles)
        changed = [product.source_product_id for product in kept if product.changed]
        # Events come last: who writes them keeps all others from writing theirs.
        self._log.append(unit, product_messages(unit, changed))

    # ── judging

    def _last_prices(self, unit: Unit, found: Sequence[Held]) -> Mapping[Key, Money]:
        keys = [_source_product(each) for each in found if each.result.content.key]
        seen = last_seen_by_key(unit, keys)
        amounts = {each: to_minor(what.price, what.currency) for each, what in seen.items()}
        return {
            each: Money(minor, seen[each].currency)
            for each, minor in amounts.items()
            if minor is not None
        }

    def _trouble_with(self, each: Held, last: Mapping[Key, Money]) -> Trouble | None:
        """Why a page gives no product that can be trusted."""
        outcome = each.result.outcome
        if failure := outcome.failure:
            trace = failure.trace if isinstance(failure, Broken) else None
            trouble = _trouble(Category.INTERNAL, failure.reason, failure.detail)
            return replace(trouble, stack_trace=trace or None)
        if outcome.reading is None:
            return _trouble(Category.INTERNAL, "not_read", "nothing was read")
        extraction, judgment = outcome.reading.extraction, outcome.reading.judgment
        verdict, record = judgment.verdict, judgment.record
        if verdict is None or not isinstance(record, Product):
            return _trouble(
                Category.PARSE, str(extraction.reason or "no_product"), extraction.detail
            )
        if isinstance(verdict, Quarantine) or (
            isinstance(verdict, Drop) and verdict.reason not in KEPT_DROPS
        ):
            return _trouble(Category.VALIDATION, verdict.reason.value, verdict.detail)
        if each.result.content.key is None:
            return _trouble(Category.VALIDATION, "MISSING_REQUIRED_FIELD", "url")
        if refusal := refusal_of_entry(record):
            return _trouble(Category.VALIDATION, "OFFER_REFUSED", str(refusal))
        return None if each.task["accept_next"] else self._jump(each, record, last)

    def _jump(self, each: Held, record: Product, last: Mapping[Key, Money]) -> Trouble | None:
        before = last.get(_source_product(each))
        if before is None or record.price_minor is None or record.currency is None:
            return None
        now = Money(record.price_minor, record.currency)
        if jump := describe_jump(now, before, self._quality.max_price_factor):
            advice = "if it is right: penstock catalog tasks reparse --accept"
            return _trouble(Category.VALIDATION, "IMPLAUSIBLE_PRICE", f"{jump}; {advice}")
        return None

    # ── what is written

    def _entry(self, unit: Unit, each: Held) -> Entry:
        content: Content = each.result.content
        reading = each.result.outcome.reading
        if reading is None or not isinstance(reading.record, Product) or content.key is None:
            raise ValueError("only a product that can be trusted becomes an entry")
        adapter_id, _, version = reading.extraction.adapter.partition("@")
        return Entry(
            source_id=each.domain["source_id"],
            retailer_id=each.domain["retailer_id"],
            domain_id=each.domain["id"],
            crawl_task_id=each.task["id"],
            url_hash=each.task["url_hash"],
            identity_key=content.key,
            url=each.task["url"],
            record=reading.record,
            observed_at=each.task["html_at"] or unit.now,
            run_id=each.result.claim.id,
            adapter_id=adapter_id,
            adapter_version=version,
            confidence=content.confidence,
            images=content.images,
            extra={},
        )

    def _completed(self, unit: Unit, each: Held, product: Kept) -> Row:
        task = completed(
            unit,
            each,
            changed=product.changed,
            price_changed=product.price_changed,
            settings=self._settings,
        )
        if each.task["next_crawl_at"] is not None:
            task |= {name: each.task[name] for name in OF_VISITS}
        return task | {"parser_version": _version(each), "accept_next": False}


class _Begins(Begins):
    """Tasks whose pages are parsed, with what their domains say of that."""

    def __init__(self) -> None:
        super().__init__(Status.DOWNLOADED, Status.PARSING)

    def write(self, unit: Unit) -> None:
        super().write(unit)
        sites = sites_of(unit, {task["domain_id"] for task in self._begun.values()})
        for task in self._begun.values():
            domain = sites[task["domain_id"]]
            task["parser"] = task["parser"] or domain["parser"]
            task["domain_name"] = domain["domain_name"]


def _without_page(request: Request, failure: Failure) -> Outcome:
    return Outcome(request, None, failure, ())


def _trouble(category: Category, error_type: str, detail: str) -> Trouble:
    return Trouble(category, error_type, detail or error_type, is_due_again=True)


def _key(record: Product, page: Page) -> str | None:
    try:
        return identity_key(record, parse(record.url or page.url))
    except UrlError:
        return None


def _source_product(each: Held) -> Key:
    return key_of(each.domain["source_id"], each.result.content.key or "")


def _version(each: Held) -> str | None:
    reading = each.result.outcome.reading
    return reading.extraction.adapter if reading else each.task["parser_version"]


def _attempt(unit: Unit, each: Held, fared: Fared, trouble: Trouble | None = None) -> Row:
    reading, content = each.result.outcome.reading, each.result.content
    verdict = reading.judgment.verdict if reading else None
    document: dict[str, Any] = {"verdict": verdict.name if verdict else None}
    if not isinstance(verdict, Accept | None):
        document |= {"reason": verdict.reason.value, "detail": verdict.detail}
    if content.confidence:
        document["confidence"] = dict(content.confidence)
    if content.shadow:
        document["shadow"] = content.shadow
    row = attempt_row(each, Attempt.PARSE, fared, unit.now, trouble)
    return row | {"parser_version": _version(each), "document": document}
