"""`penstock queue`: what waits, what died, and what to do about it."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

import typer

from penstock.app.engine import open_queue
from penstock.cli.output import ExitCode, complain, print_table, stdout, write_json
from penstock.cli.stores import moment, span, with_existing_store
from penstock.queue.health import largest_backlogs
from penstock.queue.ports import Depth, State
from penstock.queue.timing import read_span
from penstock.queue.upkeep import Upkeep
from penstock.settings import Settings
from penstock.store.store import Store

app = typer.Typer(no_args_is_help=True, help="Look after the queue.")

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]
Lane = Annotated[str | None, typer.Option(help="Only this lane.")]
Limit = Annotated[int, typer.Option(min=1, help="At most so many.")]


@app.command()
def stats(
    by: Annotated[
        Literal["lane", "domain"], typer.Option(help="Domains: those in which most waits.")
    ] = "lane",
    limit: Annotated[int, typer.Option(min=1, help="At most so many domains.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what each lane holds and who works on it, or what each domain waits for."""
    if by == "domain":
        _show_domains(limit, as_json)
    else:
        _show_lanes(as_json)


def _show_domains(limit: int, as_json: bool) -> None:
    backlogs = with_existing_store(lambda _, store: largest_backlogs(store, limit))
    if as_json:
        for each in backlogs:
            write_json(asdict(each))
        return
    rows = [
        (each.group, each.lane, str(each.waiting), str(each.due), moment(each.next_at))
        for each in backlogs
    ]
    print_table("Domains", ("domain", "lane", "waiting", "due now", "next at"), rows)


def _show_lanes(as_json: bool) -> None:
    async def look(settings: Settings, store: Store) -> tuple[list[Depth], list[dict[str, Any]]]:
        depths = await open_queue(settings, store).depth()
        return depths, await Upkeep(store).workers()

    depths, workers = with_existing_store(look)
    if as_json:
        for depth in depths:
            write_json({"lane": depth.lane, **_counts(depth), "oldest_due": depth.oldest_due})
        for worker in workers:
            write_json({"worker": worker["id"], **worker})
        return
    rows = [
        (each.lane, *(str(number) for number in _counts(each).values()), span(each.oldest_due))
        for each in depths
    ]
    print_table("Lanes", ("lane", *State, "overdue"), rows)
    print_table(
        "Workers",
        ("worker", "host", "lanes", "since", "last beat", "claims"),
        [_worker_row(worker) for worker in workers],
    )


@app.command("list")
def list_items(
    lane: Lane = None,
    state: Annotated[State | None, typer.Option(help="Only in this state.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List items, the newest first."""
    _show(
        with_existing_store(
            lambda _, store: Upkeep(store).items(lane=lane, state=state, limit=limit)
        ),
        as_json,
    )


@app.command()
def dead(lane: Lane = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List dead letters, with the failure that put them there."""
    _show(
        with_existing_store(
            lambda _, store: Upkeep(store).items(lane=lane, state=State.DEAD, limit=limit)
        ),
        as_json,
    )


@app.command()
def revive(
    ids: Annotated[list[str] | None, typer.Argument(help="Items to revive.")] = None,
    lane: Lane = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="All, or all of --lane.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let dead and stale items wait again, as if they were new."""
    if bool(ids) == all_of_them:
        complain("name items to revive, or say --all (with --lane for one lane only)")
        raise typer.Exit(ExitCode.USAGE)
    chosen = ids or None
    number = with_existing_store(
        lambda settings, store: open_queue(settings, store).revive(chosen, lane=lane)
    )
    _told("revived", number, as_json)
    if ids and number < len(ids):
        complain(f"{len(ids) - number} of them are neither dead nor stale")
        raise typer.Exit(ExitCode.TROUBLE)


@app.command()
def purge(
    state: Annotated[list[State], typer.Option(help="What to forget: done, dead, stale, waiting.")],
    lane: Lane = None,
    older_than: Annotated[
        str | None, typer.Option(help="Only what has been over for so long, e.g. 7d.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget items for good; those that are being worked on stay."""
    if not yes:
        since = f" since {older_than} or longer" if older_than else ""
        whose = f" of lane {lane}" if lane else ""
        typer.confirm(f"Forget all items{whose} that are {', '.join(state)}{since}?", abort=True)
    seconds = read_span(older_than) if older_than else 0.0
    number = with_existing_store(
        lambda _, store: Upkeep(store).purge(state, lane=lane, older_than=seconds)
    )
    _told("purged", number, as_json)


@app.command("stale")
def stale(as_json: AsJson = False) -> None:
    """Set aside now what waited for longer than it may; a running platform does so hourly."""
    _told("stale", with_existing_store(lambda _, store: Upkeep(store).make_stale()), as_json)


def _counts(depth: Depth) -> dict[str, int]:
    return {str(state): depth.counts.get(state, 0) for state in State}


def _told(what: str, number: int, as_json: bool) -> None:
    if as_json:
        write_json({what: number})
    else:
        stdout().print(f"{number} items {what}", markup=False)


def _show(items: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        for item in items:
            write_json(item)
        return
    rows = [
        (
            item["id"],
            item["lane"],
            item["state"],
            str(item["attempts"]),
            moment(item["not_before"] if item["state"] == State.WAITING else item["finished_at"]),
            str(item["payload"].get("url", item["group_key"])),
            str((item["failure"] or {}).get("detail", "")),
        )
        for item in items
    ]
    headings = ("id", "lane", "state", "attempts", "at", "url", "failure")
    print_table(f"{len(items)} items", headings, rows)


def _worker_row(worker: dict[str, Any]) -> tuple[str, ...]:
    return (
        worker["id"],
        worker["host"],
        ", ".join(worker["lanes"]),
        moment(worker["started_at"]),
        f"{worker['silent_ms'] / 1000:.0f} s ago",
        str(worker["status"].get("held", "")),
    )
