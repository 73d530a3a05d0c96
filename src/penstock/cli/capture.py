"""`penstock capture`: a page becomes a golden case."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.app import open_reader
from penstock.cli.output import ExitCode, complain, safe, stdout, write_json
from penstock.cli.pages import Source, describe_failure, describe_fault, fetch_all, load, sources
from penstock.cli.readings import is_trusted, print_reading
from penstock.core.clock import SystemClock
from penstock.core.errors import PenstockError, SettingsError
from penstock.core.log import configure
from penstock.extract.golden import (
    EXPECTED,
    META,
    PAGE,
    Case,
    case_folder,
    comparable,
    save_case,
    split_name,
)
from penstock.extract.registry import KINDS, open_registry
from penstock.kernel.model import Page, Request
from penstock.kernel.reading import Reading
from penstock.settings import Settings, load_settings


def capture(
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="The page to keep.")],
    name: Annotated[str, typer.Option("--as", metavar="NAME/CASE", help="What to call it.")],
    url: Annotated[str, typer.Option(help="Where a saved page came from.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a case of this name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Keep a page as a golden case: the page, where it came from, and what is read from it now.

    A URL is fetched politely; no cookies or headers are kept. If NAME is an adapter or a target
    type, the case is read with it; else the URL decides. Look at what was read: `penstock adapter
    test` will compare with it from now on.

        penstock capture https://myshop.example/lamp --as myshop/lamp
        penstock capture lamp.html.gz --url https://myshop.example/lamp --as myshop/lamp
    """
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    folder = case_folder(settings.extract.golden, name)
    if folder.exists() and not force:
        raise SettingsError(f"{folder} exists; choose another name, or replace it with --force")
    [source] = sources([page], [url] if url else [], "")
    got = _get(source, settings)
    case = save_case(
        settings.extract.golden, name, got, _wanted(name, settings), SystemClock().now()
    )
    reading = _expect(case, settings)
    if as_json:
        read = reading and reading.as_json()
        write_json({"case": case.name, "folder": str(case.folder), "reading": read})
    else:
        _tell(case, reading)


def _get(source: Source, settings: Settings) -> Page:
    if not source.is_remote:
        return load(source)
    outcome = fetch_all(settings, [Request(source.place)])[source.place]
    if outcome.page is None or outcome.failure:
        complain(f"{source.place}: {describe_failure(outcome)}")
        raise typer.Exit(ExitCode.TROUBLE)
    return outcome.page


def _wanted(name: str, settings: Settings) -> str:
    """The adapter or target type that a case's name stands for, if it does."""
    group, _ = split_name(name)
    registry = open_registry(settings.extract.adapters)
    return group if group in KINDS or registry.get(group) else ""


def _expect(case: Case, settings: Settings) -> Reading | None:
    """Read the case and expect the same from now on; nothing if the adapter fails on it."""
    (case.folder / EXPECTED).unlink(missing_ok=True)
    try:
        reading = open_reader(settings).read(case.page, case.wanted)
    except PenstockError:
        raise
    except Exception as error:  # an adapter may be anybody's; the page is worth keeping
        complain(f"the adapter failed: {describe_fault(error)}")
        return None
    case.accept(comparable(reading))
    return reading


def _tell(case: Case, reading: Reading | None) -> None:
    out = stdout()
    if reading:
        print_reading(reading, case.meta.url)
    out.print(safe(f"kept in {_relative(case.folder)}: {PAGE}, {META}, {EXPECTED}"), markup=False)
    if reading is None or not is_trusted(reading):
        group, _ = split_name(case.name)
        out.print(
            "The page gives no record to trust yet. Write an adapter for it:\n"
            f"  penstock adapter new {group} --from {case.name}",
            markup=False,
        )


def _relative(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
