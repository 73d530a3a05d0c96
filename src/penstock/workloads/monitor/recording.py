"""Recording: what was learnt of targets, in the transaction that ends their items.

Verdicts are passed anew here, against what the store knows: the last accepted price of a product
and what its run has had already. So they are right however many processes record at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import select, update

from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.money import to_minor
from penstock.core.urls import parse
from penstock.events.ports import Message
from penstock.kernel.records import (
    Accept,
    Extraction,
    Product,
    Quarantine,
    QuarantineReason,
    Verdict,
)
from penstock.products.announcing import product_messages
from penstock.products.finding import Key, find_ids, key_of
from penstock.products.history import last_seen, seen_in_runs
from penstock.products.model import Offer, Written, refusal_of
from penstock.products.writing import write_offers
from penstock.quality.identity import identity_key
from penstock.quality.judge import Standing, judge
from penstock.quality.normalise import Normalised
from penstock.quality.plausibility import Money
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import JUDGED
from penstock.queue.lanes import Result
from penstock.store.unit import Unit
from penstock.workloads.monitor.adapters import WAS_DISABLED, lock_statuses
from penstock.workloads.monitor.changes import Change, TellChanges, change_of, messages_of
from penstock.workloads.monitor.counting import Fate, fate_of, product_of
from penstock.workloads.monitor.ending import Ends, News, by_pair, lock_runs
from penstock.workloads.monitor.leaving import Leaver, Timetable, leave
from penstock.workloads.monitor.tables import (
    quarantined_offers,
    scrape_results,
    scrape_targets,
)

QUARANTINED = "offer.quarantined"
Row = dict[str, Any]


class Content(NamedTuple):
    """What the lane made of an outcome before the transaction; `observed_at` in ms."""

    document: Mapping[str, Any]
    observed_at: int
    body: str | None = None
    content_hash: str | None = None
    etag: str | None = None
    last_modified: str | None = None


@dataclass(slots=True)
class _End:
    """The end of a target in its run, on its way into the store."""

    result: Result
    target: Row
    run: Row
    id: str
    record: Product | None = None
    extraction: Extraction | None = None
    invalid: Mapping[str, str] = field(default_factory=dict)
    adapter_version: str = ""
    key: str | None = None
    verdict: Verdict | None = None
    fate: Fate | None = None
    written: Written | None = None

    @property
    def content(self) -> Content:
        content: Content = self.result.content
        return content

    @property
    def source_product(self) -> Key:
        return key_of(self.run["source_id"], self.key or "")

    @property
    def is_accepted(self) -> bool:
        return isinstance(self.verdict, Accept)

    @property
    def is_unchanged(self) -> bool:
        return self.result.outcome.unchanged


class Recorder:
    """Writes results, offers, quarantine, targets and runs."""

    def __init__(
        self,
        ends: Ends,
        quality: QualitySettings,
        timetable: Timetable,
        *,
        tell_changes: TellChanges = lambda _unit, _changes: None,
        judged: Callable[[Mapping[str, Fate]], None] = lambda _fates: None,
    ) -> None:
        self._ends = ends
        self._quality = quality
        self._timetable = timetable
        self._tell_changes = tell_changes
        self._judged = judged

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        """Everything that the ends of items mean; those whose run is over are passed over."""
        statuses = lock_statuses(unit, sorted({result.claim.quota for result in results}))
        ends = _find(unit, results)
        if not ends:
            return
        _recall(unit, [end for end in ends if end.is_unchanged])
        self._judge(unit, ends)
        changes = _write_offers(unit, [end for end in ends if end.is_accepted])
        unit.insert_all(scrape_results, [_result_row(unit, end) for end in ends])
        rows = _set_aside(unit, [end for end in ends if isinstance(end.verdict, Quarantine)])
        leavers = [
            Leaver(end.target, end.run["started_at"], _fate(end), _learnt(end)) for end in ends
        ]
        leave(unit, leavers, self._timetable)
        runs = {end.run["id"]: end.run for end in ends}
        counted = [(end.run["id"], _fate(end).counts, end.is_unchanged) for end in ends]
        # Events come last: who writes them keeps all others from writing theirs.
        news = News([message for change in changes for message in messages_of(change)])
        news.append(unit, product_messages(unit, _shown_anew(ends)))
        news.append(unit, [_set_aside_message(row) for row in rows])
        self._ends.count(unit, runs, counted, by_pair(statuses), news)
        self._tell_changes(unit, changes)
        self._judged({end.result.claim.id: _fate(end) for end in ends})

    # ── judging

    def _judge(self, unit: Unit, ends: Sequence[_End]) -> None:
        """Pass the verdicts, in order: of two of the same product, the first one counts."""
        for end in ends:
            end.key = _key(end.record)
        history = _StoredHistory(unit, ends)
        standing = Standing(history, self._quality)
        for end in ends:
            history.look_at(end)
            end.verdict = _verdict(end, standing)
            end.fate = fate_of(end.result.outcome, end.verdict, end.record)
            history.remember(end)


def _write_offers(unit: Unit, ends: Sequence[_End]) -> list[Change]:
    offers = [_offer(end) for end in ends]
    changes = []
    for end, offer, each in zip(ends, offers, write_offers(unit, offers), strict=True):
        end.written = each
        changes.append(change_of(offer, each))
    return changes


def _shown_anew(ends: Sequence[_End]) -> list[str]:
    """Products of which the catalogue shows something else now."""
    written = [end.written for end in ends if end.written]
    return [each.source_product_id for each in written if each.changes_catalogue]


def _set_aside(unit: Unit, ends: Sequence[_End]) -> list[Row]:
    rows = [_quarantine_row(unit, end) for end in ends]
    unit.insert_all(quarantined_offers, rows)
    return rows


class _StoredHistory:
    """What the store knows of the products at hand, and what is added to it here."""

    def __init__(self, unit: Unit, ends: Sequence[_End]) -> None:
        found = [end for end in ends if end.key]
        ids = find_ids(unit, (end.source_product for end in found))
        seen = last_seen(unit, sorted(ids.values())) if ids else {}
        self._last = {key: seen[each] for key, each in ids.items() if each in seen}
        places = {
            (ids[end.source_product], end.run["id"]): _place(end)
            for end in found
            if end.source_product in ids
        }
        self._had = {places[each] for each in seen_in_runs(unit, places)}
        self._now: _End | None = None

    def look_at(self, end: _End) -> None:
        """Whose history is asked for next."""
        self._now = end

    def seen_in_run(self, identity_key: str) -> bool:
        del identity_key
        return self._now is not None and _place(self._now) in self._had

    def last_accepted(self, identity_key: str) -> Money | None:
        del identity_key
        seen = self._last.get(self._now.source_product) if self._now else None
        minor = to_minor(seen.price, seen.currency) if seen else None
        return Money(minor, seen.currency) if seen and minor is not None else None

    def remember(self, end: _End) -> None:
        if end.key and end.is_accepted:
            self._had.add(_place(end))


def _place(end: _End) -> tuple[str, Key]:
    return end.run["id"], end.source_product


def _key(record: Product | None) -> str | None:
    if record is None or record.url is None:
        return None
    try:
        return identity_key(record, parse(record.url))
    except UrlError:
        return None


def _verdict(end: _End, standing: Standing) -> Verdict | None:
    """The verdict on a record, if there is one; of a disabled adapter nothing is accepted."""
    extraction, record = end.extraction, end.record
    if extraction is None or record is None or extraction.reason not in JUDGED:
        return None
    verdict = judge(extraction, Normalised(record, end.invalid), standing)
    if not isinstance(verdict, Accept):
        return verdict
    if end.run["error_code"] == WAS_DISABLED:
        why = "the adapter was disabled while the run was under way"
        return Quarantine(QuarantineReason.DRIFT_DETECTED, why)
    if refusal := refusal_of(record):
        return Quarantine(QuarantineReason.VALIDATION_FAILED, str(refusal))
    return verdict


# ── what is there


def _find(unit: Unit, results: Sequence[Result]) -> list[_End]:
    """The ends that count: of targets that still are in the run that their item is of."""
    payloads = {result.claim.id: result.claim.payload for result in results}
    runs = lock_runs(unit, {payload["run"] for payload in payloads.values()})
    ids = sorted({payload["target"] for payload in payloads.values()})
    query = select(scrape_targets).where(unit.among(scrape_targets.c.id, ids))
    rows = unit.rows(query.order_by(scrape_targets.c.id).with_for_update())
    targets = {row["id"]: row for row in rows}
    ends = []
    for result in results:
        payload = payloads[result.claim.id]
        target, run = targets.get(payload["target"]), runs.get(payload["run"])
        if target and run and target["run_id"] == run["id"]:
            ends.append(_end(result, target, run))
    return ends


def _end(result: Result, target: Row, run: Row) -> _End:
    end = _End(result, target, run, new_id(), adapter_version=run["adapter_version"])
    if reading := result.outcome.reading:
        end.record = product_of(reading.record)
        end.extraction, end.invalid = reading.extraction, reading.judgment.invalid
        end.adapter_version = reading.extraction.adapter.partition("@")[2] or end.adapter_version
    return end


def _recall(unit: Unit, ends: Sequence[_End]) -> None:
    """Pages that have not changed say what they said when they were last accepted.

    Where that is forgotten, so is what the page was: it comes whole the next time.
    """
    if not ends:
        return
    ids = [end.target["last_good_result_id"] or "" for end in ends]
    results = scrape_results.c
    query = select(results.id, results.document, results.adapter_version)
    found = {row["id"]: row for row in unit.rows(query.where(unit.among(results.id, ids)))}
    for end in ends:
        if good := found.get(end.target["last_good_result_id"]):
            end.record = Product.model_validate(good["document"]["product"])
            end.extraction = Extraction(Product.kind)
            end.adapter_version = good["adapter_version"]
    if lost := [end.target["id"] for end in ends if end.record is None]:
        forgotten = update(scrape_targets).where(unit.among(scrape_targets.c.id, lost))
        unit.run(forgotten.values(etag=None, last_modified=None, content_hash=None))


# ── rows


def _fate(end: _End) -> Fate:
    if end.fate is None:
        raise RuntimeError("an end is written before it was judged")
    return end.fate


def _offer(end: _End) -> Offer:
    if end.record is None or end.key is None:
        raise RuntimeError("only a record can be an offer")
    return Offer(
        source_id=end.run["source_id"],
        retailer_id=end.run["retailer_id"],
        target_id=end.target["id"],
        record=end.record,
        identity_key=end.key,
        url=end.target["url"],
        observed_at=end.content.observed_at,
        run_id=end.run["id"],
        adapter_id=end.run["adapter_id"],
        adapter_version=end.adapter_version,
    )


def _result_row(unit: Unit, end: _End) -> Row:
    fate, content = _fate(end), end.content
    document = {
        **content.document,
        "product": end.record and end.record.model_dump(mode="json"),
        "identity_key": end.key,
        "verdict": {"name": fate.verdict, "reason": fate.reason, "detail": fate.detail},
    }
    if end.is_unchanged:
        document["unchanged_since"] = end.target["last_good_result_id"]
    return {
        "id": end.id,
        "target_id": end.target["id"],
        "run_id": end.run["id"],
        "at": unit.now,
        "fetch_status": fate.fetch_status.value,
        "verdict": fate.verdict,
        "reason": fate.reason,
        "adapter_version": end.adapter_version,
        "document": document,
        "body": content.body,
        "price_id": end.written.price_id if end.written else None,
    }


def _quarantine_row(unit: Unit, end: _End) -> Row:
    fate = _fate(end)
    return {
        "id": new_id(),
        "target_id": end.target["id"],
        "run_id": end.run["id"],
        "result_id": end.id,
        "source_id": end.run["source_id"],
        "adapter_id": end.run["adapter_id"],
        "adapter_version": end.adapter_version,
        "identity_key": end.key,
        "reason": fate.reason,
        "detail": fate.detail,
        "offer": end.record.model_dump(mode="json") if end.record else {},
        "observed_at": end.content.observed_at,
        "created_at": unit.now,
    }


def _set_aside_message(row: Row) -> Message:
    names = ("id", "target_id", "run_id", "source_id", "adapter_id", "reason", "detail")
    data = {name: row[name] for name in names}
    return Message(row["id"], QUARANTINED, row["target_id"], data)


def _learnt(end: _End) -> Row:
    """What an accepted page was, so that it is known again; what has not changed is known."""
    if end.written is None or end.is_unchanged:
        return {}
    return {
        "source_product_id": end.written.source_product_id,
        "etag": end.content.etag,
        "last_modified": end.content.last_modified,
        "content_hash": end.content.content_hash,
        "read_by": f"{end.run['adapter_id']}@{end.adapter_version}",
        "last_good_result_id": end.id,
    }
