"""The desk on the store: URLs are items of its queue, and dead letters those that were buried."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Select, and_, delete, func, select

from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.kernel.admission import Admission, refusal
from penstock.kernel.model import Refused
from penstock.queue.glance import IS_OF_LINE, waiting_and_claimed
from penstock.queue.lines import IS_WAITING
from penstock.queue.ports import Item, Queue, State
from penstock.queue.tables import items, lines
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.stream.desk import (
    QUEUE_FULL,
    DeadLetter,
    DeadLetters,
    FailureType,
    Pushed,
    Refusal,
    Standing,
)
from penstock.workloads.stream.lane import item_for
from penstock.workloads.stream.model import NAME

#: So many dead letters are looked at, revived or discarded in one transaction.
AT_ONCE = 1000
#: Who asks for a part of them has so many looked through, then gets what was found.
MOST_LOOKED_THROUGH = 10_000
#: One index has them by their end; it is taken only if the statement says that there is one.
IS_DEAD = and_(
    items.c.lane == NAME, items.c.state == State.DEAD.value, items.c.finished_at.is_not(None)
)

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which dead letters are meant."""

    urls: frozenset[str] | None
    domain: str
    reason: str

    def fits(self, row: Row) -> bool:
        url, failure = row["payload"]["url"], row["failure"] or {}
        return (
            (self.urls is None or url in self.urls)
            and self.reason in ("", failure.get("reason"))
            and self.domain in ("", row["group_key"], *_names_of(url, self.domain))
        )


