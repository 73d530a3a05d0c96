"""`penstock catalog tasks`: the pages that are crawled, and what to do with them."""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.catalog_desk import (
    Domain,
    Frequency,
    Parser,
    given,
    is_sure,
    read_frequency,
    with_catalog,
)
from penstock.cli.monitoring import (
    STDOUT,
    AsJson,
    Limit,
    open_to_write,
    say,
    show_one,
    show_rows,
    trouble,
)
from penstock.cli.output import write_json
from penstock.web.views import view
from penstock.workloads.catalog.model import HIGHEST, LOWEST, Category, Status
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.tasks import Filter, Tasks
from penstock.workloads.catalog.views import AttemptView, TaskView

app = typer.Typer(no_args_is_help=True, help="Pages that are crawled.")

SEE = "tasks list"
#: What fits beside each other: a task is named by its URL, `tasks show` has the rest.
COLUMNS = ("url", "status", "priority", "next_crawl_at", "error_message")
ATTEMPTS = (
    *("id", "kind", "status", "number", "ended_at", "http_status", "size", "proxy"),
    *("parser_version", "changed", "error_type", "error_message"),
)

Task = Annotated[str, typer.Argument(help="A task, by id or URL.")]
Named = Annotated[list[str] | None, typer.Argument(help="Tasks, by id or URL.")]
Submission = Annotated[str | None, typer.Option(help="Of this submission, by id.")]
InStatus = Annotated[Status | None, typer.Option(help="Only in this status.")]
WithUrl = Annotated[str | None, typer.Option("--url", help="Only URLs with this in them.")]
Paused = Annotated[
    bool | None, typer.Option("--paused/--not-paused", help="Only these; both by default.")
]
Dead = Annotated[bool | None, typer.Option("--dead/--alive", help="Failed for good, or not.")]
OfCategory = Annotated[Category | None, typer.Option(help="That had such an error.")]
ErrorType = Annotated[str | None, typer.Option(help="That had such an error, as http_404.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, however many there are.")]
#: Does something to tasks; to how many.
Act = Callable[[Tasks, Filter], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tasks somebody means: those that are named, and fit all else that is said."""

    names: list[str] | None
    wanted: Filter

    async def resolve(self, catalog: CatalogService) -> Filter:
        """The filter; who names a task that is not known means none."""
        ids = tuple([(await catalog.tasks.get(name))["id"] for name in self.names or ()])
        return replace(self.wanted, ids=ids)


@app.command("list")
def list_tasks(
    domain: Domain = None,
    submission: Submission = None,
    status: InStatus = None,
    paused: Paused = None,
    dead: Dead = None,
    category: OfCategory = None,
    error_type: ErrorType = None,
    url: WithUrl = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List tasks, oldest first."""
    wanted = Filter(
        domain=domain,
        submission=submission,
        status=status,
        paused=paused,
        dead=dead,
        category=category,
        error_type=error_type,
        url=url,
        limit=limit,
    )

    async def look(catalog: CatalogService) -> tuple[list[dict[str, Any]], int]:
        return await catalog.tasks.list(wanted), await catalog.tasks.count(wanted)

    found, number = with_catalog(look, see="domains list")
    rows = [view(TaskView, row) for row in found]
    show_rows(f"{number} tasks; shown {len(rows)}", rows, COLUMNS, as_json)


@app.command()
def counts(domain: Domain = None, as_json: AsJson = False) -> None:
    """How many tasks there are in each status."""
    found = with_catalog(lambda catalog: catalog.tasks.counts(domain), see="domains list")
    show_one(found, as_json)


@app.command()
def show(task: Task, as_json: AsJson = False) -> None:
    """Show all of a task."""
    found = with_catalog(lambda catalog: catalog.tasks.get(task), see=SEE)
    show_one(view(TaskView, found), as_json)


@app.command()
def attempts(task: Task, limit: Limit = 20, as_json: AsJson = False) -> None:
    """What was tried for a task, newest first: downloads and parses."""
    found = with_catalog(lambda catalog: catalog.tasks.attempts(task, limit=limit), see=SEE)
    rows = [view(AttemptView, row) for row in found]
    show_rows(f"{len(rows)} attempts", rows, ATTEMPTS, as_json)


@app.command()
def page(
    task: Task,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A file; - is standard output.")
    ] = STDOUT,
) -> None:
    """The page of a task as it was downloaded last, byte for byte."""
    if output == STDOUT and sys.stdout.isatty():
        raise trouble("a page could steer your terminal: say --output FILE, or pipe it")
    data = with_catalog(lambda catalog: catalog.page(task), see=SEE)
    if output == STDOUT:
        sys.stdout.buffer.write(data)
        return
    with open_to_write(output, "wb") as file:
        file.write(data)
    say(f"{len(data)} bytes in {output}")


