"""`penstock live updates`, `errors`, `resolve`, `health`, `adapters`: what was seen, how well."""

import asyncio
import sys
from typing import Annotated

import typer

from penstock.cli.live_asking import AtUrl, ask
from penstock.cli.live_changes import changes_between, fields_of, in_one_line
from penstock.cli.live_desk import FeedId, Row, show_feeds, with_live
from penstock.cli.live_story import time_of
from penstock.cli.monitoring import AsJson, Limit, say, show_one, show_rows
from penstock.cli.output import ExitCode, write_json
from penstock.extract.live.registry import open_live_registry
from penstock.settings import load_settings
from penstock.workloads.live.health import Service
from penstock.workloads.live.model import ErrorType, FeedStatus
from penstock.workloads.live.service import CACHE, LiveService
from penstock.workloads.live.views import view_adapter, view_error, view_feed, view_update

ERRORS = ("id", "timestamp", "match_id", "error_type", "operation", "resolved", "error_message")
ADAPTERS = ("id", "version", "ways", "critical", "urls")
#: So many are asked for at once, and so often it is looked for more.
AT_ONCE, LOOK_SECONDS = 200, 0.5
MOST_FEEDS = 10_000
#: After these, nothing more comes.
OVER = frozenset({FeedStatus.COMPLETED, FeedStatus.STOPPED, FeedStatus.REFUSED})


def updates(
    feed: FeedId,
    after: Annotated[
        int | None, typer.Option(min=0, help="All behind this number; the last 10 if absent.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as they come.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=100_000, help="At most so many; not with --follow.")
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """Show what was new on a page, oldest first; with --follow until the feed is over.

    penstock live updates final --after 120 --follow --json
    """

    async def look(live: LiveService) -> None:
        row = await live.get(feed)
        place = max(0, row["last_sequence"] - 10) if after is None else after
        left, before = limit, None
        while left:
            found = await live.updates_after(feed, place, min(AT_ONCE, left))
            for update in found:
                _show(update, before, as_json)
                before, place = update, update["sequence"]
            if found:
                left -= 0 if follow else len(found)
                continue
            # Who reads from a pipe sees what there is before we wait.
            sys.stdout.flush()
            row = await live.get(feed)
            is_over = row["status"] in OVER and row["last_sequence"] <= place
            if is_over or not follow:
                return
            await asyncio.sleep(LOOK_SECONDS)

    try:
        with_live(look)
    except KeyboardInterrupt:
        return


def _show(update: Row, before: Row | None, as_json: bool) -> None:
    if as_json:
        write_json(view_update(update))
        return
    known = fields_of(before["payload"]) if before else {}
    changes = changes_between(known, fields_of(update["payload"]))
    told = in_one_line(changes) if before else ", ".join(map(str, changes))
    say(f"{time_of(update['scraped_at'])}  #{update['sequence']:<4} {told}  ({update['state']})")


def errors(
    feed: Annotated[
        str | None, typer.Argument(help="A feed, by its id; all if absent.", metavar="[ID]")
    ] = None,
    kind: Annotated[ErrorType | None, typer.Option("--type", help="Only of this type.")] = None,
    unresolved: Annotated[
        bool, typer.Option("--unresolved", help="Only what nothing has made good yet.")
    ] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what went wrong, newest first; `penstock live resolve` settles what you have seen to."""

    async def look(live: LiveService) -> list[Row]:
        if feed is not None:
            await live.get(feed)
        return await live.errors(
            match_id=feed,
            error_type=kind,
            resolved=False if unresolved else None,
            limit=limit,
        )

    rows = [view_error(row) for row in with_live(look)]
    show_rows(f"{len(rows)} errors", rows, ERRORS, as_json)


def resolve(
    errors: Annotated[list[str], typer.Argument(help="Errors, by their ids.", metavar="ERROR…")],
    as_json: AsJson = False,
) -> None:
    """Mark errors as seen to by hand; most settle themselves with the next good look."""

    async def work(live: LiveService) -> list[Row]:
        return [view_error(await live.resolve_error(each)) for each in errors]

    show_rows("Resolved", with_live(work, see="errors"), ERRORS, as_json)


def health(url: AtUrl = None, as_json: AsJson = False) -> None:
    """How all feeds do, as the store knows it; exit code 1 unless all is well.

    With --url, all that a process knows of those that it watches: memory, latencies, circuits.
    """
    if url is not None:
        found = ask(url, lambda penstock: penstock.live.health())
        show_one(found, as_json)
        _exit_unless_well(found["status"])
        return

    async def look(live: LiveService) -> tuple[int, list[Row]]:
        rows = [row for row in await live.list_feeds(limit=MOST_FEEDS) if row["wanted"]]
        late = [row for row in rows if live.freshness(row).source == CACHE]
        return len(rows), [view_feed(row, live) for row in late]

    number, late = with_live(look)
    status = Service.DEGRADED if late else Service.HEALTHY
    if late and len(late) == number:
        status = Service.DOWN
    if as_json:
        write_json({"status": status, "wanted": number, "fresh": number - len(late), "late": late})
    else:
        say(f"{status}: {number - len(late)} of {number} feeds that are wanted are fresh")
        if late:
            show_feeds("Not fresh", late, as_json=False)
    _exit_unless_well(status)


def _exit_unless_well(status: str) -> None:
    if status != Service.HEALTHY:
        raise typer.Exit(ExitCode.TROUBLE)


def adapters(as_json: AsJson = False) -> None:
    """List who can read pages: in which ways, and what of it must not be lost."""
    registry = open_live_registry(load_settings().live.adapters)
    rows = [view_adapter(each) for each in registry.all]
    show_rows(f"{len(rows)} adapters", rows, ADAPTERS, as_json)
