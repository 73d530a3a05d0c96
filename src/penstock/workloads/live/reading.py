"""What consumers read of a feed: the last that is known, and updates one after the other."""

from sqlalchemy import select

from penstock.store.unit import Unit
from penstock.workloads.live.feeds import LIGHT
from penstock.workloads.live.tables import Row, live_match_data, matches

#: What is said of a feed with its last update.
OF_FEED = (
    matches.c.status,
    matches.c.scraper_status,
    matches.c.last_scraper_update,
    matches.c.reason,
    matches.c.completed_at,
)


def latest(unit: Unit, match_id: str) -> Row | None:
    """The last update of a feed, how the feed stands, and `data_age_seconds`; None without one.

    Data is as old as the last look at the page, whether or not that brought something new.
    """
    its = live_match_data.c
    query = (
        select(live_match_data, *OF_FEED)
        .join(matches, matches.c.match_id == its.match_id)
        .where(its.match_id == match_id)
        .order_by(its.sequence.desc())
        .limit(1)
    )
    row = next(unit.rows(query), None)
    if row is None:
        return None
    seen_at = max(row["scraped_at"], row["last_scraper_update"] or 0)
    return {**row, "data_age_seconds": max(0, unit.now - seen_at) // 1000}


def updates_after(unit: Unit, match_id: str, after: int, limit: int = 100) -> list[Row]:
    """The updates of a feed behind a number, in their order."""
    its = live_match_data.c
    query = select(live_match_data).where(its.match_id == match_id, its.sequence > after)
    return list(unit.rows(query.order_by(its.sequence).limit(limit)))


def progress(
    unit: Unit, match_id: str, after: int | None, limit: int = 100
) -> tuple[Row | None, list[Row]]:
    """A feed without what its page says, and its updates behind a number, or the last alone."""
    query = select(*LIGHT).where(matches.c.match_id == match_id)
    row = next(unit.rows(query), None)
    if row is None:
        return None, []
    last = row["last_sequence"]
    if after is None:
        after = last - 1
    return row, updates_after(unit, match_id, after, limit) if after < last else []


def history(unit: Unit, match_id: str, before: int | None = None, limit: int = 100) -> list[Row]:
    """The updates of a feed before a number, or all, the latest first."""
    its = live_match_data.c
    query = select(live_match_data).where(its.match_id == match_id)
    if before is not None:
        query = query.where(its.sequence < before)
    return list(unit.rows(query.order_by(its.sequence.desc()).limit(limit)))
