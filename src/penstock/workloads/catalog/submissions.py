"""Submissions for people: URLs are handed in, one, many or by sitemap, and watched to the end."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import select, update

from penstock.core.clock import Clock
from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.trace import new_trace
from penstock.core.urls import parse
from penstock.extract.registry import Registry
from penstock.kernel.admission import Admission
from penstock.queue.ports import Item
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound, QueueFull, invalid
from penstock.workloads.catalog.counting import count_tasks
from penstock.workloads.catalog.downloading import PutIn
from penstock.workloads.catalog.model import HIGHEST, LOWEST, OVER, SITEMAPS, Row
from penstock.workloads.catalog.submitting import (
    AT_ONCE,
    BY_HAND,
    READING,
    Options,
    Origin,
    Submitter,
    Tally,
)
from penstock.workloads.catalog.tables import (
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
)

#: Seconds between two looks at a submission that somebody follows; at one that is long to count,
#: so many times as long as counting takes.
LOOK_EVERY, TIMES_THE_LOOK = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A submission and how its tasks stand; `paused` are those of them that wait for somebody."""

    submission: Row
    tasks: dict[str, int]
    paused: int = 0

    @property
    def total(self) -> int:
        """How many tasks it has."""
        return sum(self.tasks.values())

    @property
    def done(self) -> int:
        """How many of them are over."""
        return sum(self.tasks[status.value] for status in OVER)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.submission["status"] != READING and self.done == self.total


class Submissions:
    """The submissions of a store, for people."""

    def __init__(
        self,
        store: Store,
        submitter: Submitter,
        *,
        admission: Admission,
        registry: Registry,
        put_in: PutIn,
        nudge: Callable[[], None],
        most: int,
    ) -> None:
        self._store = store
        self._submitter = submitter
        self._admission = admission
        self._registry = registry
        self._put_in = put_in
        self._nudge = nudge
        self._most = most

    async def submit(
        self,
        urls: Sequence[str],
        options: Options,
        who: str,
        *,
        origin: Origin = BY_HAND,
        progress: Callable[[int], None] = lambda _number: None,
    ) -> tuple[str, Tally]:
        """Hand URLs in; the id of the submission, and what became of each kind of them.

        Those that cannot be fetched are counted and named; the others are taken on.
        """
        if not urls:
            raise invalid("urls", "there are none")
        if len(urls) > self._most:
            raise invalid("urls", f"there are {len(urls)}, at most {self._most} are taken at once")
        self._check(options)
        self._submitter.refuse_all_bad(urls)
        submission_id = await self._store.write(
            lambda unit: self._submitter.begin(unit, origin, options, who), "put"
        )
        total, remaining = Tally(), iter(urls)
        while some := list(islice(remaining, AT_ONCE)):
            total.add(await self.add(submission_id, some))
            progress(total.submitted)
        self._nudge()
        return submission_id, total

    async def add(self, submission_id: str, urls: Sequence[str]) -> Tally:
        """Add some URLs to a submission."""
        return await self._store.write(
            lambda unit: self._submitter.add(unit, submission_id, urls), "put"
        )

    async def submit_sitemap(self, url: str, options: Options, who: str) -> str:
        """Hand in all pages of a sitemap, or of the sitemaps that a robots.txt names.

        It is read by a worker; the id of the submission.
        """
        self._check(options)
        try:
            refusal = self._admission.check(parse(url))
        except UrlError as error:
            raise invalid("sitemap_url", str(error)) from error
        if refusal:
            raise invalid("sitemap_url", refusal.detail or refusal.reason)

        def work(unit: Unit) -> str:
            origin = Origin("sitemap", url)
            submission_id = self._submitter.begin(unit, origin, options, who, READING)
            item = Item(
                id=new_id(),
                lane=SITEMAPS,
                payload={"submission": submission_id, "url": url},
                group=SITEMAPS,
                traceparent=new_trace(),
            )
            for receipt in self._put_in(unit, [item]):
                if receipt.status == "rejected":
                    raise QueueFull(retry_after=receipt.retry_after)
            return submission_id

        submission_id = await self._store.write(work, "put")
        self._nudge()
        return submission_id

    def _check(self, options: Options) -> None:
        if not HIGHEST <= options.priority <= LOWEST:
            raise invalid("priority", f"must be from {HIGHEST} (first) to {LOWEST}")
        if options.parser and self._registry.get(options.parser) is None:
            known = ", ".join(self._registry.names())
            raise invalid("parser", f"there is no adapter of that name; known: {known}")
        for name in ("crawl_frequency", "max_retries"):
            number = getattr(options, name)
            if number is not None and not 0 <= number < 2**31:
                raise invalid(name, "must be a whole number, and not negative")

    async def list(self, after: str | None = None, limit: int = 50) -> list[Row]:
        """Submissions, the newest first."""
        query = select(crawl_submissions).order_by(crawl_submissions.c.id.desc()).limit(limit)
        if after is not None:
            query = query.where(crawl_submissions.c.id < after)
        return await self._store.read(lambda unit: list(unit.rows(query)))

    async def get(self, submission_id: str) -> Row:
        """One submission."""
        return await self._store.read(lambda unit: _get(unit, submission_id))

    async def progress(self, submission_id: str) -> Progress:
        """How far a submission has come."""
        return await self._store.read(lambda unit: progress_of(unit, submission_id))

    async def follow(
        self, submission_id: str, clock: Clock, is_stopping: Callable[[], bool] = lambda: False
    ) -> AsyncIterator[Progress]:
        """How far a submission has come, look after look, until it is over."""
        while not is_stopping():
            began = clock.monotonic()
            progress = await self.progress(submission_id)
            yield progress
            if progress.is_over:
                return
            took = clock.monotonic() - began
            await clock.sleep(max(LOOK_EVERY, took * TIMES_THE_LOOK))


def progress_of(unit: Unit, submission_id: str) -> Progress:
    """How far a submission has come."""
    row = _get(unit, submission_id)
    links = crawl_submission_tasks.c
    mine = select(links.task_id).where(links.submission_id == submission_id)
    is_mine = crawl_tasks.c.id.in_(mine)
    paused = count_tasks(unit, is_mine, crawl_tasks.c.is_paused)
    waiting = sum(number for status, number in paused.items() if status not in OVER)
    return Progress(row, count_tasks(unit, is_mine), waiting)


def _get(unit: Unit, submission_id: str) -> Row:
    table = crawl_submissions
    row = next(unit.rows(select(table).where(table.c.id == submission_id)), None)
    if row is None:
        raise NotFound("There is no such submission")
    return row


def note_reading(unit: Unit, submission_id: str, **values: str) -> None:
    """Note how the reading of a sitemap goes: its status, or an error."""
    table = crawl_submissions
    statement = update(table).where(table.c.id == submission_id)
    unit.run(statement.values(**values, updated_at=unit.now))
