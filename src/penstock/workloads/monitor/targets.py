"""Targets: the URLs that are watched; added, changed and removed by people.

Which of them are due is kept right with every change: `next_due_at` is absent while nothing is to
be done for a target, and while it is in a run, whose end says when it is due again.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select, update

from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.urls import canonical, parse
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.products.tables import sources
from penstock.store.store import Store
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import Conflict, NotFound, invalid
from penstock.workloads.monitor.drafting import (
    Draft,
    Drafter,
    DraftRefused,
    Wanted,
    check_notes,
    check_priority,
    check_schedule,
    read_sources,
)
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.obstacles import obstacles
from penstock.workloads.monitor.schedules import DEFAULT_SCHEDULE, next_due
from penstock.workloads.monitor.tables import (
    price_rules,
    quarantined_offers,
    scrape_results,
    scrape_targets,
)

Row = dict[str, Any]
Change = Callable[[Row], Row]
CHANGED = "target.changed"
EDITABLE = frozenset({"schedule", "priority", "notes", "adapter"})
NO_TARGET = "Target not found"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which targets are wanted, newest first, behind a place."""

    source_id: str | None = None
    adapter: str | None = None
    status: TargetStatus | None = None
    enabled: bool | None = None
    blocked: bool | None = None
    url: str | None = None
    before: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Removal:
    """What became of a target that was to be removed."""

    id: str
    deleted: bool
    note: str


# ── reading


