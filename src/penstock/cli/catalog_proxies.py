"""`penstock catalog proxies`: what requests leave through, how it does, and what it costs."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from penstock.app.proxies import proxies_on
from penstock.cli.monitoring import AsJson, say, show_one, show_rows, trouble, who
from penstock.cli.output import ExitCode, complain, print_table, write_json
from penstock.cli.stores import Check, any_place, require_store, with_store
from penstock.kernel.proxies import FORM, read_proxy
from penstock.store.proxies import Filter, Origin
from penstock.web.errors import ApiError, Conflict, NotFound
from penstock.workloads.catalog.proxies import Proxies, Report
from penstock.workloads.catalog.proxy_routes import view_proxy

app = typer.Typer(no_args_is_help=True, help="Proxies: what requests leave through.")

T = TypeVar("T")
Ids = Annotated[list[str], typer.Argument(help="Proxies, by id; see `proxies list`.")]
STDIN = Path("-")
HEADINGS = ("id", "proxy", "region", "state", "good", "bad", "ms", "MB", "cost")


@app.command("list")
def list_proxies(
    active: Annotated[
        bool | None, typer.Option("--active/--inactive", help="Only these; both by default.")
    ] = None,
    healthy: Annotated[
        bool | None, typer.Option("--healthy/--unhealthy", help="Only these; both by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List proxies, newest first, with what was counted of them."""
    found = _with_proxies(lambda proxies: proxies.list(Filter(active, healthy)))
    _show(f"{len(found)} proxies", [view_proxy(row) for row in found], as_json)


@app.command()
def add(
    endpoint: Annotated[
        str,
        typer.Argument(
            help="http, https or socks5://[user:password@]host:port[#region]; - reads it from "
            "standard input, where no password stays in the history of a shell."
        ),
    ],
    cost_per_gb_micros: Annotated[
        int | None, typer.Option(min=0, help="What a gigabyte costs, in millionths.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a proxy. Every process of the store uses it within seconds."""
    proxy = read_proxy(sys.stdin.readline() if endpoint == "-" else endpoint)
    if proxy is None:
        complain(FORM)
        raise typer.Exit(ExitCode.USAGE)
    row = _with_proxies(
        lambda proxies: proxies.add(proxy, who(), cost_per_gb_micros), check=any_place
    )
    show_one(view_proxy(row), as_json)


@app.command("import")
def import_proxies(
    file: Annotated[Path, typer.Argument(help="One proxy a line; - reads standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add all proxies of a file that are not there yet, or none if a line is wrong."""
    text = _read(file)
    report = _with_proxies(
        lambda proxies: proxies.load(text, who(), dry_run=dry_run), check=any_place
    )
    _show_report(report, as_json)
    if report.problems:
        raise typer.Exit(ExitCode.TROUBLE)


@app.command("test")
def check(
    ids: Annotated[list[str] | None, typer.Argument(help="Proxies, by id.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Connect to proxies once. Those that accept are healthy, the others are not."""
    if bool(ids) == every:
        raise trouble("name proxies, or say --all")

    async def test_each(proxies: Proxies) -> list[dict[str, Any]]:
        rows = await proxies.list() if every else [await proxies.get(name) for name in ids or ()]
        tested = [await proxies.test(row["id"]) for row in rows]
        return [asdict(each) for each in tested]

    rows = _with_proxies(test_each)
    show_rows("Tested", rows, ("id", "ok", "problem"), as_json)
    if not all(row["ok"] for row in rows):
        raise typer.Exit(ExitCode.TROUBLE)


@app.command()
def enable(ids: Ids, as_json: AsJson = False) -> None:
    """Let proxies be chosen again."""
    _each(ids, lambda proxies, name: proxies.enable(name, who()), as_json)


@app.command()
def disable(ids: Ids, as_json: AsJson = False) -> None:
    """Choose proxies no more until they are enabled."""
    _each(ids, lambda proxies, name: proxies.disable(name, who()), as_json)


@app.command()
def remove(ids: Ids, as_json: AsJson = False) -> None:
    """Forget proxies and what was counted of them; those of the settings are disabled instead."""
    _each(ids, lambda proxies, name: proxies.remove(name, who()), as_json)


@app.command("rotate-keys")
def rotate_keys(as_json: AsJson = False) -> None:
    """Encrypt every password with the first key of PENSTOCK_PROXIES__ENCRYPTION_KEYS.

    Put the new key before the old one there, restart what runs, run this, then take the old one
    out.
    """
    rotation = _with_proxies(lambda proxies: proxies.rotate_keys())
    if as_json:
        write_json(asdict(rotation))
    else:
        say(f"{rotation.rotated} passwords are encrypted with the first key")
    if rotation.lost:
        raise trouble(f"no key opens the passwords of {', '.join(rotation.lost)}: set them anew")


def _each(
    ids: list[str], act: Callable[[Proxies, str], Awaitable[dict[str, Any]]], as_json: bool
) -> None:
    async def act_on_all(proxies: Proxies) -> list[dict[str, Any]]:
        return [view_proxy(await act(proxies, name)) for name in ids]

    _show("Proxies", _with_proxies(act_on_all), as_json)


def _show(title: str, rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        for row in rows:
            write_json(row)
        return
    print_table(title, HEADINGS, [_cells(row) for row in rows], whole=("id",))
    for row in rows:
        if row["problem"]:
            say(f"{row['id']}: {row['problem']}")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    cost, average = row["cost_micros"], row["avg_response_time_ms"]
    return (
        row["id"],
        f"{row['proxy_protocol']}://{row['proxy_url']}:{row['proxy_port']}",
        row["region"] or "",
        _state(row),
        str(row["success_count"]),
        str(row["total_failures"]),
        "" if average is None else str(average),
        f"{row['bytes_carried'] / 1e6:.1f}",
        "" if cost is None else f"{cost / 1e6:.2f}",
    )


def _state(row: dict[str, Any]) -> str:
    if row["problem"]:
        return "unusable"
    if not row["is_active"]:
        return "retired" if row["origin"] == Origin.RETIRED else "inactive"
    return "healthy" if row["is_healthy"] else "unhealthy"


def _with_proxies(ask: Callable[[Proxies], Awaitable[T]], *, check: Check = require_store) -> T:
    """Run something with the proxies of the settings' store; what is refused is one line."""
    try:
        return with_store(lambda settings, store: ask(proxies_on(settings, store)), check=check)
    except NotFound as error:
        raise trouble(f"{error}; see `penstock catalog proxies list`") from error
    except Conflict as error:
        raise trouble(str(error)) from error
    except ApiError as error:
        complain(str(error))
        raise typer.Exit(ExitCode.USAGE) from error


def _read(file: Path) -> str:
    if file == STDIN:
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise trouble(f"{file} cannot be read: {why}") from None


def _show_report(report: Report, as_json: bool) -> None:
    if as_json:
        write_json(asdict(report))
        return
    done = "would be added" if report.dry_run else "added"
    say(f"{report.lines} proxies: {report.added} {done}, {report.skipped} there already")
    if report.problems:
        rows = [(str(each.line), each.problem) for each in report.problems]
        print_table("Nothing was added", ("line", "problem"), rows)
