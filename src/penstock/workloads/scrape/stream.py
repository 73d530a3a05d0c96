"""A job as a stream of server-sent events, for those who would rather watch than poll."""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from penstock.core.clock import Clock
from penstock.web.files import event
from penstock.workloads.scrape.model import is_over
from penstock.workloads.scrape.service import ScrapeService
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.scrape.views import summarise_task, view_job

_PLACE = re.compile(r"([0-9]{1,4})-([0-9a-f]{1,64})")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stream stands: which of a job's tasks it has told of, by their order in the job.

    Not a moment: of two tasks that end, the later one may be seen first.
    """

    tasks: int = 0
    told: int = 0

    @classmethod
    def read(cls, last_event_id: str | None) -> Self:
        """The place that an event's id names; one that makes no sense is the start."""
        found = _PLACE.fullmatch(last_event_id or "")
        return cls(int(found[1]), int(found[2], 16)) if found else cls()

    def __str__(self) -> str:
        return f"{self.tasks}-{self.told:x}"

    def of(self, tasks: int) -> "Place":
        """This place in a job of so many tasks; the start if it had another number then."""
        return self if self.tasks == tasks else Place(tasks)

    def has_told(self, place: int) -> bool:
        """Whether the task at a place was told of."""
        return bool(self.told >> place & 1)

    def after(self, place: int) -> "Place":
        """The place when that task is told of, too."""
        return Place(self.tasks, self.told | 1 << place)


START = Place()
Row = Mapping[str, Any]


class JobStream:
    """Tells of every task that ends, and of the job itself; over when the job is."""

    def __init__(
        self,
        service: ScrapeService,
        settings: ScrapeSettings,
        clock: Clock,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._service = service
        self._settings = settings
        self._clock = clock
        self._is_stopping = is_stopping

    async def events(self, job_id: str, at: Place = START) -> AsyncIterator[bytes]:
        """The events behind a place: `task` for each end, `job` for progress, `end` at last."""
        shown: Mapping[str, Any] | None = None
        silent_since = self._clock.monotonic()
        with self._service.waiters.watch(job_id) as changed:
            while not self._is_stopping():
                changed.clear()
                job, tasks = await self._service.progress(job_id)
                if job is None:
                    return
                at = at.of(len(tasks))
                for place, task in _in_order_of_ends(tasks):
                    if not at.has_told(place):
                        at = at.after(place)
                        yield event("task", summarise_task(task), str(at))
                view = view_job(job)
                if view != shown:
                    yield event("job", view)
                    shown, silent_since = view, self._clock.monotonic()
                if is_over(job):
                    yield event("end", {"job_id": job_id, "status": job["status"]})
                    return
                if self._clock.monotonic() - silent_since >= self._settings.keep_alive_seconds:
                    silent_since = self._clock.monotonic()
                    yield b": still here\n\n"
                await self._clock.wait_for(changed, self._settings.poll_seconds)


def _in_order_of_ends(tasks: Sequence[Row]) -> list[tuple[int, Row]]:
    """The tasks that are over with their places in the job, as they ended."""
    over = [pair for pair in enumerate(tasks) if pair[1]["completed_at"] is not None]
    return sorted(over, key=lambda pair: pair[1]["completed_at"])
