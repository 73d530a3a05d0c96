"""`penstock status`: is everything making progress?"""

from typing import Annotated

import typer

from penstock.app.engine import open_queue
from penstock.cli.output import ExitCode, print_table, safe, stdout, write_json
from penstock.cli.stores import with_store
from penstock.queue.health import Health, judge
from penstock.queue.upkeep import Upkeep
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.store.switches import StoredSwitches


def status(
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Say whether work makes progress, and if not, why. Exit code 1 if it does not."""

    async def look(settings: Settings, store: Store) -> Health:
        depths = await open_queue(settings, store).depth()
        return judge(depths, await Upkeep(store).workers(), await StoredSwitches(store).paused())

    health = with_store(look)
    if as_json:
        write_json(health.as_json())
    else:
        _show(health)
    if health.status != "ok":
        raise typer.Exit(ExitCode.TROUBLE)


def _show(health: Health) -> None:
    stdout().print(f"{health.status}, {health.workers} workers", markup=False)
    for problem in health.problems:
        stdout().print(f"  {safe(problem)}", markup=False)
    rows = [
        (name, *("" if value is None else f"{value:g}" for value in lane.values()))
        for name, lane in health.lanes.items()
    ]
    if rows:
        first = next(iter(health.lanes.values()))
        print_table("Lanes", ("lane", *(heading.replace("_", " ") for heading in first)), rows)
