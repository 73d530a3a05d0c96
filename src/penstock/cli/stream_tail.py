"""`penstock stream tail`: the last pages that were fetched, and those that come."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from penstock.app.stream_tail import Tail, TailedPage, open_tail
from penstock.cli.output import safe, stdout, write_json
from penstock.cli.stores import require_store
from penstock.core.clock import SystemClock
from penstock.core.errors import SettingsError
from penstock.core.log import configure
from penstock.settings import Settings, load_settings
from penstock.workloads.stream.model import key_of

#: Bodies are written, and lines shown, so many at a time.
AT_ONCE = 50


def tail(
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as pages come.")] = False,
    number: Annotated[int, typer.Option("-n", min=0, help="How many of the last ones.")] = 10,
    bodies: Annotated[
        Path | None, typer.Option(help="Write bodies to this folder, as files named by their key.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
) -> None:
    """Show the last pages, oldest first, and whether their bodies are still in the cache."""
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    if not settings.stream.uses_servers:
        require_store(settings.store)
    if bodies:
        _make_folder(bodies)
    try:
        uvloop.run(_show_all(settings, number, bodies, follow=follow, as_json=as_json))
    except KeyboardInterrupt:
        return


async def _show_all(
    settings: Settings, number: int, bodies: Path | None, *, follow: bool, as_json: bool
) -> None:
    async with open_tail(settings, SystemClock()) as end:
        await _show(end, await end.last(number), bodies, as_json)
        while follow:
            await _show(end, await end.more(), bodies, as_json)


async def _show(end: Tail, pages: Sequence[TailedPage], bodies: Path | None, as_json: bool) -> None:
    for first in range(0, len(pages), AT_ONCE):
        some = pages[first : first + AT_ONCE]
        kept = await end.cache.kept([page.event.cache_key for page in some])
        for page in some:
            has_body = page.event.cache_key in kept
            if bodies and has_body:
                has_body = await _write(end, page, bodies)
            (_show_json if as_json else _show_line)(page, has_body)
        # Whoever reads our output sees what there is, not what fills a buffer.
        sys.stdout.flush()


async def _write(end: Tail, page: TailedPage, folder: Path) -> bool:
    """Write a body to its file, unless it has just expired."""
    body = await end.cache.get(page.event.cache_key)
    if body is None:
        return False
    # Not by what the event says: a name from outside could lead out of the folder.
    path = folder / key_of(page.event.url)
    try:
        path.write_bytes(body)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}") from error
    return True


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made: {error.strerror}") from error


def _show_json(page: TailedPage, has_body: bool) -> None:
    place: dict[str, Any] = {"partition": page.partition, "offset": page.offset}
    write_json({**place, **page.event.model_dump(mode="json"), "has_body": has_body})


def _show_line(page: TailedPage, has_body: bool) -> None:
    event = page.event
    body = "kept" if has_body else "expired"
    kind = (event.content_type or "-").partition(";")[0]
    stdout().print(
        f"{event.fetched_at:%Y-%m-%d %H:%M:%S}Z  {event.status_code}  {event.content_length:>9}  "
        f"{body:<7}  {safe(kind):<16}  {safe(event.url)}",
        markup=False,
    )