def targets_query(*wanted: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Targets with what has to be known of their source to say how they stand."""
    return (
        select(
            scrape_targets,
            sources.c.name.label("source"),
            sources.c.domain.label("source_domain"),
            sources.c.tos_approved_by,
            sources.c.robots_compliant,
        )
        .join(sources, sources.c.id == scrape_targets.c.source_id)
        .where(*wanted)
    )


def find_target(unit: Unit, target_id: str) -> Row:
    """One target."""
    for row in unit.rows(targets_query(scrape_targets.c.id == target_id)):
        return row
    raise NotFound(NO_TARGET)


def look_up(unit: Unit, id_or_url: str) -> Row:
    """One target by its id, or by any spelling of its URL."""
    if "/" not in id_or_url:
        return find_target(unit, id_or_url)
    try:
        wanted = scrape_targets.c.canonical_url == canonical(parse(id_or_url))
    except UrlError as error:
        raise invalid("target", str(error)) from None
    rows = list(unit.rows(targets_query(wanted)))
    if len(rows) > 1:
        ids = ", ".join(f"{row['id']} ({row['source']})" for row in rows)
        raise Conflict(f"several targets have this URL: name one of {ids}")
    if not rows:
        raise NotFound("There is no target with this URL")
    return rows[0]


def list_targets(unit: Unit, wanted: Filter) -> list[Row]:
    """Targets, newest first, one more than wanted if there are more."""
    query = targets_query(*conditions(wanted)).order_by(scrape_targets.c.id.desc())
    return list(unit.rows(query.limit(wanted.limit + 1)))


def count_targets(unit: Unit, source_id: str | None = None) -> dict[str, int]:
    """How many targets there are in each status."""
    columns = scrape_targets.c
    query = select(columns.status, func.count()).group_by(columns.status)
    if source_id is not None:
        query = query.where(columns.source_id == source_id)
    found = {row[0]: row[1] for row in unit.run(query)}
    return {status.value: found.get(status.value, 0) for status in TargetStatus}


def conditions(wanted: Filter) -> list[ColumnElement[bool]]:
    """What a filter wants of a target."""
    columns = scrape_targets.c
    equal = {
        columns.source_id: wanted.source_id,
        columns.adapter_id: wanted.adapter,
        columns.status: wanted.status.value if wanted.status else None,
        columns.enabled: wanted.enabled,
        columns.robots_path_blocked: wanted.blocked,
    }
    found = [column == value for column, value in equal.items() if value is not None]
    if wanted.url is not None:
        found.append(columns.url.contains(wanted.url, autoescape=True))
    if wanted.before is not None:
        found.append(columns.id < wanted.before)
    return found


def waits_for(row: Mapping[str, Any]) -> str | None:
    """What keeps a target from being read, in words; None if only its time has to come."""
    # Of its adapter the list of adapters tells: it is not one target's matter.
    found = obstacles({**row, "adapter_enabled": None}, row["source"])
    words = [obstacle.words for obstacle in found]
    if row["status"] == TargetStatus.STALE:
        words.append("it waited in the queue for too long: requeue it")
    return words[0] if words else None


# ── adding


def known_keys(unit: Unit, drafts: Sequence[Draft]) -> dict[tuple[str, str], Row]:
    """Which of some drafts are targets already; those that are the drafts themselves are not."""
    columns = scrape_targets.c
    by_source: dict[str, list[str]] = {}
    for draft in drafts:
        by_source.setdefault(draft.source_id, []).append(draft.canonical_url)
    found: dict[tuple[str, str], Row] = {}
    for source_id, urls in by_source.items():
        query = select(columns.id, columns.canonical_url, columns.enabled).where(
            columns.source_id == source_id, unit.among(columns.canonical_url, urls)
        )
        found |= {(source_id, row["canonical_url"]): row for row in unit.rows(query)}
    # A unit that is run again may find what it wrote the first time.
    ours = {draft.id for draft in drafts}
    return {key: row for key, row in found.items() if row["id"] not in ours}


def insert_drafts(unit: Unit, drafts: Sequence[Draft], who: str) -> None:
    """Write targets that are not there yet."""
    unit.insert_all(scrape_targets, [draft.as_row(unit, who) for draft in drafts], do_nothing)


def describe_known(row: Mapping[str, Any]) -> str:
    """Say that a target is there already."""
    hint = "" if row["enabled"] else ", which is disabled: enable it instead"
    return f"this is target {row['id']} already{hint}"


# ── the service


class Targets:
    """The targets of a store."""

    def __init__(
        self,
        store: Store,
        drafter: Drafter,
        log: EventLog,
        chance: random.Random,
        default_schedule: str = DEFAULT_SCHEDULE,
    ) -> None:
        self._store = store
        self._drafter = drafter
        self._log = log
        self._chance = chance
        self._default_schedule = default_schedule

    async def add(self, wanted: Wanted, who: str) -> Row:
        """A new target; it is due at once, if its source is approved."""
        target_id, event = new_id(), new_id()

        def work(unit: Unit) -> Row:
            unit.take_turns("monitor targets")
            draft: Draft = refusing(lambda: self._drafter.draft(wanted, read_sources(unit)))
            draft = replace(draft, id=target_id)
            if known := known_keys(unit, [draft]).get(draft.key):
                raise Conflict(describe_known(known), meta={"target_id": known["id"]})
            insert_drafts(unit, [draft], who)
            self._tell(unit, event, draft.id, {"who": who, "added": draft.url})
            return find_target(unit, draft.id)

        return await self._store.write(work)

    async def get(self, id_or_url: str) -> Row:
        """A target, by its id or URL."""
        return await self._store.read(lambda unit: look_up(unit, id_or_url))

    async def list(self, wanted: Filter) -> list[Row]:
        """Targets, newest first, one more than wanted if there are more."""
        return await self._store.read(lambda unit: list_targets(unit, wanted))

    async def counts(self, source_id: str | None = None) -> dict[str, int]:
        """How many targets there are in each status."""
        return await self._store.read(lambda unit: count_targets(unit, source_id))

    async def edit(self, target_id: str, who: str, **changes: Any) -> Row:
        """Change schedule, priority, notes or adapter."""
        if unknown := changes.keys() - EDITABLE:
            raise invalid(min(unknown), "cannot be changed")

        def change(row: Row) -> Row:
            edited: Row = refusing(lambda: self._edited(row, changes))
            return edited

        return await self._change(target_id, who, change)

    def _edited(self, row: Row, changes: Mapping[str, Any]) -> Row:
        values = dict(changes)
        if "schedule" in values:
            check_schedule(values["schedule"])
        if "priority" in values:
            check_priority(values["priority"])
        if "notes" in values:
            check_notes(values["notes"])
        if "adapter" in values:
            url = parse(row["url"])
            values["adapter_id"] = self._drafter.adapter_for(url, values.pop("adapter"))
        return values

    async def pause(self, target_id: str, who: str) -> Row:
        """Read a target no more until it is resumed; a run that has it comes to its end."""
        return await self._set(target_id, who, status=TargetStatus.PAUSED.value)

    async def resume(self, target_id: str, who: str) -> Row:
        """Read a target again, whatever stopped it: a pause, failures, or a full queue."""
        active = TargetStatus.ACTIVE.value
        return await self._set(target_id, who, status=active, consecutive_failures=0)

    async def enable(self, target_id: str, who: str) -> Row:
        """Take a target in again that was disabled."""
        return await self._set(target_id, who, enabled=True)

    async def disable(self, target_id: str, who: str) -> Row:
        """Leave a target out; it stays with all that is known of it."""
        return await self._set(target_id, who, enabled=False)

    async def block(self, target_id: str, who: str) -> Row:
        """Never fetch this URL, whatever robots allow."""
        return await self._set(target_id, who, robots_path_blocked=True)

    async def unblock(self, target_id: str, who: str) -> Row:
        """Take back a block that somebody set; what robots forbid stays forbidden."""
        return await self._set(target_id, who, robots_path_blocked=False)

    async def _set(self, target_id: str, who: str, **values: Any) -> Row:
        return await self._change(target_id, who, lambda _row: values)

    async def _change(self, target_id: str, who: str, change: Change) -> Row:
        event = new_id()

        def work(unit: Unit) -> Row:
            before = _lock(unit, target_id)
            values = {name: new for name, new in change(before).items() if before[name] != new}
            if values:
                after = {**before, **values}
                due = self._due(unit, before, after)
                _update(unit, target_id, {**values, "next_due_at": due})
                self._tell(unit, event, target_id, {"who": who, **values})
            return find_target(unit, target_id)

        return await self._store.write(work)

    def _due(self, unit: Unit, before: Row, after: Row) -> int | None:
        """When a target is due after a change."""
        if after["run_id"] is not None or not _is_wanted(after):
            return None
        is_back = not _is_wanted(before) or before["status"] != after["status"]
        # Another adapter may be able to do what this one could not.
        is_other = before["adapter_id"] != after["adapter_id"]
        if is_back or is_other or after["last_scraped_at"] is None:
            return unit.now
        if before["schedule"] != after["schedule"] and after["status"] == TargetStatus.ACTIVE:
            return next_due(after["schedule"], unit.now, self._chance, self._default_schedule)
        due: int | None = before["next_due_at"]
        return due

    async def requeue(self, who: str, *, source_id: str | None = None) -> int:
        """Make targets due again that waited in the queue for too long; how many."""
        columns = scrape_targets.c
        chosen = [columns.status == TargetStatus.STALE.value, columns.run_id.is_(None)]
        if source_id is not None:
            chosen.append(columns.source_id == source_id)
        event = new_id()

        def work(unit: Unit) -> int:
            values = {"status": TargetStatus.ACTIVE.value, "updated_at": unit.now}
            due = {"next_due_at": unit.now}
            wanted = columns.enabled & ~columns.robots_path_blocked
            number = unit.run(
                update(scrape_targets).where(*chosen, wanted).values({**values, **due})
            ).rowcount
            number += unit.run(update(scrape_targets).where(*chosen).values(values)).rowcount
            if number:
                self._tell(unit, event, source_id or "stale", {"who": who, "requeued": number})
            return number

        return await self._store.write(work)

    async def remove(self, target_id: str, who: str) -> Removal:
        """Delete a target of which nothing is known yet; else disable it, and keep what is."""
        event = new_id()

        def work(unit: Unit) -> Removal:
            row = _lock(unit, target_id)
            if row["run_id"] is not None:
                raise Conflict(f"Run {row['run_id']} has this target now: remove it afterwards")
            if not _has_history(unit, row):
                unit.run(delete(scrape_targets).where(scrape_targets.c.id == target_id))
                self._tell(unit, event, target_id, {"who": who, "removed": row["url"]})
                return Removal(target_id, deleted=True, note="deleted")
            values = {"enabled": False, "next_due_at": None}
            _update(unit, target_id, values)
            self._tell(unit, event, target_id, {"who": who, **values})
            note = "disabled, and kept: there are results or prices of it"
            return Removal(target_id, deleted=False, note=note)

        return await self._store.write(work)

    def _tell(self, unit: Unit, event: str, key: str, data: Mapping[str, Any]) -> None:
        """Let it be known who did what."""
        self._log.append(unit, [Message(event, CHANGED, key, data)])


def _lock(unit: Unit, target_id: str) -> Row:
    query = select(scrape_targets).where(scrape_targets.c.id == target_id)
    for row in unit.rows(query.with_for_update()):
        return row
    raise NotFound(NO_TARGET)


def _update(unit: Unit, target_id: str, values: Mapping[str, Any]) -> None:
    statement = update(scrape_targets).where(scrape_targets.c.id == target_id)
    unit.run(statement.values({**values, "updated_at": unit.now}))


def _is_wanted(row: Mapping[str, Any]) -> bool:
    """Whether there is a time at which something is to be done for a target."""
    is_open = row["status"] in (TargetStatus.ACTIVE, TargetStatus.BROKEN)
    return bool(is_open and row["enabled"] and not row["robots_path_blocked"])


def _has_history(unit: Unit, row: Row) -> bool:
    if row["last_scraped_at"] is not None or row["source_product_id"] is not None:
        return True
    tables = (scrape_results, quarantined_offers, price_rules)
    queries = (select(table.c.id).where(table.c.target_id == row["id"]) for table in tables)
    return any(unit.run(query.limit(1)).first() for query in queries)


def refusing(make: Callable[[], Any]) -> Any:
    """What is made; what is wrong with it is told to whoever asked."""
    try:
        return make()
    except DraftRefused as refused:
        raise refused.as_api_error() from refused
