"""What the commands of live pages share: the service on a store, and how feeds are shown."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from penstock.app.live_service import service_on
from penstock.cli.monitoring import trouble
from penstock.cli.output import ExitCode, complain, print_table, write_json
from penstock.cli.stores import Check, require_store, span, with_store
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.web.errors import ApiError, NotFound
from penstock.workloads.live.service import LiveService

T = TypeVar("T")
Row = dict[str, Any]
SEE = "list"
HEADINGS = ("id", "status", "scraper", "age", "state", "sequence", "interval", "reason")

FeedId = Annotated[str, typer.Argument(help="A feed, by its id.", metavar="ID")]
FeedIds = Annotated[list[str], typer.Argument(help="Feeds, by their ids.", metavar="ID…")]


def with_live(
    ask: Callable[[LiveService], Awaitable[T]], *, see: str = SEE, check: Check = require_store
) -> T:
    """Run something with the live pages of the settings; what it refuses is one line.

    `see` is the command that lists what can be asked for.
    """
    return with_live_store(lambda _settings, _store, live: ask(live), see=see, check=check)


def with_live_store(
    ask: Callable[[Settings, Store, LiveService], Awaitable[T]],
    *,
    see: str = SEE,
    check: Check = require_store,
) -> T:
    """As `with_live`, for what needs the store, too."""

    async def run(settings: Settings, store: Store) -> T:
        return await ask(settings, store, await service_on(settings, store))

    try:
        return with_store(run, check=check)
    except NotFound as error:
        raise trouble(f"{error}; see `penstock live {see}`") from error
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error


def show_feeds(title: str, feeds: Sequence[Row], as_json: bool) -> None:
    """Feeds as their views have them; as a table for people."""
    if as_json:
        for each in feeds:
            write_json(each)
        return
    rows = [
        (
            each["match_id"],
            each["status"],
            each["scraper_status"],
            span(each["data_freshness_seconds"]),
            each["state"] or "",
            str(each["last_sequence"]),
            f"{each['interval']:g} s" if each["interval"] else "",
            each["reason"] or "",
        )
        for each in feeds
    ]
    print_table(title, HEADINGS, rows, whole=["id", "status"])
