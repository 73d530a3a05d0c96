"""What the commands of the monitor share: the service on a store, and how its answers look."""

import getpass
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, Any, Literal, TypeVar

import typer

from penstock.app.monitor_service import service_on
from penstock.cli.output import ExitCode, complain, print_table, safe, stdout, write_json
from penstock.cli.stores import with_store
from penstock.web.errors import ApiError, Conflict, NotFound
from penstock.workloads.monitor.service import MonitorService

T = TypeVar("T")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, one object per line.")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")]
Source = Annotated[str | None, typer.Option(help="A source, by name or id.")]
AdapterName = Annotated[str | None, typer.Option("--adapter", help="An adapter, by name.")]
Why = Annotated[str, typer.Option("--why", help="The reason; it is kept with the decision.")]


def with_monitor(ask: Callable[[MonitorService], Awaitable[T]]) -> T:
    """Run something with the monitor of the settings; what it refuses is one line."""
    try:
        return with_store(lambda settings, store: ask(service_on(settings, store)))
    except (NotFound, Conflict) as error:
        raise trouble(str(error)) from error
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error


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
    headings = [name.replace("_", " ") for name in columns]
    print_table(title, headings, [[cell(row[name]) for name in columns] for row in rows])


def show_one(row: Mapping[str, Any], as_json: bool) -> None:
    """One view, whole."""
    if as_json:
        write_json(row)
    else:
        print_table("", ("", ""), [(name.replace("_", " "), cell(row[name])) for name in row])


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
