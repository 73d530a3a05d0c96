"""Scheduling: tasks that are due are handed to the queue, domain by domain, within its limits.

Of each active domain as much goes to the queue as it has room for: by priority, then who failed
lately, then who was not crawled for longest. A long list of one site is in nobody's way.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, update

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError, UrlError
from penstock.core.ids import new_id
from penstock.core.urls import parse
from penstock.extract.registry import Registry
from penstock.kernel.model import Request
from penstock.products.tables import domains
from penstock.queue.ports import Item, Receipt
from penstock.queue.scheduler import AT_ONCE, Cycle, PutIn, Scheduler
from penstock.queue.seats import Seat
from penstock.queue.tables import counts
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.downloading import item_of
from penstock.workloads.catalog.model import DOWNLOADS, OVER, WORKLOAD, Row, Status
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import crawl_tasks

LineOf = Callable[[Request], tuple[str, int]]


class CatalogScheduler(Scheduler):
    """Hands due tasks to the queue, if it has the seat; pauses as the queue's own scheduler."""

    def __init__(
        self,
        store: Store,
        put_in: PutIn,
        seat: Seat,
        clock: Clock,
        chance: random.Random,
        *,
        settings: CatalogSettings,
        registry: Registry,
        line_of: LineOf,
        nudge: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(store, put_in, seat, clock, chance)
        self._settings = settings
        self._registry = registry
        self._line_of = line_of
        self._nudge = nudge

    async def run(self) -> None:
        """Schedule for as long as we have the seat; else stand by."""
        while True:
            self.is_active = await self._seat.is_ours()
            if not (self.is_active and await self.tick()):
                await self._clock.sleep(self._settings.tick_seconds)

    async def tick(self) -> bool:
        """One look; True if there may be more that is due."""
        await self._store.write(_make_due, "put")
        may_be_more = await super().tick()
        self._nudge()
        return may_be_more

    def _put_due(self, unit: Unit) -> Cycle:
        tasks = list(islice(self._due(unit), AT_ONCE))
        # In a line ids decide who is first: they are in the order of the tasks.
        ids = sorted(new_id() for _ in tasks)
        items = [
            self._item_of(task)._replace(id=each) for task, each in zip(tasks, ids, strict=True)
        ]
        receipts = self._put_in(unit, items) if items else []
        _queued(unit, list(zip(tasks, items, receipts, strict=True)))
        refused = [receipt for receipt in receipts if receipt.status == "rejected"]
        wait = max((receipt.retry_after or 0.0 for receipt in refused), default=0.0)
        return Cycle(len(tasks), len(refused), wait)

    def _due(self, unit: Unit) -> Iterator[Row]:
        """Tasks that are due and that there is room for, those of one domain together."""
        pending = _pending(unit)
        room = self._settings.max_queued - sum(pending.values())
        active = list(unit.rows(_with_due(unit.now)))
        # None is always the first: else a full queue would be that one's alone.
        self._chance.shuffle(active)
        for domain in active:
            its_room = min(room, self._settings.max_queued_per_domain - pending[domain["id"]])
            if its_room <= 0:
                continue
            for task in unit.rows(_due_of(domain["id"], unit.now).limit(min(its_room, AT_ONCE))):
                room -= 1
                yield task | {"parser": task["parser"] or domain["parser"]}

    def _item_of(self, task: Row) -> Item:
        parser = task["parser"] or self._settings.parser
        line, _ = self._line_of(Request(task["url"], workload=WORKLOAD))
        return item_of(task, parser, line, is_known=self._is_known(task, parser))

    def _is_known(self, task: Row, parser: str) -> bool:
        """Whether a page that has not changed need not be read again."""
        was_well = task["failure"] is None and task["completed_at"] is not None
        if not (was_well and task["html_path"] and not task["accept_next"]):
            return False
        try:
            adapter = self._registry.choose(parse(task["url"]), parser).adapter
        except (UrlError, SettingsError):
            # Whoever reads the page says what is wrong.
            return False
        return bool(adapter.name == task["parser_version"])


def _make_due(unit: Unit) -> int:
    """Let tasks wait again whose time has come to be crawled again."""
    tasks = crawl_tasks.c
    due = (
        select(tasks.id)
        .where(
            tasks.next_crawl_at <= unit.now,
            tasks.next_crawl_at.is_not(None),
            tasks.status.in_([status.value for status in OVER]),
            tasks.is_paused.is_(False),
        )
        .order_by(tasks.next_crawl_at)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    statement = update(crawl_tasks).where(tasks.id.in_(due))
    values = {
        "status": Status.PENDING.value,
        "scheduled_at": tasks.next_crawl_at,
        "next_crawl_at": None,
        "retry_count": 0,
        "updated_at": unit.now,
    }
    return unit.run(statement.values(values)).rowcount


def _with_due(now: int) -> Select[*tuple[Any, ...]]:
    """Active domains of which something is due; one look at each, however many have nothing."""
    first = select(crawl_tasks.c.id).where(crawl_tasks.c.domain_id == domains.c.id, *_is_due(now))
    has_some = first.limit(1).scalar_subquery().is_not(None)
    return select(domains).where(domains.c.is_active, has_some)


def _is_due(now: int) -> tuple[ColumnElement[bool], ...]:
    tasks = crawl_tasks.c
    return (
        tasks.status == Status.PENDING.value,
        tasks.is_paused.is_(False),
        tasks.scheduled_at <= now,
    )


def _due_of(domain_id: str, now: int) -> Select[*tuple[Any, ...]]:
    tasks = crawl_tasks.c
    return (
        select(crawl_tasks)
        .where(tasks.domain_id == domain_id, *_is_due(now))
        .order_by(tasks.priority, tasks.turn_key, tasks.id)
        .with_for_update(skip_locked=True)
    )


def _pending(unit: Unit) -> Counter[str]:
    """How many tasks of each domain the queue has."""
    query = select(counts.c.quota, func.sum(counts.c.pending)).where(counts.c.lane == DOWNLOADS)
    return Counter(
        {quota: int(number) for quota, number in unit.run(query.group_by(counts.c.quota))}
    )


def _queued(unit: Unit, put: Sequence[tuple[Row, Item, Receipt]]) -> None:
    accepted = [
        {
            "id": task["id"],
            "status": Status.QUEUED.value,
            "item_id": item.id,
            "updated_at": unit.now,
        }
        for task, item, receipt in put
        if receipt.status != "rejected"
    ]
    unit.update_all(crawl_tasks, accepted)
