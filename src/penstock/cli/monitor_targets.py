"""`penstock monitor targets`: the URLs that are watched."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from penstock.cli.monitoring import (
    STDOUT,
    AdapterName,
    AsJson,
    Limit,
    Source,
    say,
    show_one,
    show_rows,
    trouble,
    who,
    with_monitor,
    write_texts,
)
from penstock.cli.output import ExitCode, complain, print_table, safe, stderr, write_json
from penstock.workloads.monitor.drafting import Wanted
from penstock.workloads.monitor.importing import Existing, Format, Plan, Report
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.targets import Filter
from penstock.workloads.monitor.views import view_target

app = typer.Typer(no_args_is_help=True, help="URLs that are watched.")

Target = Annotated[str, typer.Argument(help="A target, by id or URL.")]
TargetList = Annotated[list[str], typer.Argument(help="Targets, by id or URL.")]
Schedule = Annotated[
    str | None, typer.Option(help="A span (6h, 1d) or cron in UTC ('0 6 * * *'); daily if none.")
]
Priority = Annotated[int, typer.Option(help="Higher goes first.")]
COLUMNS = ("url", "source", "adapter_id", "status", "schedule", "last_status", "next_due_at")
MOST_SHOWN = 50
SEE = "targets list"


@app.command()
def add(
    urls: Annotated[list[str], typer.Argument(help="Product pages.")],
    source: Source = None,
    adapter: AdapterName = None,
    schedule: Schedule = None,
    priority: Priority = 0,
    notes: Annotated[str | None, typer.Option(help="For people.")] = None,
    as_json: AsJson = False,
) -> None:
    """Watch URLs. Each is due at once, and then by its schedule, if its source is approved."""

    async def add_all(monitor: MonitorService) -> list[dict[str, Any]]:
        wanted = [Wanted(url, source, adapter, schedule, priority, notes=notes) for url in urls]
        return [view_target(await monitor.targets.add(each, who())) for each in wanted]

    rows = with_monitor(add_all)
    show_rows("Targets", rows, COLUMNS, as_json)
    _tell_what_they_wait_for(rows, as_json)


@app.command("list")
def list_targets(
    source: Source = None,
    adapter: AdapterName = None,
    status: Annotated[TargetStatus | None, typer.Option(help="Only in this status.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--disabled", help="Only these; both by default.")
    ] = None,
    blocked: Annotated[bool, typer.Option("--blocked", help="Only blocked URLs.")] = False,
    url: Annotated[str | None, typer.Option(help="Only URLs with this in them.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List targets, newest first."""

    async def look(monitor: MonitorService) -> tuple[list[dict[str, Any]], dict[str, int]]:
        source_id = await monitor.source_id(source)
        wanted = Filter(
            source_id=source_id,
            adapter=adapter,
            status=status,
            enabled=enabled,
            blocked=blocked or None,
            url=url,
            limit=limit,
        )
        return await monitor.targets.list(wanted), await monitor.targets.counts(source_id)

    found, counts = with_monitor(look)
    rows = [view_target(row) for row in found[:limit]]
    counted = ", ".join(f"{number} {status}" for status, number in counts.items())
    show_rows(f"{counted}; shown {len(rows)}", rows, COLUMNS, as_json)
    _tell_what_they_wait_for(rows, as_json)


@app.command()
def show(target: Target, as_json: AsJson = False) -> None:
    """Show all of a target."""
    found = with_monitor(lambda monitor: monitor.targets.get(target), see=SEE)
    show_one(view_target(found), as_json)


