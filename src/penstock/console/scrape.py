"""Tasks and jobs: lists, one of them, cancelling, and new ones."""

from collections.abc import Mapping
from typing import Any

from fastapi import Response
from pydantic import ValidationError

from penstock.console import scrape_webhooks
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import InvalidRequest, NotFound
from penstock.web.files import foreign_page
from penstock.web.problems import field_problems
from penstock.workloads.scrape.model import (
    LARGEST_JOB,
    Format,
    JobStatus,
    TargetType,
    TaskStatus,
)
from penstock.workloads.scrape.requests import BatchScrapeRequest, ScrapeRequest
from penstock.workloads.scrape.rows import Filter

PART = 50
#: More of a text is only to be had as a download.
LONGEST_TEXT = 2000
#: The workspace of what is asked for here, unless another is named.
WORKSPACE = "console"
ENDINGS = {"screenshot": "png", "markdown": "md", "text": "txt", "html": "html"}
CHOICES = {
    "types": list(TargetType),
    "formats": list(Format),
    "most": LARGEST_JOB,
    "fetchers": ("", "http", "browser"),
}


def add(console: Console, services: Services) -> None:
    """Show tasks and jobs, take new ones on, cancel them."""
    _add_lists(console, services)
    _add_tasks(console, services)
    _add_jobs(console, services)
    _add_submitting(console, services)
    scrape_webhooks.add(console, services)


def _add_lists(console: Console, services: Services) -> None:
    @console.page("/scrape")
    async def show_tasks(ask: Ask) -> View:
        wanted = Filter(
            workspace_id=ask.get("workspace") or None,
            status=_one_of(TaskStatus, ask.get("status")),
            target_type=_one_of(TargetType, ask.get("type")),
            before=ask.get("after") or None,
            limit=PART,
        )
        rows = await services.scrape.tasks(wanted)
        values = {"title": "Scrape", "statuses": list(TaskStatus), "types": list(TargetType)}
        return View("scrape_tasks.html", {**values, **_part(rows)})

    @console.page("/scrape/jobs")
    async def show_jobs(ask: Ask) -> View:
        wanted = Filter(
            workspace_id=ask.get("workspace") or None,
            status=_one_of(JobStatus, ask.get("status")),
            before=ask.get("after") or None,
            limit=PART,
        )
        rows = await services.scrape.jobs(wanted)
        return View(
            "scrape_jobs.html", {"title": "Jobs", "statuses": list(JobStatus)} | _part(rows)
        )


def _add_tasks(console: Console, services: Services) -> None:
    scrape = services.scrape

    @console.page("/scrape/tasks/{id}")
    async def show_task(ask: Ask) -> View:
        task = await scrape.task(ask.visitor.key, ask.path["id"])
        is_over = task["status"] in (TaskStatus.COMPLETED, TaskStatus.FAILED)
        values = {"task": task, "is_over": is_over, "files": _files(task)}
        result = shortened(task["result"]) if task["result"] is not None else None
        title = f"Task {task['id']}"
        return View("scrape_task.html", {"title": title, "result": result, **values})

    @console.page("/scrape/tasks/{id}/files/{name}")
    async def get_file(ask: Ask) -> Response:
        task = await scrape.task(ask.visitor.key, ask.path["id"])
        name = ask.path["name"]
        if name not in ENDINGS:
            raise NotFound("There is no such file")
        kept_as = f"{task['id']}.{ENDINGS[name]}"
        if name not in task["files"] and isinstance(text := _text(task, name), str):
            return foreign_page(text.encode(errors="replace"), kept_as)
        data, _ = await scrape.file(ask.visitor.key, task["id"], name)
        return foreign_page(data, kept_as)

    @console.action("/scrape/tasks/{id}/cancel")
    async def cancel_task(form: Form) -> Done:
        task = await scrape.task(form.visitor.key, form.path["id"])
        await scrape.cancel_task(task["id"])
        to = f"{ROOT}/scrape/tasks/{task['id']}"
        return Done(to, "The task is cancelled", "cancel task", task["id"])


def _add_jobs(console: Console, services: Services) -> None:
    scrape = services.scrape

    @console.page("/scrape/jobs/{id}")
    async def show_job(ask: Ask) -> View:
        job = await scrape.job(ask.visitor.key, ask.path["id"])
        tasks = await scrape.tasks(Filter(job_id=job["id"], limit=LARGEST_JOB))
        values = {"job": job, "tasks": tasks[::-1], "is_over": job["completed_at"] is not None}
        return View("scrape_job.html", {"title": f"Job {job['id']}", **values})

    @console.action("/scrape/jobs/{id}/cancel")
    async def cancel_job(form: Form) -> Done:
        job = await scrape.cancel_job(form.visitor.key, form.path["id"])
        to = f"{ROOT}/scrape/jobs/{job['id']}"
        says = "What had not begun of the job is cancelled; what runs comes to its end"
        return Done(to, says, "cancel job", job["id"])


