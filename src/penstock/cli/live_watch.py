"""`penstock live watch`: a page that changes by the second, followed in the terminal."""

import asyncio
import signal
from typing import Annotated

import typer
import uvloop

from penstock.app import build
from penstock.app.live_following import Follower, open_follower
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
from penstock.cli.live_story import JsonTeller, LineTeller, ScreenTeller, Story, Teller
from penstock.cli.output import ExitCode, complain, stdout
from penstock.core.log import configure
from penstock.settings import Settings, load_settings
from penstock.web.errors import ApiError
from penstock.workloads.live.model import Feed
from penstock.workloads.live.scraper import STOPPED, End, EndKind

#: A look that is under way may take so long to come to its end.
GRACE_SECONDS = 1.0
BAD = frozenset({EndKind.REFUSED, EndKind.FAILED})


def watch(
    url: Url,
    adapter: Adapter = None,
    interval: Interval = None,
    select: Select = None,
    critical: Critical = None,
    ended: Ended = None,
    pause: Break = None,
    way: ByWay = None,
    option: Option = None,
    seconds: Annotated[
        float | None, typer.Option("--for", min=0, help="Stop after so many seconds.")
    ] = None,
    updates: Annotated[
        int | None, typer.Option("--updates", min=1, help="Stop after so many updates.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, one object per line.")] = False,
) -> None:
    """Follow a page in the terminal until it ends, or Ctrl-C; nothing is stored.

    All gates hold: robots, hours, and the pace of the site. Exit code 1 if nothing was seen.

        penstock live watch https://score.example/7 --select runs=.runs --select status=.status

        penstock live watch https://score.example/7 --adapter cricket --for 60 --json
    """
    draft = read_draft(
        url,
        read_options(select, critical, ended, pause, way, option),
        adapter=adapter,
        interval=interval,
    )
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    try:
        code = uvloop.run(_watch(settings, draft, seconds, updates, as_json))
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error
    if code:
        raise typer.Exit(code)


async def _watch(
    settings: Settings, draft: Feed, seconds: float | None, updates: int | None, as_json: bool
) -> ExitCode:
    stopping = asyncio.Event()
    async with build(settings) as platform:
        follower = open_follower(platform, draft)
        teller = _teller(follower, as_json)
        story = Story(teller, updates, stopping.set)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        with teller:
            following = asyncio.create_task(follower.follow(story, stopping), name="follow")
            end = await _end_of(following, stopping, seconds)
            if as_json or end.kind not in BAD:
                teller.end(end)
    if end.kind in BAD:
        complain(end.reason)
        return ExitCode.TROUBLE
    return ExitCode.OK if story.updates else ExitCode.TROUBLE


def _teller(follower: Follower, as_json: bool) -> Teller:
    if as_json:
        return JsonTeller()
    console = stdout()
    return ScreenTeller(follower, console) if console.is_terminal else LineTeller()


async def _end_of(
    following: asyncio.Task[End], stopping: asyncio.Event, seconds: float | None
) -> End:
    """How it ended: by itself, or because somebody wants no more."""
    stopped = asyncio.create_task(stopping.wait(), name="stop")
    await asyncio.wait({following, stopped}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.set()
    await stopped
    await asyncio.wait({following}, timeout=GRACE_SECONDS)
    following.cancel()
    await asyncio.wait({following})
    return STOPPED if following.cancelled() else following.result()
