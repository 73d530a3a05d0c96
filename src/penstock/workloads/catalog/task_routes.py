"""Endpoints of crawl tasks: submitted, looked at, and told what to do, one or many."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from penstock.web.asking import Cursor, Id, IdQuery, Limit, Word, hex_of, one_page
from penstock.web.documents import ACCEPTED, answers
from penstock.web.envelope import ApiResponse, answer
from penstock.web.errors import Conflict
from penstock.web.files import PAGE, foreign_page
from penstock.web.views import view
from penstock.workloads.catalog.asking import DomainName, Operator
from penstock.workloads.catalog.bodies import (
    Acceptance,
    Action,
    NewTasks,
    TaskAction,
    TaskChanges,
)
from penstock.workloads.catalog.model import HIGHEST, LOWEST, Category, Status
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.submitting import Tally
from penstock.workloads.catalog.tasks import Filter, Tasks
from penstock.workloads.catalog.views import (
    AcceptedView,
    AttemptView,
    CountsView,
    CountView,
    TaskView,
    view_accepted,
)

#: What a task is told to do, what that means, and what it must be for it.
SWITCHES = {
    Action.PAUSE: ("Begin a task no more until it is resumed", ""),
    Action.RESUME: ("Go on with a task that was paused", ""),
    Action.STOP: ("Give a task up, and crawl it no more until somebody says so", ""),
    Action.RETRY: ("Crawl a task now that failed, as if for the first time", "has not failed"),
    Action.RECRAWL: ("Crawl a task now that is over", "is under way or waits already"),
}
NOTHING_KEPT = "is under way, or its page is not kept any more"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tasks somebody asks for."""

    domain: DomainName = None
    submission: IdQuery = None
    status: Status | None = None
    paused: bool | None = None
    dead: Annotated[bool | None, Query(description="Failed for good, or not.")] = None
    category: Annotated[Category | None, Query(description="That had such an error.")] = None
    error_type: Word = None
    url: Annotated[
        str | None, Query(min_length=1, max_length=200, description="With this in their URL.")
    ] = None
    priority: Annotated[int | None, Query(ge=HIGHEST, le=LOWEST)] = None


Chosen = Annotated[Choice, Depends()]


def add(router: APIRouter, service: CatalogService) -> None:
    """Add the endpoints."""
    _add_submission(router, service)
    _add_lists(router, service)
    _add_one(router, service)
    _add_history(router, service)
    _add_actions(router, service)
    for action, (summary, refusal) in SWITCHES.items():
        _add_switch(router, service, action, summary, refusal)
    _add_reparsing(router, service)


def _add_submission(router: APIRouter, service: CatalogService) -> None:
    @router.post(
        "/tasks",
        status_code=202,
        summary="Submit pages to crawl: URLs, or a sitemap",
        description=(
            "A URL that is known already is not crawled twice: it counts as a duplicate. Those "
            "that cannot be fetched are refused, the others are taken on; if none can, nothing is."
        ),
        response_model=ApiResponse[AcceptedView],
        responses=answers(*ACCEPTED),
    )
    async def submit(body: NewTasks, key: Operator) -> Response:
        submissions, options, tally = service.submissions, body.as_options(), Tally()
        if body.sitemap_url is not None:
            identity = await submissions.submit_sitemap(body.sitemap_url, options, key.name)
        else:
            identity, tally = await submissions.submit(body.urls, options, key.name)
        progress = await submissions.progress(identity)
        return answer(view_accepted(progress.submission, tally), status=202)


def _add_lists(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/tasks",
        summary="List tasks, oldest first",
        response_model=ApiResponse[list[TaskView]],
        responses=answers(404),
    )
    async def list_tasks(
        *, key: Operator, chosen: Chosen, cursor: Cursor = None, limit: Limit = 50
    ) -> Response:
        del key
        rows = await service.tasks.list(_filter(chosen, cursor, limit + 1))
        shown, meta = one_page(rows, limit)
        return answer([view(TaskView, row) for row in shown], meta=meta)

    @router.get(
        "/tasks/counts",
        summary="How many tasks there are in each status",
        response_model=ApiResponse[CountsView],
        responses=answers(404),
    )
    async def count_tasks(key: Operator, domain: DomainName = None) -> Response:
        del key
        return answer(await service.tasks.counts(domain))


def _filter(chosen: Choice, after: str | None, limit: int) -> Filter:
    return Filter(
        domain=chosen.domain,
        submission=hex_of(chosen.submission),
        status=chosen.status,
        paused=chosen.paused,
        dead=chosen.dead,
        category=chosen.category,
        error_type=chosen.error_type,
        url=chosen.url,
        priority=chosen.priority,
        after=after,
        limit=limit,
    )


