"""What the commands of the catalogue share: the service on a store, and what is asked of it."""

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer

from penstock.app.catalog_service import service_on
from penstock.cli.monitoring import read_time, trouble
from penstock.cli.output import ExitCode, complain
from penstock.cli.stores import Check, require_store, with_store
from penstock.core.errors import SettingsError
from penstock.queue.timing import read_span
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.web.errors import ApiError, Conflict, NotFound
from penstock.workloads.catalog.model import HIGHEST, LOWEST
from penstock.workloads.catalog.service import CatalogService

T = TypeVar("T")
NEVER = "never"

Domain = Annotated[str | None, typer.Option("--domain", help="A domain, by name or id.")]
Priority = Annotated[
    int, typer.Option(min=HIGHEST, max=LOWEST, help=f"{HIGHEST} goes first, {LOWEST} last.")
]
Frequency = Annotated[
    str | None, typer.Option(help="How often a page is crawled: 1d, 6h …; never: only once.")
]
Parser = Annotated[str | None, typer.Option(help="The adapter that reads the pages, by name.")]
Since = Annotated[str, typer.Option(help="Of the last 7d, 12h …; or since 2026-03-01.")]


def with_catalog(
    ask: Callable[[CatalogService], Awaitable[T]], *, see: str = "", check: Check = require_store
) -> T:
    """Run something with the catalogue of the settings; what it refuses is one line.

    `see` is the command that lists what can be asked for.
    """
    return with_settings(lambda _settings, catalog: ask(catalog), see=see, check=check)


def with_settings(
    ask: Callable[[Settings, CatalogService], Awaitable[T]],
    *,
    see: str = "",
    check: Check = require_store,
) -> T:
    """As `with_catalog`, for what needs the settings, too."""

    async def run(settings: Settings, store: Store) -> T:
        async with service_on(settings, store) as catalog:
            return await ask(settings, catalog)

    try:
        return with_store(run, check=check)
    except NotFound as error:
        hint = f"; see `penstock catalog {see}`" if see else ""
        raise trouble(f"{error}{hint}") from error
    except Conflict as error:
        raise trouble(str(error)) from error
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error


async def time_of(catalog: CatalogService, text: str) -> int:
    """A time of the store (ms) that somebody typed: a span before now, or a date in UTC."""
    return read_time(text, await catalog.now())


def read_frequency(text: str | None) -> int | None:
    """Seconds between two crawls; 0 for never again."""
    if text is None:
        return None
    if text == NEVER:
        return 0
    try:
        return int(read_span(text))
    except SettingsError:
        said = f"'{text}' is no frequency; write 1d, 6h, 30m, or never"
        raise SettingsError(said) from None


def given(**said: Any) -> dict[str, Any]:
    """What was said, without what was left out."""
    return {name: value for name, value in said.items() if value is not None}


def is_sure(number: int, what: str, yes: bool) -> bool:
    """Whether somebody means so many: has said so, or says so when asked."""
    if yes or number <= 1:
        return True
    if not sys.stdin.isatty():
        raise trouble(f"{number} tasks are meant: say --yes to {what} them")
    return typer.confirm(f"{what.capitalize()} {number} tasks?")