@app.command()
def edit(
    task: Task,
    priority: Annotated[
        int | None, typer.Option(min=HIGHEST, max=LOWEST, help="1 goes first, 10 last.")
    ] = None,
    frequency: Frequency = None,
    no_frequency: Annotated[
        bool, typer.Option("--no-frequency", help="Back to what its domain says.")
    ] = False,
    retries: Annotated[int | None, typer.Option(min=0, help="Before it is given up.")] = None,
    parser: Parser = None,
    as_json: AsJson = False,
) -> None:
    """Change priority, frequency, retries or parser of a task."""
    changes = given(
        priority=priority,
        crawl_frequency=read_frequency(frequency),
        max_retries=retries,
        parser=parser,
    )
    if no_frequency:
        changes["crawl_frequency"] = None
    if not changes:
        raise trouble("say what to change; see `penstock catalog tasks edit --help`")
    row = with_catalog(lambda catalog: catalog.tasks.edit(task, **changes), see=SEE)
    show_one(view(TaskView, row), as_json)


def _add(name: str, done: str, summary: str, act: Act) -> None:
    """Add a command that does something to tasks, one or many."""

    def command(
        tasks: Named = None,
        domain: Domain = None,
        submission: Submission = None,
        status: InStatus = None,
        url: WithUrl = None,
        yes: Yes = False,
        as_json: AsJson = False,
    ) -> None:
        wanted = Filter(domain=domain, submission=submission, status=status, url=url)
        _act(Choice(tasks, wanted), name, done, act, yes, as_json)

    app.command(name, help=summary)(command)


_add(
    "pause",
    "paused",
    "Begin tasks no more until they are resumed; what is under way comes to its end.",
    lambda tasks, wanted: tasks.pause(wanted),
)
_add(
    "resume",
    "resumed",
    "Go on with tasks that were paused.",
    lambda tasks, wanted: tasks.resume(wanted),
)
_add(
    "stop",
    "stopped",
    "Give up what is not over, and crawl none of it again until somebody says so.",
    lambda tasks, wanted: tasks.stop(wanted),
)
_add(
    "retry",
    "tried again",
    "Crawl tasks again that failed, now and as if for the first time.",
    lambda tasks, wanted: tasks.retry(wanted),
)
_add(
    "recrawl",
    "crawled again",
    "Crawl tasks now that are over.",
    lambda tasks, wanted: tasks.recrawl(wanted),
)


@app.command()
def reparse(
    tasks: Named = None,
    domain: Domain = None,
    submission: Submission = None,
    status: InStatus = None,
    url: WithUrl = None,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="What the pages cost is right, however unlikely it looks."),
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Parse pages again that are kept, without fetching them; as after a parser was repaired."""
    wanted = Filter(domain=domain, submission=submission, status=status, url=url)

    async def act(all_tasks: Tasks, chosen: Filter) -> int:
        return await all_tasks.reparse(chosen, accept=accept)

    _act(Choice(tasks, wanted), "reparse", "parsed again", act, yes, as_json)


@app.command()
def prioritise(
    tasks: Named = None,
    to: Annotated[
        int, typer.Option("--to", min=HIGHEST, max=LOWEST, help="1 goes first, 10 last.")
    ] = HIGHEST,
    domain: Domain = None,
    submission: Submission = None,
    status: InStatus = None,
    url: WithUrl = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give tasks another priority, also those that wait in the queue."""
    wanted = Filter(domain=domain, submission=submission, status=status, url=url)

    async def act(all_tasks: Tasks, chosen: Filter) -> int:
        return await all_tasks.prioritise(chosen, to)

    _act(Choice(tasks, wanted), "prioritise", f"given priority {to}", act, yes, as_json)


def _act(choice: Choice, name: str, done: str, act: Act, yes: bool, as_json: bool) -> None:
    """Do something to all that are meant; many only if that is meant, too."""

    async def work(catalog: CatalogService) -> int | None:
        wanted = await choice.resolve(catalog)
        if wanted.says_nothing:
            raise trouble(f"say which tasks to {name}: by id or URL, --domain, --submission, …")
        number = 0 if choice.names else await catalog.tasks.count(wanted)
        return await act(catalog.tasks, wanted) if is_sure(number, name, yes) else None

    number = with_catalog(work, see=SEE)
    if number is None:
        raise typer.Abort
    if as_json:
        write_json({"changed": number})
    elif number:
        say(f"{number} tasks: {done}")
    if not number:
        raise trouble(f"there was no task to {name}: see `penstock catalog {SEE}`")
