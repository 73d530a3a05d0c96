"""`penstock monitor why` and `replay`: what went wrong, and whether it is mended."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.monitoring import AsJson, Source, lines, say, with_monitor
from penstock.cli.output import ExitCode, write_json
from penstock.quality.compare import Change
from penstock.quality.replay import Summary
from penstock.queue.timing import read_span
from penstock.workloads.monitor.replaying import Selection, diff_lines, summary_lines
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.monitor.views import view_why
from penstock.workloads.monitor.why import Explanation, as_text


def why(
    target: Annotated[str, typer.Argument(help="A target, by id or URL.")],
    save: Annotated[
        Path | None, typer.Option(help="Put the last page, and the last good one, in a folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Why a target is as it is: its last result step by step, the last good one beside it."""

    async def look(monitor: MonitorService) -> tuple[Explanation, dict[str, bytes]]:
        found = await monitor.why(target)
        return found, await _pages(monitor, found) if save else {}

    explanation, pages = with_monitor(look)
    saved = _save(pages, save) if save else []
    if as_json:
        write_json({**view_why(explanation), "saved": [str(path) for path in saved]})
        return
    lines(as_text(explanation))
    for path in saved:
        say(f"saved {path}")


async def _pages(monitor: MonitorService, found: Explanation) -> dict[str, bytes]:
    """The pages that are still kept, by the name of a file."""
    results = {"last.html": found.last, "good.html": found.good}
    return {
        name: await monitor.page(looked.id)
        for name, looked in results.items()
        if looked and looked.body
    }


def _save(pages: dict[str, bytes], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / name).write_bytes(page)
    return [folder / name for name in pages]


def replay(
    adapter: Annotated[
        str, typer.Option(help="NAME, or NAME@VERSION of PENSTOCK_EXTRACT__CANDIDATES.")
    ],
    since: Annotated[str, typer.Option(help="Pages of the last 7d, 12h ….")] = "7d",
    source: Source = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Only these targets, by id or URL.")
    ] = None,
    all_pages: Annotated[
        bool, typer.Option("--all", help="Show pages that are read as before, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read kept pages again with an adapter and show what differs. Changes nothing.

    Exit code 1 says that some page is worse than before.
    """
    span = read_span(since)

    async def work(monitor: MonitorService) -> Summary:
        ids = [(await monitor.targets.get(each))["id"] for each in target or []]
        chosen = Selection(
            await monitor.replaying.now() - int(span * 1000),
            await monitor.source_id(source),
            tuple(ids),
        )
        summary = Summary()
        async for page in monitor.replaying.run(adapter, chosen, summary):
            if page.change is Change.SAME and not all_pages:
                continue
            if as_json:
                write_json(page.as_json())
            else:
                lines(diff_lines(page))
        return summary

    summary = with_monitor(work)
    if as_json:
        write_json({"summary": summary.as_json()})
    else:
        lines(summary_lines(adapter, summary))
    if not summary.is_safe:
        raise typer.Exit(ExitCode.TROUBLE)
