"""Feeds in the store: who is to be watched, which worker does it, and how it ends.

A feed belongs to a worker as long as the worker is among the living. What its scraper may write
is another matter: see `recording`.
"""

from collections.abc import Sequence

import orjson
from sqlalchemy import ColumnElement, delete, exists, or_, select, update

from penstock.queue.tables import workers
from penstock.store.schema import dump, storable
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import invalid
from penstock.workloads.live.model import Feed, FeedStatus, Saved, ScraperStatus
from penstock.workloads.live.tables import (
    ID_LENGTH,
    Row,
    matches,
    scraper_errors,
    scraper_health_log,
)

#: Everything of a feed but what its page said and its rules remember, which may be large.
LIGHT = tuple(column for column in matches.c if column.name not in ("payload", "memory"))
#: What a scraper reads, and how: if one of these is changed, another scraper takes over.
READ_AS = ("source_url", "adapter", "options", "interval_ms")
#: A feed that somebody starts, as if for the first time; only its numbers go on.
ANEW: Row = {
    "status": FeedStatus.WAITING,
    "wanted": True,
    "reason": None,
    "retry_at": None,
    "completed_at": None,
    "memory": {},
    "restarts": 0,
    "scraper_id": None,
}
ORDER = (matches.c.priority, matches.c.created_at, matches.c.match_id)


def is_unwatched() -> ColumnElement[bool]:
    """Whether a feed is no living worker's."""
    return ~exists().where(workers.c.id == matches.c.worker)


def feed_of(row: Row) -> Feed:
    """The feed that a row describes."""
    ms = row["interval_ms"]
    return Feed(
        match_id=row["match_id"],
        url=row["source_url"],
        adapter=row["adapter"],
        options=row["options"],
        priority=row["priority"],
        interval=None if ms is None else ms / 1000,
    )


# ── for people


def put_feed(unit: Unit, feed: Feed) -> Row:
    """Let a page be watched from now on, and return its row.

    One that is watched like that already goes on undisturbed. If something else is to be read, or
    in another way, its scraper may write no more and another one takes over; numbers go on.
    """
    given = _given(feed)
    times = {"created_at": unit.now, "updated_at": unit.now}
    new = {"match_id": feed.match_id, "status": FeedStatus.WAITING, **given, **times}
    unit.insert_all(matches, [new], do_nothing)
    (row,) = _lock(unit, matches.c.match_id == feed.match_id)
    is_same = all(row[name] == given[name] for name in READ_AS)
    if is_same and row["status"] == FeedStatus.WATCHING:
        changes = {"priority": feed.priority}
    else:
        changes = {**given, **ANEW, "scraper_since": unit.now}
    _change(unit, matches.c.match_id == feed.match_id, values=changes)
    return {**row, **changes, "updated_at": unit.now}


def renew_feed(unit: Unit, match_id: str) -> Row | None:
    """Let another scraper watch a feed, at once, whatever became of the last; None if unknown."""
    values = {**ANEW, "scraper_since": unit.now}
    _change(unit, matches.c.match_id == match_id, values=values)
    return get_feed(unit, match_id)


def stop_feed(unit: Unit, match_id: str, reason: str) -> Row | None:
    """Let a page be watched no more; what is over already stays as it is. None if unknown."""
    changes = {"status": FeedStatus.STOPPED, "scraper_status": ScraperStatus.STOPPED}
    _end(unit, matches.c.match_id == match_id, reason, changes)
    return get_feed(unit, match_id)


def remove_feed(unit: Unit, match_id: str) -> bool:
    """Delete a feed with all that is kept of it; whether there was one."""
    for table in (scraper_errors, scraper_health_log):
        unit.run(delete(table).where(table.c.match_id == match_id))
    return unit.run(delete(matches).where(matches.c.match_id == match_id)).rowcount > 0


def get_feed(unit: Unit, match_id: str) -> Row | None:
    """Everything that is known of a feed."""
    return next(unit.rows(select(matches).where(matches.c.match_id == match_id)), None)


def list_feeds(
    unit: Unit,
    *,
    status: FeedStatus | None = None,
    wanted: bool | None = None,
    after: str | None = None,
    limit: int = 50,
) -> list[Row]:
    """Feeds by id, without what their pages said; `after` is the id of the last one seen."""
    query = select(*LIGHT)
    if status is not None:
        query = query.where(matches.c.status == status)
    if wanted is not None:
        query = query.where(matches.c.wanted.is_(wanted))
    if after is not None:
        query = query.where(matches.c.match_id > after)
    return list(unit.rows(query.order_by(matches.c.match_id).limit(limit)))


# ── for workers


def claim_feeds(unit: Unit, worker: str, most: int) -> list[Row]:
    """Take feeds that nobody watches, up to so many in all; returns all that are the worker's.

    The most important come first, without what their pages said. A worker that is not among the
    living has none.
    """
    if unit.run(select(workers.c.id).where(workers.c.id == worker)).first() is None:
        return []
    mine = feeds_of(unit, worker)
    free = _free_feeds(unit, most - len(mine)) if len(mine) < most else []
    if not free:
        return mine
    taken = {"worker": worker, "status": FeedStatus.WAITING}
    _change(unit, unit.among(matches.c.match_id, free), values=taken)
    return feeds_of(unit, worker)


def is_any_free(unit: Unit) -> bool:
    """Whether there is a feed that could be taken."""
    return bool(_free_feeds(unit, 1))


