"""What the commands of the monitor share: the service on a store, and how its answers look."""

import getpass
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, Literal, TypeVar

import typer

from penstock.app.monitor_service import service_on
from penstock.cli.output import ExitCode, complain, print_table, safe, stdout, write_json
from penstock.cli.stores import Check, require_store, with_store
from penstock.core.errors import SettingsError
from penstock.queue.timing import read_span
from penstock.web.errors import ApiError, Conflict, NotFound
from penstock.workloads.monitor.service import MonitorService

T = TypeVar("T")
#: Columns that are never folded: what stands there is copied to the next command.
WHOLE = frozenset({"id", "price_id", "adapter_id"})
#: The name of a file that is none.
STDOUT = Path("-")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, one object per line.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")]
LimitIfSaid = Annotated[
    int | None, typer.Option(min=1, help="At most so many; of a file there is no limit but this.")
]
Source = Annotated[str | None, typer.Option(help="A source, by name or id.")]
OfTarget = Annotated[str | None, typer.Option("--target", help="A target, by id or URL.")]
OfProduct = Annotated[
    str | None, typer.Option("--product", help="A product, by id; see `prices products`.")
]
OfRun = Annotated[str | None, typer.Option("--run", help="A run, by id; see `runs list`.")]
PagesSince = Annotated[str, typer.Option(help="Pages of the last 7d, 12h …; or since 2026-03-01.")]
AdapterName = Annotated[str | None, typer.Option("--adapter", help="An adapter, by name.")]
Why = Annotated[str, typer.Option("--why", help="The reason; it is kept with the decision.")]


def with_monitor(
    ask: Callable[[MonitorService], Awaitable[T]], *, see: str = "", check: Check = require_store
) -> T:
    """Run something with the monitor of the settings; what it refuses is one line.

    `see` is the command that lists what can be asked for.
    """
    try:
        return with_store(lambda settings, store: ask(service_on(settings, store)), check=check)
    except NotFound as error:
        hint = f"; see `penstock monitor {see}`" if see else ""
        raise trouble(f"{error}{hint}") from error
    except Conflict as error:
        raise trouble(str(error)) from error
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error


async def target_id(monitor: MonitorService, id_or_url: str | None) -> str | None:
    """The id of a target that may be named; nothing for nothing."""
    if id_or_url is None:
        return None
    found: str = (await monitor.targets.get(id_or_url))["id"]
    return found


async def time_of(monitor: MonitorService, text: str) -> int:
    """A time of the store (ms) that somebody typed: a span before now, or a date in UTC."""
    return read_time(text, await monitor.replaying.now())


def read_time(text: str, now: int, *, ahead: bool = False) -> int:
    """A time (ms) that somebody typed: a span before now, or ahead of it, or a date in UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        seconds = _read_seconds(text, "from now" if ahead else "before now")
        return now + int(seconds * 1000) * (1 if ahead else -1)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def _read_seconds(span: str, counted: str) -> float:
    try:
        return read_span(span)
    except SettingsError:
        said = f"'{span}' is no time; write 7d or 12h ({counted}), 2026-03-01 or 2026-03-01T12:00"
        raise SettingsError(said) from None


def trouble(message: str) -> typer.Exit:
    """Say what is wrong; raise what this gives."""
    complain(message)
    return typer.Exit(ExitCode.TROUBLE)


def who() -> str:
    """Who is at the terminal, as far as the system knows."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


def say(text: str) -> None:
    """One line for people."""
    stdout().print(text, markup=False)


def show_rows(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    as_json: bool,
) -> None:
    """Rows of views: all of each as JSON, or some columns as a table."""
    if as_json:
        for row in rows:
            write_json(row)
        return
    headings = [_in_words(name) for name in columns]
    cells = [[_short(name, row[name]) for name in columns] for row in rows]
    print_table(title, headings, cells, whole=[_in_words(name) for name in WHOLE])


def show_one(row: Mapping[str, Any], as_json: bool) -> None:
    """One view, whole."""
    if as_json:
        write_json(row)
    else:
        print_table("", ("", ""), [(_in_words(name), cell(row[name])) for name in row])


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _short(name: str, value: Any) -> str:
    """A value for a table of many: a time to the second, in words that can stand on two lines."""
    text = cell(value)
    return f"{text[:19].replace('T', ' ')}Z" if text and name.endswith("_at") else text


def cell(value: Any) -> str:
    """A value for people."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{name}={cell(each)}" for name, each in value.items())
        case list() | tuple():
            return ", ".join(cell(each) for each in value)
        case _:
            return str(value)


def lines(texts: Iterable[str]) -> None:
    """Lines of text, none of which can steer the terminal."""
    for text in texts:
        say(safe(text))


def open_to_write(file: Path, mode: Literal["w", "wb"]) -> IO[Any]:
    """A file that is made anew."""
    try:
        if mode == "wb":
            return file.open(mode)
        # Ends of lines are written as they are.
        return file.open(mode, encoding="utf-8", newline="")
    except OSError as error:
        raise trouble(f"{file} cannot be written: {error.strerror}") from error


async def write_texts(texts: AsyncIterator[str], file: Path) -> None:
    """Write texts to a file that is made anew, as they come; - prints them."""
    if file == STDOUT:
        async for text in texts:
            sys.stdout.write(text)
        return
    with open_to_write(file, "w") as opened:
        async for text in texts:
            opened.write(text)
