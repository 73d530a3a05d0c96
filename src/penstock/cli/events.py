"""`penstock events`: what happened, from the log in the store."""

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from penstock.cli.output import print_table, safe, stdout, write_json
from penstock.cli.stores import moment, with_existing_store
from penstock.events.log import EventLog
from penstock.events.ports import Event
from penstock.events.relay import Deliveries
from penstock.settings import Settings
from penstock.store.store import Store

app = typer.Typer(no_args_is_help=True, help="Read the event log, and see to its deliveries.")

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]
LOOK_EVERY = 0.5

Rows = list[dict[str, Any]]


@app.command()
def tail(
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as events come.")] = False,
    number: Annotated[int, typer.Option("-n", min=0, help="How many of the last ones.")] = 10,
    after: Annotated[int | None, typer.Option(help="All behind this place instead.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only these topics.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the last events, oldest first."""

    async def show(settings: Settings, store: Store) -> None:
        del settings
        log = EventLog(store)
        place = max(0, await log.last() - number) if after is None else after
        while True:
            found = await log.read(place, topics=topic or ())
            for event in found:
                _show(event, as_json)
                place = event.seq
            if not found:
                if not follow:
                    return
                # Who reads from a pipe sees what there is before we wait.
                sys.stdout.flush()
                await asyncio.sleep(LOOK_EVERY)

    _until_interrupted(lambda: with_existing_store(show))


@app.command()
def deliveries(as_json: AsJson = False) -> None:
    """Show what is still to be delivered, and what was parked because it kept failing."""

    async def look(
        settings: Settings, store: Store
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        del settings
        asked = Deliveries(store)
        return await asked.counts(), await asked.parked()

    counts, parked = with_existing_store(look)
    if as_json:
        for row in (*counts, *parked):
            write_json(row)
        return
    print_table(
        "Waiting and parked",
        ("sink", "state", "events"),
        [(row["sink"], row["state"], str(row["events"])) for row in counts],
    )
    print_table(
        "Parked",
        ("event", "sink", "key", "attempts", "error"),
        [
            (str(row["seq"]), row["sink"], row["key"], str(row["attempts"]), row["error"] or "")
            for row in parked
        ],
    )


@app.command()
def retry(
    sink: Annotated[str | None, typer.Option(help="Only those of this sink.")] = None,
    as_json: AsJson = False,
) -> None:
    """Have parked events delivered again."""
    number = with_existing_store(lambda _, store: Deliveries(store).retry_parked(sink))
    if as_json:
        write_json({"retried": number})
    else:
        stdout().print(f"{number} events will be delivered again", markup=False)


def _show(event: Event, as_json: bool) -> None:
    if as_json:
        write_json(event.as_json())
        return
    message = event.message
    data = message.data
    summary = "  ".join(
        str(data[name]) for name in ("status", "url", "reason") if data.get(name) is not None
    )
    stdout().print(
        f"{event.seq}  {moment(event.at)}  {message.topic}  {safe(message.key)}  {safe(summary)}",
        markup=False,
    )


def _until_interrupted(show: Callable[[], None]) -> None:
    try:
        show()
    except KeyboardInterrupt:
        return
