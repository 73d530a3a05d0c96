"""Erasing a page from what live pages leave behind: feeds, updates, errors, health.

What a process still has to write of it is refused by the store; a journal that a process keeps on
its own disk is not touched.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial

from sqlalchemy import ColumnElement, Table, delete, exists, or_, select, update

from penstock.queue.erasure import IsWanted, SamePage, every_row
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live.feeds import remove_feed
from penstock.workloads.live.tables import (
    URL_LENGTH,
    live_match_data,
    matches,
    scraper_errors,
    scraper_health_log,
)
from penstock.workloads.live.troubles import blobs_of

AT_ONCE = 1000
CHANNEL = "upkeep"
Erased = tuple[Counter[str], set[str]]


async def erase_page(store: Store, url: str) -> Erased:
    """Erase a page in all spellings of its URL; how much, and the blobs that it had.

    Feeds that watch it are erased whole. Of feeds that watched it once, what they saw there is.
    """
    is_wanted = SamePage(url)
    counts: Counter[str] = Counter()
    blobs: set[str] = set()
    query = select(matches.c.match_id, matches.c.source_url)
    feeds = [row async for row in every_row(store, query, matches.c.match_id)]
    for row in feeds:
        if is_wanted(row.source_url):
            some, addresses = await erase_feed(store, row.match_id)
            counts, blobs = counts + some, blobs | addresses
    counts["updates"] += await _erase_updates_of(store, is_wanted)
    is_cut_short = scraper_errors.c.url == url[:URL_LENGTH]
    named = [scraper_errors.c.url == each for each in await _urls_of_errors(store, is_wanted)]
    errors, addresses = await _erase_errors(store, or_(is_cut_short, *named))
    counts["errors"] += errors
    return +counts, blobs | addresses


async def erase_feed(store: Store, match_id: str) -> Erased:
    """Erase a feed with all that is kept of it; how much, and the blobs that it had."""
    is_its = partial(_is_of, match_id)
    updates = await _in_steps(store, partial(_delete, live_match_data, is_its(live_match_data)))
    errors, blobs = await _erase_errors(store, is_its(scraper_errors))
    await _in_steps(store, partial(_delete, scraper_health_log, is_its(scraper_health_log)))
    is_gone = await store.write(lambda unit: remove_feed(unit, match_id), CHANNEL)
    return +Counter(feeds=int(is_gone), updates=updates, errors=errors), blobs


def _is_of(match_id: str, table: Table) -> ColumnElement[bool]:
    return table.c.match_id == match_id


async def _erase_updates_of(store: Store, is_wanted: IsWanted) -> int:
    """Erase what feeds saw of a page that they do not watch any more; looks at all updates."""
    its, total = live_match_data.c, 0
    query = select(its.match_id, its.source_url).distinct()
    pairs = await store.read(lambda unit: unit.run(query).all())
    for match_id, url in pairs:
        if not is_wanted(url):
            continue
        chosen = (its.match_id == match_id) & (its.source_url == url)
        total += await _in_steps(store, partial(_delete, live_match_data, chosen))
        await store.write(partial(_blank, match_id), CHANNEL)
    return total


def _blank(match_id: str, unit: Unit) -> None:
    """Let a feed say nothing whose last update is gone; its numbers go on."""
    its = live_match_data.c
    is_there = exists().where(
        its.match_id == matches.c.match_id, its.sequence == matches.c.last_sequence
    )
    blank = {"payload": None, "state": None, "last_hash": "", "updated_at": unit.now}
    unit.run(update(matches).where(matches.c.match_id == match_id, ~is_there).values(blank))


async def _urls_of_errors(store: Store, is_wanted: IsWanted) -> list[str]:
    query = select(scraper_errors.c.url).where(scraper_errors.c.url.is_not(None)).distinct()
    urls = await store.read(lambda unit: list(unit.run(query).scalars()))
    return [url for url in urls if is_wanted(url)]


async def _erase_errors(store: Store, chosen: ColumnElement[bool]) -> tuple[int, set[str]]:
    blobs: set[str] = set()
    its = scraper_errors.c

    def step(unit: Unit) -> int:
        rows = unit.run(select(its.id, its.snapshot, its.screenshot).where(chosen).limit(AT_ONCE))
        found = rows.all()
        blobs.update(blobs_of(found))
        unit.run(delete(scraper_errors).where(unit.among(its.id, [row.id for row in found])))
        return len(found)

    return await _in_steps(store, step), blobs


def _delete(table: Table, chosen: ColumnElement[bool], unit: Unit) -> int:
    ids = list(unit.run(select(table.c.id).where(chosen).limit(AT_ONCE)).scalars())
    unit.run(delete(table).where(unit.among(table.c.id, ids)))
    return len(ids)


async def _in_steps(store: Store, step: Callable[[Unit], int]) -> int:
    total = 0
    while number := await store.write(step, CHANNEL):
        total += number
    return total