def feeds_of(unit: Unit, worker: str) -> list[Row]:
    """The feeds that a worker watches, the most important first, without what their pages said."""
    query = select(*LIGHT).where(matches.c.worker == worker, matches.c.wanted)
    return list(unit.rows(query.order_by(*ORDER)))


def release_feeds(unit: Unit, worker: str, ids: Sequence[str] | None = None) -> int:
    """Give feeds of a worker back, all or some; how many."""
    chosen = [matches.c.worker == worker]
    if ids is not None:
        chosen.append(unit.among(matches.c.match_id, ids))
    found = [row["match_id"] for row in _lock(unit, *chosen)]
    given_back = {
        "worker": None,
        "status": FeedStatus.WAITING,
        "scraper_status": ScraperStatus.STOPPED,
    }
    return _change(unit, unit.among(matches.c.match_id, found), values=given_back)


def begin_scraper(unit: Unit, match_id: str, worker: str, scraper_id: str) -> Saved | None:
    """Let a scraper be the one that watches a feed; where it goes on, None if it may not."""
    chosen = (matches.c.match_id == match_id, matches.c.worker == worker, matches.c.wanted)
    row = next(iter(_lock(unit, *chosen)), None)
    if row is None:
        return None
    is_restart = row["scraper_id"] not in (None, scraper_id)
    changes = {
        "scraper_id": scraper_id,
        "scraper_since": unit.now,
        "status": FeedStatus.WATCHING,
        "reason": None,
        "retry_at": None,
        "restarts": row["restarts"] + int(is_restart),
    }
    _change(unit, matches.c.match_id == match_id, values=changes)
    return Saved(
        sequence=row["last_sequence"],
        hash=row["last_hash"],
        payload=row["payload"],
        state=row["state"],
        memory=row["memory"],
    )


def put_off(
    unit: Unit, match_id: str, worker: str, status: FeedStatus, *, reason: str, retry_at: int
) -> bool:
    """Give a feed back that cannot be watched now; nobody takes it before a time."""
    chosen = (matches.c.match_id == match_id, matches.c.worker == worker)
    changes = {
        "worker": None,
        "status": status,
        "scraper_status": ScraperStatus.STOPPED,
        "reason": reason,
        "retry_at": retry_at,
    }
    return _change(unit, *chosen, values=changes) > 0


def complete_feed(unit: Unit, match_id: str, scraper_id: str, reason: str) -> bool:
    """The page has ended or is gone: nobody need watch it; False if another scraper has it."""
    changes = {
        "status": FeedStatus.COMPLETED,
        "scraper_status": ScraperStatus.STOPPED,
        "completed_at": unit.now,
    }
    return _end(unit, _is_of(match_id, scraper_id), reason, changes)


def fail_feed(unit: Unit, match_id: str, scraper_id: str, reason: str) -> bool:
    """Give up on a page until somebody starts it again; False if another scraper has it."""
    changes = {"status": FeedStatus.FAILED, "scraper_status": ScraperStatus.ERROR}
    return _end(unit, _is_of(match_id, scraper_id), reason, changes)


def refuse_feed(unit: Unit, match_id: str, worker: str, reason: str) -> bool:
    """The page may not be watched, or not like that; False if another worker has it."""
    chosen = (matches.c.match_id == match_id) & (matches.c.worker == worker)
    changes = {"status": FeedStatus.REFUSED, "scraper_status": ScraperStatus.STOPPED}
    return _end(unit, chosen, reason, changes)


def _given(feed: Feed) -> Row:
    """What somebody wants of a feed, as it comes back from the store."""
    if not 0 < len(feed.match_id) <= ID_LENGTH:
        raise invalid("match_id", f"must have 1 to {ID_LENGTH} characters")
    return {
        "source_url": storable(feed.url),
        "adapter": storable(feed.adapter),
        "options": orjson.loads(dump(dict(feed.options))),
        "interval_ms": None if feed.interval is None else round(feed.interval * 1000),
        "priority": feed.priority,
    }


def _is_of(match_id: str, scraper_id: str) -> ColumnElement[bool]:
    return (matches.c.match_id == match_id) & (matches.c.scraper_id == scraper_id)


def _end(unit: Unit, chosen: ColumnElement[bool], reason: str, changes: Row) -> bool:
    """Let a feed be wanted no more, if it still is."""
    over = {"wanted": False, "worker": None, "retry_at": None, "reason": reason}
    return _change(unit, chosen, matches.c.wanted, values={**over, **changes}) > 0


def _free_feeds(unit: Unit, most: int) -> list[str]:
    """Feeds that wait for a worker, and that no other takes now; the most important first."""
    its = matches.c
    query = (
        select(its.match_id)
        .where(its.wanted, or_(its.retry_at.is_(None), its.retry_at <= unit.now), is_unwatched())
        .order_by(*ORDER)
        .limit(most)
        .with_for_update(skip_locked=True, of=matches)
    )
    return list(unit.run(query).scalars())


def _lock(unit: Unit, *chosen: ColumnElement[bool]) -> list[Row]:
    """Feeds that nobody else changes now; always in the same order."""
    query = select(matches).where(*chosen).order_by(matches.c.match_id)
    return list(unit.rows(query.with_for_update()))


def _change(unit: Unit, *chosen: ColumnElement[bool], values: Row) -> int:
    statement = update(matches).where(*chosen)
    return unit.run(statement.values(**values, updated_at=unit.now)).rowcount