class StoredDesk:
    """A desk beside the workers, or of a command; `group_of` names the line of a URL."""

    def __init__(
        self, store: Store, queue: Queue, admission: Admission, group_of: Callable[[str], str]
    ) -> None:
        self._store = store
        self._queue = queue
        self._admission = admission
        self._group_of = group_of

    async def push(self, urls: Sequence[str]) -> Pushed:
        wanted: dict[int, Item] = {}
        rejected: list[Refusal] = []
        for place, url in enumerate(urls):
            if found := self._refusal(url):
                rejected.append(Refusal(place, url, found.reason, found.detail))
            else:
                wanted[place] = item_for(url, self._group_of(url))
        receipts = dict(zip(wanted, await self._queue.put(list(wanted.values())), strict=True))
        late = {place: each for place, each in receipts.items() if each.status == "rejected"}
        full = [Refusal(place, urls[place], QUEUE_FULL, "the queue is full") for place in late]
        retry_after = max((each.retry_after or 0.0 for each in late.values()), default=None)
        return Pushed(len(receipts) - len(late), sorted([*rejected, *full]), retry_after)

    async def depth(self, most: int | None = None) -> Standing:
        return await self._store.read(lambda unit: _standing(unit, most))

    async def dead(
        self, after: str | None = None, limit: int = 100, *, domain: str = "", reason: str = ""
    ) -> DeadLetters:
        choice = _Choice(None, domain, reason)
        letters: list[DeadLetter] = []
        looked_through = 0
        async for rows in self._parts(after):
            for row in rows:
                looked_through += 1
                if choice.fits(row):
                    letters.append(_letter(row))
                if len(letters) == limit or looked_through == MOST_LOOKED_THROUGH:
                    return DeadLetters(letters, _place_of(row))
        return DeadLetters(letters, None)

    async def revive(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return await self._go_through(self._queue.revive, urls, domain, reason)

    async def discard(
        self, urls: Sequence[str] | None = None, *, domain: str = "", reason: str = ""
    ) -> int:
        return await self._go_through(self._forget, urls, domain, reason)

    def _refusal(self, url: str) -> Refused | None:
        try:
            return self._admission.check(parse(url))
        except UrlError as error:
            return refusal(error)

    async def _go_through(
        self,
        deal_with: Callable[[Sequence[str]], Awaitable[int]],
        urls: Sequence[str] | None,
        domain: str,
        reason: str,
    ) -> int:
        """Deal with all that are chosen and were there at the beginning, some at a time."""
        choice = _Choice(None if urls is None else frozenset(urls), domain, reason)
        until = await self._store.read(lambda unit: unit.now)
        number = 0
        async for rows in self._parts(None, until):
            if chosen := [row["id"] for row in rows if choice.fits(row)]:
                number += await deal_with(chosen)
        return number

    async def _forget(self, ids: Sequence[str]) -> int:
        def forget(unit: Unit) -> int:
            return unit.run(delete(items).where(unit.among(items.c.id, ids), IS_DEAD)).rowcount

        return await self._store.write(forget, "settle")

    async def _parts(
        self, after: str | None, until: int | None = None
    ) -> AsyncIterator[Sequence[Row]]:
        """Dead letters by the time they became so, behind a place; some at a time."""
        while True:
            rows = await self._store.read(partial(_look, after=after, until=until))
            if rows:
                yield rows
            if len(rows) < AT_ONCE:
                return
            after = _place_of(rows[-1])


def _look(unit: Unit, *, after: str | None, until: int | None) -> Sequence[Row]:
    columns = (items.c.id, items.c.group_key, items.c.payload, items.c.failure, items.c.finished_at)
    query = select(*columns).where(IS_DEAD).order_by(items.c.finished_at, items.c.id)
    if until is not None:
        query = query.where(items.c.finished_at <= until)
    if after is None:
        return list(unit.rows(query.limit(AT_ONCE)))
    at, _, item = after.partition(".")
    # One after the other: asked for both at once, an engine gathers and sorts all that follow.
    same = query.where(items.c.finished_at == int(at), items.c.id > item)
    found = list(unit.rows(same.limit(AT_ONCE)))
    later = query.where(items.c.finished_at > int(at))
    return found + list(unit.rows(later.limit(AT_ONCE - len(found))))


def _standing(unit: Unit, most: int | None) -> Standing:
    waiting, claimed = waiting_and_claimed(unit).get(NAME, (0, 0))
    is_due = and_(lines.c.lane == NAME, lines.c.next_at <= unit.now)
    ready = select(items.c.id).join(lines, IS_OF_LINE)
    ready = ready.where(IS_WAITING, is_due, items.c.not_before <= unit.now)
    number = min(waiting, _up_to(unit, ready, most))
    # In the order of their index: an engine would gather all of them first to take a few.
    latest = select(items.c.id).where(IS_DEAD).order_by(items.c.finished_at.desc())
    dead = _up_to(unit, latest, most)
    return Standing(number, waiting - number, claimed, dead)


def _up_to(unit: Unit, query: Select[tuple[str]], most: int | None) -> int:
    """How many rows there are; one more than `most` if there are more than that."""
    some = query.limit(None if most is None else most + 1).subquery()
    number: int = unit.run(select(func.count()).select_from(some)).scalar_one()
    return number


def _letter(row: Row) -> DeadLetter:
    failure = row["failure"] or {}
    kind = failure.get("kind", "")
    type_: FailureType = "site_wide" if kind == "site_wide" else "url_specific"
    return DeadLetter(
        url=row["payload"]["url"],
        type=type_,
        kind=kind,
        reason=failure.get("reason", ""),
        detail=failure.get("detail", ""),
        status_code=failure.get("status"),
        domain=row["group_key"],
        at=datetime.fromtimestamp(row["finished_at"] / 1000, UTC),
    )


def _place_of(row: Row) -> str:
    return f"{row['finished_at']}.{row['id']}"


def _names_of(url: str, wanted: str) -> tuple[str, ...]:
    """The names that a URL's site goes by, if one is asked for: a group may be of several.

    Most URLs are told by their text: ten thousand of them are not parsed while somebody waits.
    """
    if not wanted or (url.isascii() and "%" not in url and wanted not in url.lower()):
        return ()
    try:
        found = parse(url)
    except UrlError:
        return ()
    return found.domain, found.host