def _add_one(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/tasks/{task_id:uuid}",
        summary="A task",
        response_model=ApiResponse[TaskView],
        responses=answers(404),
    )
    async def get_task(task_id: Id, key: Operator) -> Response:
        del key
        return answer(view(TaskView, await service.tasks.get(task_id.hex)))

    @router.patch(
        "/tasks/{task_id:uuid}",
        summary="Change priority, frequency, retries or parser of a task",
        response_model=ApiResponse[TaskView],
        responses=answers(*ACCEPTED, 404),
    )
    async def edit_task(task_id: Id, body: TaskChanges, key: Operator) -> Response:
        del key
        return answer(view(TaskView, await service.tasks.edit(task_id.hex, **body.given())))


def _add_history(router: APIRouter, service: CatalogService) -> None:
    @router.get(
        "/tasks/{task_id:uuid}/attempts",
        summary="What was tried for a task, newest first",
        response_model=ApiResponse[list[AttemptView]],
        responses=answers(404),
    )
    async def list_attempts(
        task_id: Id, key: Operator, cursor: Cursor = None, limit: Limit = 50
    ) -> Response:
        del key
        rows = await service.tasks.attempts(task_id.hex, cursor, limit + 1)
        shown, meta = one_page(rows, limit)
        return answer([view(AttemptView, row) for row in shown], meta=meta)

    @router.get(
        "/tasks/{task_id:uuid}/page",
        summary="The page of a task, as it was downloaded last",
        response_class=Response,
        responses={**answers(404), 200: {"description": "The page", "content": PAGE}},
    )
    async def get_page(task_id: Id, key: Operator) -> Response:
        del key
        return foreign_page(await service.page(task_id.hex), f"{task_id.hex}.html")


def _add_actions(router: APIRouter, service: CatalogService) -> None:
    @router.post(
        "/tasks/actions",
        summary="Do something to all tasks that fit a filter",
        description="What an action is not for is passed over: `retry` is for those that failed.",
        response_model=ApiResponse[CountView],
        responses=answers(*ACCEPTED, 404),
    )
    async def act_on_tasks(body: TaskAction, key: Operator) -> Response:
        del key
        tasks, wanted = service.tasks, body.filter.as_filter()
        match body.action:
            case Action.PRIORITISE if body.priority is not None:
                number = await tasks.prioritise(wanted, body.priority)
            case Action.REPARSE:
                number = await tasks.reparse(wanted, accept=body.accept)
            case _:
                number = await acts_of(tasks)[body.action](wanted)
        return answer({"changed": number})


def acts_of(tasks: Tasks) -> dict[Action, Callable[[Filter], Awaitable[int]]]:
    """What is done to tasks, by name; each says to how many."""
    return {
        Action.PAUSE: tasks.pause,
        Action.RESUME: tasks.resume,
        Action.STOP: tasks.stop,
        Action.RETRY: tasks.retry,
        Action.RECRAWL: tasks.recrawl,
    }


def _add_switch(
    router: APIRouter, service: CatalogService, action: Action, summary: str, refusal: str
) -> None:
    act = acts_of(service.tasks)[action]

    @router.post(
        f"/tasks/{{task_id:uuid}}/{action}",
        name=f"{action}_task",
        summary=summary,
        response_model=ApiResponse[TaskView],
        responses=answers(404, 409),
    )
    async def switch(task_id: Id, key: Operator) -> Response:
        del key
        return answer(await _done(service, task_id.hex, act, refusal))


def _add_reparsing(router: APIRouter, service: CatalogService) -> None:
    @router.post(
        "/tasks/{task_id:uuid}/reparse",
        summary="Parse the page of a task again, without fetching it",
        response_model=ApiResponse[TaskView],
        responses=answers(*ACCEPTED, 404),
    )
    async def reparse_task(task_id: Id, key: Operator, body: Acceptance | None = None) -> Response:
        del key
        accept = body is not None and body.accept

        async def act(wanted: Filter) -> int:
            return await service.tasks.reparse(wanted, accept=accept)

        return answer(await _done(service, task_id.hex, act, NOTHING_KEPT))


async def _done(
    service: CatalogService, task_id: str, act: Callable[[Filter], Awaitable[int]], refusal: str
) -> dict[str, Any]:
    """A task that something was done to; a `Conflict` says why nothing could be."""
    task = await service.tasks.get(task_id)
    if not await act(Filter(ids=(task_id,))):
        raise Conflict(f"This task is {task['status']}: it {refusal}")
    return view(TaskView, await service.tasks.get(task_id))
