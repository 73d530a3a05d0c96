"""What scrapers saw is written: each update once, in order, and never by one that lost its feed.

A feed has one scraper at a time, and `matches.scraper_id` says which. That scraper's updates are
written as they come. A former one may still have updates to hand in, out of the journal that it
kept while the store was away: those are written if they were read before the present scraper
began, and are behind all that is stored, by their number and by their time. Everything else of a
former scraper is refused: the feed has gone on without it, and never goes back.

An update that is there already, with the same number and hash, is taken as written: so a journal
may be replayed any number of times. One whose number stands for something else is refused, also
of the present scraper: it has to go on from what is stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy import update as update_of

from penstock.core.ids import new_id
from penstock.store.schema import storable
from penstock.store.unit import Unit, do_nothing
from penstock.workloads.live.model import FeedStatus, ScraperStatus, Update
from penstock.workloads.live.tables import Row, bounded, live_match_data, matches

#: Hashes of what is stored, by feed and number.
Known = dict[tuple[str, int], str]
#: What is looked at before something is written.
LOCKED = (
    matches.c.match_id,
    matches.c.status,
    matches.c.scraper_id,
    matches.c.scraper_since,
    matches.c.last_sequence,
    matches.c.last_scraper_update,
)


@dataclass(frozen=True, slots=True)
class Look:
    """How a scraper is, and when it last saw its page, in milliseconds since 1970 (None: not yet).

    `memory` is what its rules remember; the next scraper begins with it.
    """

    match_id: str
    scraper_id: str
    at: int | None
    scraper_status: ScraperStatus
    data_age_seconds: float
    memory: Mapping[str, Any]


def write_updates(unit: Unit, updates: Sequence[Update]) -> list[Update]:
    """Write updates, and what feeds say last; those that were refused are returned."""
    feeds = _lock(unit, (update.match_id for update in updates))
    for match_id, at in _last_times(unit, feeds).items():
        feeds[match_id]["scraped_at"] = at
    known = _known(unit, updates)
    accepted: list[Update] = []
    refused: list[Update] = []
    for update in sorted(updates, key=_place):
        feed = feeds.get(storable(update.match_id))
        there = known.get(_key(update))
        if feed is None or _is_refused(update, feed, there):
            refused.append(update)
        elif there is None:
            known[_key(update)] = update.hash
            accepted.append(update)
            _go_on(feed, update)
    unit.insert_all(live_match_data, [_row(update) for update in accepted], do_nothing)
    _keep(unit, feeds, accepted)
    return refused


def note_looks(unit: Unit, looks: Sequence[Look]) -> set[str]:
    """Note how scrapers are; returns the feeds that are not theirs, or not to be watched."""
    feeds = _lock(unit, (look.match_id for look in looks))
    ours = [look for look in looks if _is_watching(look, feeds)]
    if ours:
        rows = [_noted(unit, look, feeds[storable(look.match_id)]) for look in ours]
        names = rows[0].keys() - {"which"}
        statement = update_of(matches).where(matches.c.match_id == bindparam("which"))
        unit.run(statement.values({name: bindparam(name) for name in names}), rows)
    return {look.match_id for look in looks} - {look.match_id for look in ours}


def _lock(unit: Unit, ids: Iterable[str]) -> dict[str, Row]:
    """Some feeds that nobody else changes now, always in the same order."""
    query = select(*LOCKED).where(unit.among(matches.c.match_id, sorted(set(ids))))
    rows = unit.rows(query.order_by(matches.c.match_id).with_for_update())
    return {row["match_id"]: {**row, "scraped_at": None} for row in rows}


def _last_times(unit: Unit, feeds: Mapping[str, Row]) -> dict[str, int]:
    """When the last updates were read that are stored; asked for when nobody changes them."""
    its = live_match_data.c
    is_last = (its.match_id == matches.c.match_id) & (its.sequence == matches.c.last_sequence)
    query = select(its.match_id, its.scraped_at).join(matches, is_last)
    query = query.where(unit.among(matches.c.match_id, sorted(feeds)))
    return dict(unit.run(query).all())


def _known(unit: Unit, updates: Sequence[Update]) -> Known:
    """What stands under the numbers of some updates already."""
    its = live_match_data.c
    query = select(its.match_id, its.sequence, its.hash).where(
        unit.among(its.match_id, sorted({update.match_id for update in updates})),
        its.sequence.in_({update.sequence for update in updates}),
    )
    return {(match_id, sequence): text for match_id, sequence, text in unit.run(query)}


def _place(update: Update) -> tuple[str, int, int]:
    """Where two claim one number, the one that was read first has it: it is not read again."""
    return update.match_id, update.sequence, update.scraped_at


def _key(update: Update) -> tuple[str, int]:
    return storable(update.match_id), update.sequence


def _is_refused(update: Update, feed: Row, there: str | None) -> bool:
    """Whether an update must not be written; see above. `there` is what has its number."""
    if there is not None:
        return there != update.hash
    if update.scraper_id == feed["scraper_id"]:
        return False
    if update.sequence <= feed["last_sequence"]:
        return True
    last, since = feed["scraped_at"], feed["scraper_since"]
    is_old = last is not None and update.scraped_at < last
    return is_old or (since is not None and update.scraped_at > since)


def _row(update: Update) -> Row:
    return {
        "id": new_id(),
        "match_id": update.match_id,
        "source_url": update.source_url,
        "state": update.state,
        "payload": update.payload,
        "sequence": update.sequence,
        "hash": update.hash,
        "critical": update.critical,
        "final": update.final,
        "scraper_id": update.scraper_id,
        "update_latency_ms": bounded(update.latency_ms),
        "data_source": update.data_source,
        "scraped_at": update.scraped_at,
    }


def _go_on(feed: Row, update: Update) -> None:
    """Let a feed be where an update brings it; it never goes back."""
    feed["last_scraper_update"] = _later(feed["last_scraper_update"], update.scraped_at)
    if update.sequence > feed["last_sequence"]:
        feed["last_sequence"], feed["scraped_at"] = update.sequence, update.scraped_at


def _keep(unit: Unit, feeds: Mapping[str, Row], accepted: Sequence[Update]) -> None:
    """Let feeds say what their last updates say."""
    for update in accepted:
        feed = feeds[storable(update.match_id)]
        if update.sequence != feed["last_sequence"]:
            continue
        changes = {
            "payload": update.payload,
            "state": update.state,
            "last_sequence": update.sequence,
            "last_hash": update.hash,
            "last_scraper_update": feed["last_scraper_update"],
            "updated_at": unit.now,
        }
        unit.run(update_of(matches).where(matches.c.match_id == feed["match_id"]).values(changes))


def _is_watching(look: Look, feeds: Mapping[str, Row]) -> bool:
    feed = feeds.get(storable(look.match_id))
    if feed is None or feed["status"] != FeedStatus.WATCHING:
        return False
    return bool(feed["scraper_id"] == look.scraper_id)


def _noted(unit: Unit, look: Look, feed: Row) -> Row:
    return {
        "which": look.match_id,
        "last_scraper_update": _later(feed["last_scraper_update"], look.at),
        "data_freshness_seconds": bounded(look.data_age_seconds) or 0,
        "scraper_status": look.scraper_status,
        "memory": look.memory,
        "updated_at": unit.now,
    }


def _later(one: int | None, other: int | None) -> int | None:
    return max((at for at in (one, other) if at is not None), default=None)
