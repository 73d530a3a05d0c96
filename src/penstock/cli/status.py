"""`penstock status`: is everything making progress?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from penstock.app.engine import open_queue
from penstock.cli.output import ExitCode, print_table, safe, stdout, write_json
from penstock.cli.stores import moment, span, with_existing_store
from penstock.queue.health import (
    Backlog,
    Health,
    judge,
    largest_backlogs,
    longest_held,
)
from penstock.queue.upkeep import Upkeep
from penstock.settings import Settings
from penstock.store.postgres import place_of
from penstock.store.store import Store
from penstock.store.switches import StoredSwitches

#: Of so many domains it is said what they wait for; `queue stats --by domain` knows more.
DOMAINS_SHOWN = 5


def status(
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Say whether work makes progress, and if not, why. Exit code 1 if it does not."""

    async def look(settings: Settings, store: Store) -> tuple[str, Health, list[Backlog]]:
        paused = await StoredSwitches(store).paused()
        depths = await open_queue(settings, store).depth()
        held = await longest_held(store, paused)
        health = judge(depths, await Upkeep(store).workers(), paused, held)
        return place_of(settings.store), health, await largest_backlogs(store, DOMAINS_SHOWN)

    place, health, backlogs = with_existing_store(look)
    if as_json:
        waiting = [asdict(backlog) for backlog in backlogs]
        write_json({"store": place, **health.as_json(), "waiting": waiting})
    else:
        _show(place, health, backlogs)
    if health.status != "ok":
        raise typer.Exit(ExitCode.TROUBLE)


def _show(place: str, health: Health, backlogs: Sequence[Backlog]) -> None:
    number = f"{health.processes} process{'' if health.processes == 1 else 'es'}"
    stdout().print(safe(f"{health.status}, {number} on {place}"), markup=False)
    for line in (*health.problems, *(_said_of(backlog) for backlog in backlogs)):
        stdout().print(f"  {safe(line)}", markup=False)
    rows = [(name, *_cells(lane)) for name, lane in health.lanes.items()]
    if rows:
        first = next(iter(health.lanes.values()))
        print_table("Lanes", ("lane", *(heading.replace("_", " ") for heading in first)), rows)


def _said_of(backlog: Backlog) -> str:
    """What the items of a domain wait for."""
    name = f"{backlog.group or 'no domain'} ({backlog.lane})"
    if backlog.due or backlog.next_at is None:
        return f"{name}: {backlog.waiting} wait, {backlog.due} of them are due"
    return f"{name}: {backlog.waiting} wait until {moment(backlog.next_at)}"


def _cells(lane: Mapping[str, Any]) -> list[str]:
    return [span(value) if _is_time(name) else str(value) for name, value in lane.items()]


def _is_time(name: str) -> bool:
    return name.endswith("_age") or name == "oldest_due"
