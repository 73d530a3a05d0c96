"""`penstock schedule`: URLs that are fetched again and again."""

import random
from typing import Annotated, Any

import typer

from penstock.cli.output import ExitCode, complain, print_table, stdout, write_json
from penstock.cli.stores import moment, with_existing_store, with_store
from penstock.core.ids import new_id
from penstock.core.urls import parse
from penstock.queue.ports import DEFAULT_PRIORITY
from penstock.queue.scheduler import Schedule, Schedules
from penstock.queue.timing import Timing, read_span
from penstock.workloads.fetch.lane import NAME

app = typer.Typer(no_args_is_help=True, help="Fetch URLs again and again; see `penstock up`.")

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="What to fetch.")],
    every: Annotated[str | None, typer.Option(help="A span of time: 15m, 1h, 1d.")] = None,
    cron: Annotated[str | None, typer.Option(help="A cron expression: '0 6 * * *'.")] = None,
    zone: Annotated[str, typer.Option(help="The time zone of the expression.")] = "UTC",
    jitter: Annotated[str, typer.Option(help="Up to so much later, by chance.")] = "0s",
    name: Annotated[str | None, typer.Option(help="Replaces the schedule of this name.")] = None,
    priority: Annotated[int, typer.Option(min=0, max=9, help="Lower first.")] = DEFAULT_PRIORITY,
    as_json: AsJson = False,
) -> None:
    """Add a schedule, or change the one of the same name."""
    span = read_span(every) if every else None
    timing = Timing(every=span, cron=cron, zone=zone, jitter=read_span(jitter))
    parsed = parse(url)
    payload: dict[str, Any] = {"url": url, "headers": {}, "extract": None, "run": ""}
    schedule = Schedule(name or new_id(), NAME, timing, payload, parsed.domain, priority)
    with_store(lambda _, store: Schedules(store, random.Random()).add(schedule))
    if as_json:
        write_json({"id": schedule.id})
    else:
        stdout().print(f"scheduled as {schedule.id}", markup=False)


@app.command("list")
def list_schedules(as_json: AsJson = False) -> None:
    """List the schedules, the next one first."""
    rows = with_existing_store(lambda _, store: Schedules(store, random.Random()).all())
    if as_json:
        for row in rows:
            write_json(row)
        return
    print_table("Schedules", ("id", "url", "when", "next", "last"), [_row(row) for row in rows])


@app.command()
def remove(schedule: Annotated[str, typer.Argument(help="Its id.")]) -> None:
    """Remove a schedule; what it put in the queue already stays there."""
    if not with_existing_store(lambda _, store: Schedules(store, random.Random()).remove(schedule)):
        complain(f"there is no schedule {schedule}; see `penstock schedule list`")
        raise typer.Exit(ExitCode.TROUBLE)


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    timing = row["timing"]
    when = timing.get("cron") or f"every {timing['every']:g} s"
    return (
        row["id"],
        str(row["payload"].get("url", "")),
        when,
        moment(row["next_at"]),
        moment(row["last_at"]),
    )
