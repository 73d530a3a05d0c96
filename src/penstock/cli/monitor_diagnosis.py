"""`penstock monitor why` and `replay`: what went wrong, and whether it is mended."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.monitoring import (
    AsJson,
    PagesSince,
    Source,
    lines,
    say,
    time_of,
    with_monitor,
)
from penstock.cli.output import ExitCode, write_json
from penstock.quality.compare import Change
from penstock.quality.replay import Replayed, Summary
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

    explanation, pages = with_monitor(look, see="targets list")
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
    since: PagesSince = "7d",
    source: Source = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Only these targets, by id or URL.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many pages at most, the oldest first.")
    ] = None,
    all_pages: Annotated[
        bool, typer.Option("--all", help="Show pages that are read as before, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read kept pages again with an adapter and show what differs. Changes nothing.

    Exit code 1 says that some page is worse than before.
    """

    async def work(monitor: MonitorService) -> tuple[Summary, bool]:
        ids = [(await monitor.targets.get(each))["id"] for each in target or []]
        source_id = await monitor.source_id(source)
        chosen = Selection(await time_of(monitor, since), source_id, tuple(ids))
        shown, read, is_complete = Summary(), Summary(), True
        async for page in monitor.replaying.run(adapter, chosen, read):
            # It is known only of the next page that there are more.
            if shown.pages == limit:
                is_complete = False
                break
            shown.add(page.comparison)
            if all_pages or page.change is not Change.SAME:
                _show_page(page, as_json)
        shown.lost = read.lost
        return shown, is_complete

    summary, is_complete = with_monitor(work)
    if as_json:
        write_json({"summary": {**summary.as_json(), "is_complete": is_complete}})
    else:
        lines(summary_lines(adapter, summary))
        if not is_complete:
            say(f"There are more pages; these are the {limit} oldest.")
    if not summary.is_safe:
        raise typer.Exit(ExitCode.TROUBLE)


def _show_page(page: Replayed, as_json: bool) -> None:
    if as_json:
        write_json(page.as_json())
    else:
        lines(diff_lines(page))
