"""Feeds in a store, with the workers and scrapers that watch them; all are all right by default."""

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.core.ids import new_id
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.live import feeds
from penstock.workloads.live.health_log import HealthEntry
from penstock.workloads.live.model import ErrorType, Feed, Saved, ScraperStatus, Update, hash_of
from penstock.workloads.live.recording import Look, note_looks, write_updates
from penstock.workloads.live.tables import Row
from penstock.workloads.live.troubles import ErrorEntry, log_errors
from tests.stores import enter_worker, lose_worker

T = TypeVar("T")
URL = "https://live.example/match"
SCRAPER = "5c4a9e1e-0000-4000-8000-{:012}"


def scraper(number: int) -> str:
    """The id of a scraper."""
    return SCRAPER.format(number)


def update(sequence: int, match_id: str = "m", by: int = 1, **more: Any) -> Update:
    """An update that scored as often as its number says, read that many milliseconds after 1970."""
    said = {"payload": {"score": sequence}, "state": "in_play", "source_url": URL, **more}
    said.setdefault("scraped_at", sequence)
    said.setdefault("latency_ms", 250)
    if "hash" not in said:
        said["hash"] = hash_of(said["payload"], said["state"])
    return Update(match_id=match_id, sequence=sequence, scraper_id=scraper(by), **said)


def look(match_id: str = "m", by: int = 1, **more: Any) -> Look:
    """A look at a page that went well."""
    said = {
        "at": 1_000,
        "scraper_status": ScraperStatus.ACTIVE,
        "data_age_seconds": 1.5,
        "memory": {},
    }
    return Look(match_id=match_id, scraper_id=scraper(by), **{**said, **more})


class LiveRows:
    """Feeds of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._workers: set[str] = set()

    async def do(self, work: Callable[[Unit], T]) -> T:
        return await self.store.write(work)

    async def now(self) -> int:
        return await self.store.read(lambda unit: unit.now)

    async def put(self, match_id: str = "m", **more: Any) -> Row:
        feed = Feed(**{"match_id": match_id, "url": URL, "adapter": "cricket", **more})
        return await self.do(lambda unit: feeds.put_feed(unit, feed))

    async def row(self, match_id: str = "m") -> Row:
        found = await self.do(lambda unit: feeds.get_feed(unit, match_id))
        assert found is not None
        return found

    async def claim(self, worker: str = "w", most: int = 10) -> list[str]:
        rows = await self.do(lambda unit: feeds.claim_feeds(unit, worker, most))
        return [row["match_id"] for row in rows]

    async def begin(self, match_id: str = "m", worker: str = "w", by: int = 1) -> Saved | None:
        return await self.do(lambda unit: feeds.begin_scraper(unit, match_id, worker, scraper(by)))

    async def watch(self, match_id: str = "m", worker: str = "w", by: int = 1) -> Saved:
        """Put a feed, and let a scraper of a living worker watch it."""
        await self.put(match_id)
        await self.enter(worker)
        await self.claim(worker, 1000)
        saved = await self.begin(match_id, worker, by)
        assert saved is not None
        return saved

    async def enter(self, *workers: str) -> None:
        """Let workers be among the living."""
        for worker in workers:
            if worker not in self._workers:
                await enter_worker(self.store, worker)
        self._workers.update(workers)

    async def lose(self, worker: str) -> None:
        """Let a worker be gone."""
        await lose_worker(self.store, worker)
        self._workers.discard(worker)

    async def write(self, *updates: Update) -> list[int]:
        """Write updates; the numbers of those that were refused."""
        refused = await self.do(lambda unit: write_updates(unit, updates))
        return [each.sequence for each in refused]

    async def note(self, *looks: Look) -> set[str]:
        return await self.do(lambda unit: note_looks(unit, looks))

    async def error(self, match_id: str | None = "m", **more: Any) -> str:
        """Log an error; its id."""
        said = {"error_type": ErrorType.NETWORK, "message": "nothing came", "id": new_id(), **more}
        entry = ErrorEntry(scraper_id=scraper(1), match_id=match_id, **said)
        await self.do(lambda unit: log_errors(unit, [entry]))
        return entry.id


def health(match_id: str = "m", **more: Any) -> HealthEntry:
    """How a scraper is that is well."""
    return HealthEntry(
        **{"scraper_id": scraper(1), "match_id": match_id, "health_status": "healthy", **more}
    )
