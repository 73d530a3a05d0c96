"""How the lane of tasks is doing, in a few cheap questions."""

from sqlalchemy import func, select

from penstock.queue.ports import State
from penstock.queue.tables import counts, items
from penstock.store.unit import Unit
from penstock.workloads.scrape.lane import NAME
from penstock.workloads.scrape.tables import scrape_tasks

#: The average is over so many of the latest tasks.
LATEST = 100


def lane_stats(unit: Unit) -> tuple[int, int, float | None]:
    """How many tasks wait, how many are carried, and how many seconds the latest took."""
    pending = select(func.coalesce(func.sum(counts.c.pending), 0)).where(counts.c.lane == NAME)
    claimed = select(func.count()).where(items.c.state == State.CLAIMED, items.c.lane == NAME)
    held = int(unit.run(claimed).scalar_one())
    waiting = int(unit.run(pending).scalar_one()) - held
    return max(0, waiting), held, _average(unit)


def _average(unit: Unit) -> float | None:
    ended, begun = scrape_tasks.c.completed_at, scrape_tasks.c.started_at
    latest = select(ended, begun).where(ended.is_not(None)).order_by(ended.desc()).limit(LATEST)
    times = [(row[0] - row[1]) / 1000 for row in unit.run(latest) if row[1] is not None]
    return round(sum(times) / len(times), 3) if times else None