@app.command()
def edit(
    target: Target,
    schedule: Schedule = None,
    no_schedule: Annotated[
        bool, typer.Option("--no-schedule", help="Back to the default schedule.")
    ] = False,
    priority: Annotated[int | None, typer.Option(help="Higher goes first.")] = None,
    notes: Annotated[str | None, typer.Option(help="For people; '' takes them away.")] = None,
    adapter: AdapterName = None,
    as_json: AsJson = False,
) -> None:
    """Change schedule, priority, notes or adapter of a target."""
    changes: dict[str, Any] = {"schedule": schedule, "priority": priority, "adapter": adapter}
    given = {name: value for name, value in changes.items() if value is not None}
    if no_schedule:
        given["schedule"] = None
    if notes is not None:
        given["notes"] = notes or None
    if not given:
        raise trouble("say what to change; see `penstock monitor targets edit --help`")

    async def change(monitor: MonitorService) -> dict[str, Any]:
        found = await monitor.targets.get(target)
        return await monitor.targets.edit(found["id"], who(), **given)

    show_one(view_target(with_monitor(change, see=SEE)), as_json)


@app.command()
def pause(targets: TargetList, as_json: AsJson = False) -> None:
    """Read targets no more until they are resumed; a fetch under way comes to its end."""
    _each(targets, lambda monitor, target: monitor.targets.pause(target, who()), as_json)


@app.command()
def resume(targets: TargetList, as_json: AsJson = False) -> None:
    """Read targets again that were paused, or are BROKEN or STALE; they are due at once."""
    _each(targets, lambda monitor, target: monitor.targets.resume(target, who()), as_json)


@app.command()
def enable(targets: TargetList, as_json: AsJson = False) -> None:
    """Take targets in again that were disabled."""
    _each(targets, lambda monitor, target: monitor.targets.enable(target, who()), as_json)


@app.command()
def disable(targets: TargetList, as_json: AsJson = False) -> None:
    """Leave targets out; they stay with all that is known of them."""
    _each(targets, lambda monitor, target: monitor.targets.disable(target, who()), as_json)


@app.command()
def block(targets: TargetList, as_json: AsJson = False) -> None:
    """Never fetch these URLs, whatever robots allow."""
    _each(targets, lambda monitor, target: monitor.targets.block(target, who()), as_json)


@app.command()
def unblock(targets: TargetList, as_json: AsJson = False) -> None:
    """Take a block back. What robots forbid stays forbidden."""
    _each(targets, lambda monitor, target: monitor.targets.unblock(target, who()), as_json)


@app.command()
def remove(targets: TargetList, as_json: AsJson = False) -> None:
    """Delete targets that were never read; those with results or prices are disabled and kept."""

    async def remove_all(monitor: MonitorService) -> list[dict[str, Any]]:
        removed = []
        for target in targets:
            found = await monitor.targets.get(target)
            removal = await monitor.targets.remove(found["id"], who())
            removed.append({"id": removal.id, "url": found["url"], "note": removal.note})
        return removed

    show_rows("Removed", with_monitor(remove_all, see=SEE), ("id", "url", "note"), as_json)


@app.command()
def requeue(source: Source = None, as_json: AsJson = False) -> None:
    """Let STALE targets be due again: they waited in the queue for more than a day."""

    async def work(monitor: MonitorService) -> int:
        source_id = await monitor.source_id(source)
        return await monitor.targets.requeue(who(), source_id=source_id)

    number = with_monitor(work)
    if as_json:
        write_json({"requeued": number})
    else:
        say(f"{number} targets are due again")


