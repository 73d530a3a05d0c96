"""The `scrape` lane: one item per task; its result, its job and the event are written together."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.core.metrics import Metrics
from penstock.events.log import EventLog
from penstock.extract.registry import Registry
from penstock.kernel.model import Failure, Outcome, Request, Wait
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim, Done, Ending, Item
from penstock.queue.tables import items
from penstock.store.unit import Unit
from penstock.workloads.scrape import rows
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.content import Content, judge, render
from penstock.workloads.scrape.model import Format, TargetType, TaskStatus
from penstock.workloads.scrape.providing import Provider
from penstock.workloads.scrape.settings import ScrapeSettings
from penstock.workloads.scrape.tables import scrape_files, scrape_tasks
from penstock.workloads.scrape.texts import NoTexts, Texts

NAME = WORKLOAD = "scrape"
HOUR_MS = 3_600_000
#: So often a task is put off because its site wants to be asked much later.
MOST_ATTEMPTS = 3
#: Of so many tasks that somebody waits for it is remembered when their turn comes.
MOST_TURNS = 10_000
#: Gates that who waits for an answer is told of at once.
NOT_IN_A_HURRY = frozenset({"hours", "browser"})


def item_for(
    task: Mapping[str, Any], group: str, *, delay: float, traceparent: str, give_up_at: float
) -> Item:
    """A task as an item of the lane."""
    return Item(
        id=task["item_id"],
        lane=NAME,
        payload={
            "task": task["id"],
            "job": task["job_id"],
            "url": task["target_url"],
            "target_type": task["target_type"],
            "fields": task["requested_fields"],
            "workspace": task["workspace_id"],
            "give_up_at": give_up_at,
            **task["options"],
        },
        group=group,
        priority=task["priority"],
        quota=task["workspace_id"],
        delay=delay,
        traceparent=traceparent,
    )


class ScrapeLane:
    """Scrapes and records."""

    name = NAME

    def __init__(
        self,
        settings: ScrapeSettings,
        log: EventLog,
        blobs: Blobs,
        *,
        clock: Clock,
        metrics: Metrics,
        provider: Provider | None = None,
        texts: Texts | None = None,
        ended: Callable[[Sequence[str]], None] = lambda _ids: None,
    ) -> None:
        self._announcer = Announcer(log, settings.default_webhook_url)
        self._blobs = blobs
        self._settings = settings
        self._provider = provider or Provider(Registry(), None)
        self._texts = texts or NoTexts()
        self._clock = clock
        self._metrics = metrics
        self._ended = ended
        self._turns: dict[str, float] = {}

    def needs(self, claim: Claim) -> bool:
        return self._provider.needs(claim)

    async def provide(self, claim: Claim) -> Failure | None:
        return await self._provider.provide(claim)

    def request(self, claim: Claim) -> Request:
        payload = claim.payload
        kind = TargetType(payload["target_type"])
        formats = payload.get("formats", ())
        wants_screenshot = Format.SCREENSHOT in formats
        login = self._provider.take(claim)
        return Request(
            payload["url"],
            id=claim.id,
            headers=login.headers,
            cookies=login.cookies,
            workload=WORKLOAD,
            extract=None if kind is TargetType.PAGE else kind.value,
            traceparent=claim.traceparent,
            fetcher="browser" if wants_screenshot else payload.get("fetcher", ""),
            timeout=payload.get("timeout", self._settings.task_timeout_seconds),
            wait_for=payload.get("wait_for", ""),
            scroll=bool(payload.get("scroll")),
            screenshot=wants_screenshot,
            escalates=True,
        )

    def will_wait(self, claim: Claim, wait: Wait) -> bool:
        """A site that is down is not waited for; nor is anything for ever, or in a hurry."""
        if wait.gate == "breaker":
            return False
        if wait.gate == "retry" and wait.line and claim.attempts >= MOST_ATTEMPTS:
            # The site asked for so much patience again and again.
            return False
        if claim.payload.get("sync"):
            self._turns[claim.id] = wait.until
            if len(self._turns) > MOST_TURNS:
                del self._turns[next(iter(self._turns))]
            return wait.gate not in NOT_IN_A_HURRY
        seconds = wait.until - self._clock.monotonic()
        return bool(self._clock.now().timestamp() + seconds <= claim.payload["give_up_at"])

    def turn_of(self, task_id: str) -> float | None:
        """When it is the turn of a task that somebody waits for (monotonic), if that is known."""
        return self._turns.pop(task_id, None)

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        """A task that failed is over: what is wrong with it stands in the task."""
        del claim, outcome
        return Done()

    def content(self, claim: Claim, outcome: Outcome) -> Content | Coroutine[Any, Any, Content]:
        """What a task asks for, made of its outcome; what is large is kept as a blob."""
        payload = claim.payload
        if outcome.failure or payload["target_type"] != TargetType.PAGE:
            return judge(outcome, payload.get("fields"))
        return render(
            outcome,
            payload.get("formats", ()),
            payload.get("fields"),
            texts=self._texts,
            blobs=self._blobs,
            inline_bytes=self._settings.inline_bytes,
        )

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        expires_at = unit.now + int(self._settings.retention_hours * HOUR_MS)
        tasks = _write_ends(unit, results, expires_at)
        jobs = rows.count_ends(unit, tasks, expires_at)
        self._announcer.tell(unit, tasks, jobs)

    def note(self, result: Result) -> None:
        """A result is committed: count it, and wake who waits for it."""
        task_id, payload = result.claim.id, result.claim.payload
        status = TaskStatus.FAILED if result.content.error else TaskStatus.COMPLETED
        self._metrics.task_over(str(payload.get("target_type")), status)
        self._turns.pop(task_id, None)
        job_id = payload.get("job")
        self._ended([task_id, job_id] if job_id else [task_id])


def _write_ends(unit: Unit, results: Sequence[Result], expires_at: int) -> list[dict[str, Any]]:
    """Write what became of tasks; those that were not over before."""
    contents: dict[str, Content] = {result.claim.id: result.content for result in results}
    open_tasks = select(scrape_tasks).where(
        unit.among(scrape_tasks.c.id, sorted(contents)),
        scrape_tasks.c.status == TaskStatus.QUEUED,
    )
    tasks = list(unit.rows(open_tasks.order_by(scrape_tasks.c.id).with_for_update()))
    if not tasks:
        return []
    begun = _begun(unit, [task["item_id"] for task in tasks])
    for task in tasks:
        content = contents[task["id"]]
        task |= {
            "status": (TaskStatus.FAILED if content.error else TaskStatus.COMPLETED).value,
            "result": content.result,
            "error": content.error,
            "started_at": begun.get(task["item_id"], unit.now),
            "completed_at": unit.now,
            "expires_at": expires_at,
            "files": {file.name: _as_row(task["id"], file) for file in content.files},
        }
    names = ("status", "result", "error", "started_at", "completed_at", "expires_at")
    kinds = {name: scrape_tasks.c[name].type for name in names}
    statement = (
        update(scrape_tasks)
        .where(scrape_tasks.c.id == bindparam("an_id"))
        .values({name: bindparam(f"a_{name}", type_=kinds[name]) for name in names})
    )
    values = [
        {"an_id": task["id"], **{f"a_{name}": task[name] for name in names}} for task in tasks
    ]
    unit.run(statement, values)
    files = [file for task in tasks for file in task["files"].values()]
    if files:
        unit.insert_all(scrape_files, files)
    return tasks


def _as_row(task_id: str, file: Any) -> dict[str, Any]:
    names = ("name", "address", "media_type", "bytes")
    return {"task_id": task_id, **{name: getattr(file, name) for name in names}}


def _begun(unit: Unit, ids: Sequence[str]) -> dict[str, int]:
    query = select(items.c.id, items.c.claimed_at).where(unit.among(items.c.id, ids))
    return {row.id: row.claimed_at for row in unit.run(query) if row.claimed_at is not None}
