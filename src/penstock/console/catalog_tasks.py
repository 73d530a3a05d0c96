"""Crawl tasks: found by filters, looked at one by one, and told what to do, one or many."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Response

from penstock.console.asking import (
    an_id,
    cursor,
    filled,
    number,
    one_of,
    problems_of,
    truth,
    word,
)
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.asking import one_page
from penstock.web.errors import Conflict, InvalidRequest, invalid
from penstock.web.files import foreign_page
from penstock.workloads.catalog.bodies import Action, TaskChanges
from penstock.workloads.catalog.model import Category, Row, Status
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.task_routes import acts_of
from penstock.workloads.catalog.tasks import Filter, Tasks

PART, MOST_ERRORS = 50, 10
ASKED = (
    *("url", "domain", "submission", "status", "paused"),
    *("category", "error_type", "priority"),
)
DONE = {
    Action.PAUSE: "paused",
    Action.RESUME: "resumed",
    Action.STOP: "stopped",
    Action.RETRY: "tried again",
    Action.RECRAWL: "crawled again",
    Action.PRIORITISE: "given another priority",
}
#: What can be left to the domain again.
CLEARABLE = ("crawl_frequency", "parser")
#: The action took hold of none.
NONE_FIT = "No task that was meant is one for this: see their status"


def add(console: Console, services: Services) -> None:
    """Show tasks and steer them."""
    _add_list(console, services.catalog)
    _add_one(console, services.catalog)
    _add_actions(console, services.catalog.tasks)
    _add_edit(console, services.catalog)


def filter_of(typed: Mapping[str, str], **more: Any) -> Filter:
    """Which tasks somebody means; what is nonsense is not said."""
    priority = number(typed.get("priority", ""))
    submission = typed.get("submission")
    return Filter(
        domain=word(typed.get("domain", "")),
        submission=an_id(submission, "submission") if submission else None,
        status=one_of(Status, typed.get("status", "")),
        paused=truth(typed.get("paused", "")),
        category=one_of(Category, typed.get("category", "")),
        error_type=word(typed.get("error_type", "")),
        url=word(typed.get("url", "")),
        priority=priority if isinstance(priority, int) else None,
        **more,
    )


def _add_list(console: Console, catalog: CatalogService) -> None:
    @console.page("/catalog/tasks")
    async def show(ask: Ask) -> View:
        typed = {name: ask.get(name) for name in ASKED if ask.get(name)}
        wanted = filter_of(typed, after=cursor(ask), limit=PART + 1)
        shown, meta = one_page(await catalog.tasks.list(wanted), PART)
        return View(
            "catalog_tasks.html",
            {
                "title": "Crawl tasks",
                "typed": {"submission": "", **typed},
                "is_filtered": bool(typed),
                "tasks": shown,
                "next": meta["next_cursor"],
                "statuses": [each.value for each in Status],
                "categories": [each.value for each in Category],
            },
        )


def _add_one(console: Console, catalog: CatalogService) -> None:
    @console.page("/catalog/tasks/{id}")
    async def show(ask: Ask) -> View:
        task = await catalog.tasks.get(an_id(ask.path["id"], "task"))
        return View("catalog_task.html", await _values(catalog, task, cursor(ask)))

    @console.page("/catalog/tasks/{id}/page")
    async def page(ask: Ask) -> Response:
        task_id = an_id(ask.path["id"], "task")
        return foreign_page(await catalog.page(task_id), f"{task_id}.html")


async def _values(catalog: CatalogService, task: Row, after: str | None) -> dict[str, Any]:
    rows = await catalog.tasks.attempts(task["id"], after, PART + 1)
    shown, meta = one_page(rows, PART)
    names = ("priority", "crawl_frequency", "max_retries", "parser")
    return {
        "title": task["url"],
        "task": task,
        "is_dead": task["status"] == Status.FAILED and task["next_crawl_at"] is None,
        "attempts": shown,
        "next": meta["next_cursor"],
        "problems": await catalog.errors.list(task=task["id"], limit=MOST_ERRORS),
        "typed": {name: str(task[name]) for name in names if task[name] is not None},
        "errors": {},
    }


def _add_actions(console: Console, tasks: Tasks) -> None:
    @console.action("/catalog/tasks/act")
    async def act(form: Form) -> Done:
        action = one_of(Action, form.get("action"))
        if action not in DONE or action is None:
            raise invalid("action", "there is no such action")
        wanted, subject = _meant(form)
        if action is Action.PRIORITISE:
            priority = number(form.get("new_priority"))
            changed = await tasks.prioritise(wanted, priority if isinstance(priority, int) else 0)
        else:
            changed = await acts_of(tasks)[action](wanted)
        if not changed:
            raise Conflict(NONE_FIT)
        what = "1 task was" if changed == 1 else f"{changed} tasks were"
        return Done(
            _back(form),
            f"{what} {DONE[action]}",
            f"catalog task {action}",
            subject,
            {"changed": changed},
        )


def _meant(form: Form) -> tuple[Filter, str]:
    """Which tasks are meant, and in words: those that are ticked, or all that fit the filters."""
    typed = _typed(form)
    if form.get("scope") == "all_that_fit":
        return filter_of(typed), ", ".join(f"{name}={text}" for name, text in typed.items())
    ids = tuple(an_id(each, "task") for each in form.all("ids"))
    if not ids:
        raise invalid("tasks", "tick some, or choose all that fit")
    return Filter(ids=ids), ids[0] if len(ids) == 1 else f"{len(ids)} tasks"


def _typed(form: Form) -> dict[str, str]:
    return {name: text for name in ASKED if (text := form.get(f"filter_{name}"))}


def _back(form: Form) -> str:
    if form.get("back") == "task":
        return f"{ROOT}/catalog/tasks/{an_id(form.get('ids'), 'task')}"
    return f"{ROOT}/catalog/tasks?{urlencode(_typed(form))}"


def _add_edit(console: Console, catalog: CatalogService) -> None:
    @console.action("/catalog/tasks/{id}/edit")
    async def edit(form: Form) -> Done | View:
        task_id = an_id(form.path["id"], "task")
        here = f"{ROOT}/catalog/tasks/{task_id}"
        typed = {name: form.get(name) for name in TaskChanges.model_fields}
        try:
            changes = filled(TaskChanges, _numbers(typed)).given()
            changes = dict.fromkeys(CLEARABLE) | changes
            await catalog.tasks.edit(task_id, **changes)
        except InvalidRequest as error:
            values = await _values(catalog, await catalog.tasks.get(task_id), None)
            shown = {"typed": typed, "errors": problems_of(error), "here": here, "stream": ""}
            return View("catalog_task.html", {**values, **shown}, 422)
        return Done(here, "The task was changed", "catalog task edit", task_id, changes)


def _numbers(typed: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: (word(text) if name == "parser" else number(text)) for name, text in typed.items()
    }