@app.command("import")
def import_targets(
    file: Annotated[Path, typer.Argument(help="A CSV or JSON file; - reads standard input.")],
    file_format: Annotated[
        Format | None, typer.Option("--format", help="By the name of the file if not said.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    existing: Annotated[
        Existing, typer.Option(help="What to do about URLs that are targets already.")
    ] = Existing.REFUSE,
    url_column: Annotated[
        str | None,
        typer.Option(help="For an affiliate feed: the column with the shop's own URLs."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Between the columns; guessed from the header if not said.")
    ] = None,
    source: Source = None,
    adapter: AdapterName = None,
    schedule: Schedule = None,
    priority: Priority = 0,
    as_json: AsJson = False,
) -> None:
    """Add all targets of a file, or none of them if anything is wrong.

    The columns are url, source, adapter, schedule, priority, status, enabled,
    robots_path_blocked and notes; only url is needed. JSON is an array of objects with these
    names, or one object a line. Options hold for lines that do not say otherwise.
    """
    plan = Plan(
        format=file_format or _format_of(file),
        defaults=Wanted("", source, adapter, schedule, priority),
        url_column=url_column,
        delimiter=delimiter.replace("\\t", "\t") if delimiter else None,
        existing=existing,
        dry_run=dry_run,
    )
    text = _read(file)
    with Progress(console=stderr(), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("Reading", total=text.count("\n") + 1)
        report = with_monitor(
            lambda monitor: monitor.importer.load(
                text, plan, who(), lambda done: progress.update(task, completed=done)
            )
        )
    _show_report(report, as_json)


@app.command("export")
def export_targets(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; standard output if not said.")
    ] = None,
    file_format: Annotated[
        Format | None, typer.Option("--format", help="By the name of the file if not said.")
    ] = None,
    source: Source = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Write targets to a file that `import` takes back in as they were.

    In CSV, an apostrophe stands before text that a spreadsheet would take for a formula; an
    import takes it away again.
    """
    chosen = Format.JSON if as_json else file_format or _format_of(file or Path("-.csv"))

    async def write(monitor: MonitorService) -> None:
        source_id = await monitor.source_id(source)
        exporter = monitor.exporter
        is_csv = chosen is Format.CSV
        texts = exporter.csv(source_id) if is_csv else exporter.json_lines(source_id)
        await write_texts(texts, file or STDOUT)

    with_monitor(write)


def _each(
    targets: list[str],
    act: Callable[[MonitorService, str], Awaitable[dict[str, Any]]],
    as_json: bool,
) -> None:
    async def all_of_them(monitor: MonitorService) -> list[dict[str, Any]]:
        # Looked up first: if one is not known, none is changed.
        found = [await monitor.targets.get(target) for target in targets]
        return [view_target(await act(monitor, target["id"])) for target in found]

    rows = with_monitor(all_of_them, see=SEE)
    show_rows("Targets", rows, COLUMNS, as_json)
    _tell_what_they_wait_for(rows, as_json)


def _tell_what_they_wait_for(rows: list[dict[str, Any]], as_json: bool) -> None:
    """Say why some of them will not be read, each reason once."""
    if as_json:
        return
    for reason in dict.fromkeys(row["waits_for"] for row in rows if row["waits_for"]):
        number = sum(row["waits_for"] == reason for row in rows)
        stderr().print(f"{number} not read: {safe(reason)}", markup=False)
        if "terms of service" in reason:
            source = next(row["source"] for row in rows if row["waits_for"] == reason)
            stderr().print(
                f"  when you have read them: penstock monitor sources approve '{safe(source)}'",
                markup=False,
            )


def _format_of(file: Path) -> Format:
    return Format.JSON if file.suffix.lower() in (".json", ".jsonl", ".ndjson") else Format.CSV


def _read(file: Path) -> str:
    try:
        if str(file) == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise trouble(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise trouble(f"{file} is not UTF-8: see line {line}") from error


def _show_report(report: Report, as_json: bool) -> None:
    if as_json:
        write_json(report.as_json())
    else:
        if report.problems:
            rows = [(str(each.line), each.url, each.problem) for each in report.problems]
            print_table("Problems", ("line", "url", "problem"), rows[:MOST_SHOWN])
        would = "would be added" if report.dry_run else "added"
        skipped = f", {report.skipped} skipped" if report.skipped else ""
        say(f"{report.lines} lines: {report.added} {would}{skipped}")
    if report.problems:
        more = len(report.problems) - MOST_SHOWN
        hint = f"; {more} more with --json" if more > 0 and not as_json else ""
        complain(f"{len(report.problems)} lines cannot be imported: nothing was added{hint}")
        raise typer.Exit(ExitCode.TROUBLE)