def _add_submitting(console: Console, services: Services) -> None:
    @console.page("/scrape/new")
    async def show_form(ask: Ask) -> View:
        said = {"urls": ask.get("url"), "target_type": TargetType.PAGE.value}
        return _form_view({**said, "workspace_id": WORKSPACE})

    @console.action("/scrape/new")
    async def submit(form: Form) -> Done | View:
        urls = form.get("urls").split()
        try:
            return await _submit(services, form, urls)
        except ValidationError as error:
            problems = field_problems(error.errors())
        except InvalidRequest as error:
            problems = error.meta["errors"] if error.meta else []
        said = {name: form.get(name) for name in ("urls", "target_type", "workspace_id")}
        said |= {"callback_url": form.get("callback_url"), "fetcher": form.get("fetcher")}
        return _form_view({**said, "formats": form.all("formats")}, _by_field(problems, urls), 422)


async def _submit(services: Services, form: Form, urls: list[str]) -> Done:
    wanted = [_request(form, url) for url in urls or [""]]
    key = form.visitor.key
    if len(wanted) == 1:
        one = ScrapeRequest.model_validate(wanted[0] | _callback(form))
        task_id = (await services.scrape.submit(key, one)).task_ids[0]
        to = f"{ROOT}/scrape/tasks/{task_id}"
        return Done(to, "The task is taken on", "submit task", task_id, {"url": urls[0]})
    batch = BatchScrapeRequest.model_validate({"targets": wanted} | _callback(form))
    job_id = (await services.scrape.submit_batch(key, batch)).job_id or ""
    detail = {"tasks": len(wanted), "first": urls[0]}
    return Done(f"{ROOT}/scrape/jobs/{job_id}", "The job is taken on", "submit job", job_id, detail)


def _request(form: Form, url: str) -> dict[str, Any]:
    """What the API would be sent for one URL."""
    target_type = form.get("target_type")
    formats = form.all("formats") if target_type == TargetType.PAGE else []
    return {
        "target_url": url,
        "target_type": target_type,
        "workspace_id": form.get("workspace_id"),
        "formats": formats or None,
        "fetcher": form.get("fetcher") or None,
    }


def _callback(form: Form) -> dict[str, Any]:
    return {"callback_url": form.get("callback_url") or None}


def _form_view(
    said: Mapping[str, Any], errors: Mapping[str, str] | None = None, status: int = 200
) -> View:
    said = {"fetcher": "", "callback_url": "", "formats": [], **said}
    values = {"title": "Scrape pages", "said": said, "errors": errors or {}, **CHOICES}
    return View("scrape_new.html", values, status)


def _by_field(problems: list[dict[str, str]], urls: list[str]) -> dict[str, str]:
    """What is wrong, by the field of the form; of many URLs, with the one that is meant."""
    found: dict[str, str] = {}
    for problem in problems:
        *_, name = parts = problem["field"].split(".")
        place = next((part for part in parts if part.isdecimal()), "")
        said = problem["message"]
        if place and len(urls) > 1:
            said = f"{urls[int(place)][:200]}: {said}"
        known = {"target_type", "workspace_id", "callback_url", "formats", "fetcher"}
        found.setdefault(name if name in known else "urls", said)
    return found


def shortened(value: Any) -> Any:
    """A result without the rest of long texts."""
    match value:
        case str() if len(value) > LONGEST_TEXT:
            return f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
        case dict():
            return {name: shortened(each) for name, each in value.items()}
        case list():
            return [shortened(each) for each in value]
    return value


def _files(task: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The names of what can be downloaded, and how many bytes that is."""
    found = {name: file["bytes"] for name, file in task["files"].items() if name in ENDINGS}
    for name in ENDINGS:
        if name not in found and isinstance(text := _text(task, name), str):
            found[name] = len(text.encode(errors="replace"))
    return sorted(found.items())


def _text(task: Mapping[str, Any], name: str) -> Any:
    is_page = task["target_type"] == TargetType.PAGE
    return (task["result"] or {}).get(name) if is_page else None


def _part(rows: list[dict[str, Any]]) -> dict[str, Any]:
    shown = rows[:PART]
    return {"rows": shown, "next": shown[-1]["id"] if len(rows) > PART else None}


def _one_of(words: type[TaskStatus | JobStatus | TargetType], word: str) -> str | None:
    """A word that is one of some, else none."""
    return word if word in {each.value for each in words} else None
