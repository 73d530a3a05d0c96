"""Replay over the monitor's pages: what an adapter would have made of what was kept."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import Select, and_, or_, select

from penstock.blobs.ports import Blobs
from penstock.core.errors import SettingsError
from penstock.extract.adapter import Adapter
from penstock.extract.registry import Registry
from penstock.kernel.model import Page
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.quality.compare import Change
from penstock.quality.replay import KeptPage, Replayed, Summary, read_again, replay
from penstock.quality.settings import QualitySettings
from penstock.quality.standalone import StandaloneJudge
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.kept import page_of, record_of
from penstock.workloads.monitor.model import FetchStatus
from penstock.workloads.monitor.tables import scrape_results, scrape_targets

AT_ONCE = 100
LONGEST_VALUE = 60
NAMES = {
    Change.SAME: "read as before",
    Change.CHANGED: "read otherwise",
    Change.NEWLY_GOOD: "newly good",
    Change.NEWLY_FAILING: "newly failing",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages are read again; `since` is in ms of the store's time.

    `after` is where the part before ended: the time and the id of its last result.
    """

    since: int
    source_id: str | None = None
    target_ids: tuple[str, ...] = ()
    after: tuple[int, str] | None = None


@dataclass(slots=True)
class Part:
    """A part of a replay: its counts, the pages that differ, and where the next part begins.

    That is absent when there is no more: all pages were read.
    """

    adapter: str
    summary: Summary = field(default_factory=Summary)
    differing: list[Replayed] = field(default_factory=list)
    next_after: tuple[int, str] | None = None


class Replaying:
    """Reads kept pages again; changes nothing.

    The registry has to have the candidates, too: they are named `id@version`.
    """

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        registry: Registry,
        quality: QualitySettings,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._monotonic = monotonic
        self._store = store
        self._blobs = blobs
        self._registry = registry
        self._reader = Reader(registry, StandaloneJudge(quality))

    async def now(self) -> int:
        """The store's time, which `since` counts in."""
        return await self._store.read(lambda unit: unit.now)

    def adapter(self, name: str) -> Adapter:
        """The adapter NAME or NAME@VERSION; the error names those that there are."""
        found = self._registry.get(name)
        if found is None:
            known = ", ".join(self._registry.names())
            raise SettingsError(
                f"there is no adapter '{name}'; known: {known}. "
                "Name the file of a new version with PENSTOCK_EXTRACT__CANDIDATES"
            )
        return found

    def run(
        self,
        name: str,
        selection: Selection,
        summary: Summary,
        progress: Callable[[Summary], None] = lambda _summary: None,
    ) -> AsyncIterator[Replayed]:
        """What an adapter makes of the pages that its id was used for, oldest first."""
        adapter = self.adapter(name)
        pages = self._pages(adapter.id, selection)
        return replay(pages, partial(self._read, name=adapter.name), summary, progress)

    async def part(self, name: str, selection: Selection, pages: int, seconds: float) -> Part:
        """As `run`, but so many pages at most, and for about so long; other work goes on."""
        adapter = self.adapter(name)
        read = partial(self._read, name=adapter.name)
        part, give_up_at = Part(adapter.name), self._monotonic() + seconds
        last: tuple[int, str] | None = None
        async for kept in self._pages(adapter.id, selection):
            is_full = part.summary.pages + part.summary.lost == pages
            if last and (is_full or self._monotonic() > give_up_at):
                part.next_after = last
                return part
            last = (kept.about["at"], kept.key)
            if kept.page is None:
                part.summary.lost += 1
                continue
            replayed = await asyncio.to_thread(read_again, kept, kept.page, read)
            part.summary.add(replayed.comparison)
            if replayed.change is not Change.SAME:
                part.differing.append(replayed)
        return part

    def _read(self, page: Page, name: str) -> Reading:
        return self._reader.read(page, name)

    async def _pages(self, adapter_id: str, selection: Selection) -> AsyncIterator[KeptPage]:
        after = selection.after or (selection.since - 1, "~")
        while True:
            query = _query(adapter_id, selection, after)
            rows = await self._store.read(partial(_rows, query))
            for row in rows:
                yield await self._kept(row)
            if len(rows) < AT_ONCE:
                return
            after = (rows[-1]["at"], rows[-1]["id"])

    async def _kept(self, row: Mapping[str, Any]) -> KeptPage:
        body = await self._blobs.get(row["body"])
        page = page_of(row["document"], body) if body is not None else None
        about = {name: row[name] for name in ("target_id", "run_id", "at", "body")}
        return KeptPage(row["id"], page, record_of(row["document"]), about)


def _rows(query: Select[*tuple[Any, ...]], unit: Unit) -> list[dict[str, Any]]:
    return list(unit.rows(query))


def _query(
    adapter_id: str, selection: Selection, after: tuple[int, str]
) -> Select[*tuple[Any, ...]]:
    results, targets = scrape_results.c, scrape_targets.c
    at, last = after
    names = ("id", "target_id", "run_id", "at", "document", "body")
    query = (
        select(*(results[name] for name in names))
        .join(scrape_targets, targets.id == results.target_id)
        .where(
            targets.adapter_id == adapter_id,
            results.body.is_not(None),
            # Of what came instead of a page, such as a 404 or a captcha, nothing was ever read.
            results.fetch_status == FetchStatus.OK.value,
            or_(results.at > at, and_(results.at == at, results.id > last)),
        )
        .order_by(results.at, results.id)
        .limit(AT_ONCE)
    )
    if selection.source_id:
        query = query.where(targets.source_id == selection.source_id)
    if selection.target_ids:
        query = query.where(targets.id.in_(selection.target_ids))
    return query


def diff_lines(replayed: Replayed) -> list[str]:
    """One page for a terminal: its address, and every field that was read otherwise."""
    lines = [f"{NAMES[replayed.change]}: {replayed.url}"]
    for each in replayed.comparison.differences:
        lines += [
            f"  - {each.field}: {short(each.before)}",
            f"  + {each.field}: {short(each.after)}",
        ]
    return lines


def summary_lines(name: str, summary: Summary) -> list[str]:
    """The end of a replay for a terminal."""
    counts = ", ".join(f"{summary.changes[change]} {NAMES[change]}" for change in Change)
    lines = [f"{name}: {summary.pages} pages: {counts}"]
    if summary.lost:
        lines.append(f"{summary.lost} pages are not kept any more")
    if summary.fields:
        lines.append("fields: " + _counted(summary.fields.most_common()))
    return lines


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in pairs)


def short(value: Any) -> str:
    """A value that fits a line."""
    if value is None:
        return "-"
    text = ", ".join(map(str, value)) if _is_list(value) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
