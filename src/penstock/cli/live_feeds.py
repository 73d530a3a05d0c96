"""`penstock live start`, `stop`, `restart`, `remove`, `list`, `show`: feeds, from first to last."""

import sys
from typing import Annotated, Any

import typer

from penstock.app.live_service import is_taken
from penstock.cli.live_asking import AtUrl, ask
from penstock.cli.live_desk import FeedId, FeedIds, Row, show_feeds, with_live, with_live_store
from penstock.cli.live_drafts import (
    Adapter,
    Break,
    ByWay,
    Critical,
    Ended,
    Interval,
    Option,
    Select,
    Url,
    read_draft,
    read_options,
)
from penstock.cli.monitoring import AsJson, Limit, say, show_one, show_rows, trouble
from penstock.cli.output import safe, stderr, write_json
from penstock.cli.stores import any_place
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.live.model import DEFAULT_PRIORITY, HIGHEST, LOWEST, FeedStatus
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.views import view_error, view_feed, view_health

ERRORS = ("timestamp", "error_type", "operation", "resolved", "error_message")
MOST_ERRORS = 5
NOBODY = "no process watches feeds here: start `penstock live run`, or `penstock up`"
NOT_YET = "no process has taken it yet: `penstock live show {}` says more"


def start(
    url: Url,
    match_id: Annotated[
        str | None, typer.Option("--id", help="What it shall be called; made from the URL if not.")
    ] = None,
    adapter: Adapter = None,
    interval: Interval = None,
    priority: Annotated[
        int, typer.Option(min=HIGHEST, max=LOWEST, help=f"{HIGHEST} goes first, {LOWEST} last.")
    ] = DEFAULT_PRIORITY,
    select: Select = None,
    critical: Critical = None,
    ended: Ended = None,
    pause: Break = None,
    way: ByWay = None,
    option: Option = None,
    as_json: AsJson = False,
) -> None:
    """Watch a page from now on; one that is known under its id is changed.

    It is watched by a process that runs: `penstock live run`, or `penstock up`.

        penstock live start https://score.example/7 --id final --adapter cricket

        penstock live start https://score.example/7 --select runs=.runs --select status=.status
        --critical runs --ended 'status=(?i)result|ended'
    """
    draft = read_draft(
        url,
        read_options(select, critical, ended, pause, way, option),
        match_id=match_id,
        adapter=adapter,
        interval=interval,
        priority=priority,
    )

    async def work(settings: Settings, store: Store, live: LiveService) -> tuple[Row, bool | None]:
        row = await live.start(draft)
        taken = await is_taken(settings, store, row["match_id"], live.clock)
        return view_feed(await live.get(row["match_id"]), live), taken

    feed, taken = with_live_store(work, check=any_place)
    if as_json:
        write_json(feed)
    else:
        say(f"{feed['match_id']} is {'watched' if taken else 'kept'}: {safe(feed['source_url'])}")
    if taken:
        return
    stderr().print(NOBODY if taken is None else NOT_YET.format(feed["match_id"]), markup=False)


def stop(feeds: FeedIds, as_json: AsJson = False) -> None:
    """Watch feeds no longer; what is known of them stays, and is still read."""

    async def work(live: LiveService) -> list[Row]:
        return [view_feed(await live.stop(each), live) for each in feeds]

    show_feeds("Stopped", with_live(work), as_json)


def restart(feed: FeedId, as_json: AsJson = False) -> None:
    """Let a new scraper watch a feed at once, also one that is over, refused or put off."""

    async def work(live: LiveService) -> Row:
        return view_feed(await live.restart(feed), live)

    show_feeds("Restarted", [with_live(work)], as_json)


def remove(
    feeds: FeedIds,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget feeds with all that was seen of them: updates, errors, health."""
    names = ", ".join(map(safe, feeds))
    if not yes:
        if not sys.stdin.isatty():
            raise trouble(f"all that is known of {names} would be gone: say --yes to remove it")
        typer.confirm(f"Forget all that is known of {names}?", abort=True)

    async def work(live: LiveService) -> None:
        for each in feeds:
            await live.get(each)
        for each in feeds:
            await live.remove(each)

    with_live(work)
    if as_json:
        write_json({"removed": feeds})
    else:
        say(f"removed: {names}")


def list_feeds(
    status: Annotated[FeedStatus | None, typer.Option(help="Only in this status.")] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List feeds by id: how they stand, how old their data is, and why they are not watched."""

    async def look(live: LiveService) -> list[Row]:
        return [view_feed(row, live) for row in await live.list_feeds(status, limit=limit)]

    rows = with_live(look)
    show_feeds(f"{len(rows)} feeds", rows, as_json)


def show(feed: FeedId, url: AtUrl = None, as_json: AsJson = False) -> None:
    """Show a feed: what its page said last, how its scraper did, and what went wrong last.

    With --url, how its scraper does right now: what it waits for, its circuit, its memory.
    """
    if url is not None:
        detail = ask(url, lambda penstock: penstock.live.get(feed))
        show_one(detail.model_dump(mode="json"), as_json)
        return

    async def look(live: LiveService) -> tuple[Row, Any, list[Row], list[Row]]:
        row = await live.get(feed)
        health = await live.health_log(feed, 0, 1)
        errors = await live.errors(match_id=feed, limit=MOST_ERRORS)
        return view_feed(row, live), row["payload"], health, errors

    found, payload, health, errors = with_live(look)
    latest = view_health(health[0]) if health else None
    gone_wrong = [view_error(each) for each in errors]
    if as_json:
        write_json({**found, "payload": payload, "health": latest, "errors": gone_wrong})
        return
    show_one(found, as_json=False)
    say("Nothing has been seen of it yet." if payload is None else "It said:")
    if payload is not None:
        show_one(payload, as_json=False)
    if latest:
        say("Its scraper did:")
        show_one(latest, as_json=False)
    if gone_wrong:
        show_rows(f"The last {len(gone_wrong)} errors", gone_wrong, ERRORS, as_json=False)
