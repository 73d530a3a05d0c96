"""`penstock extract`: from a page to a record, or to the reason why not."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.app import open_reader
from penstock.cli.manifest import Manifest, run_manifest
from penstock.cli.output import ExitCode, complain, write_json
from penstock.cli.pages import Source, describe_failure, describe_fault, fetch_all, load, sources
from penstock.cli.readings import (
    error_json,
    is_trusted,
    print_explained,
    print_reading,
    reading_json,
)
from penstock.core.errors import PenstockError, SettingsError
from penstock.core.log import configure
from penstock.core.urls import parse
from penstock.extract.registry import open_registry
from penstock.kernel.model import Outcome, Request
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading
from penstock.settings import Settings, load_settings


def extract(
    pages: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAGE",
            help="Saved pages (.html, .html.gz), golden cases, - for stdin, or http(s) URLs.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(help="Where a saved page came from; repeat it in the order of the pages."),
    ] = None,
    wanted: Annotated[
        str,
        typer.Option(
            "--as",
            help="product, job_posting, company_website, linkedin_profile or an adapter's id; "
            "without it the URL decides.",
        ),
    ] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Say where each field came from, and why so.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
    manifest: Annotated[
        str, typer.Option(help='A file of {"path", "url", "as"} lines; - is stdin.')
    ] = "",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Where the lines of a manifest go.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes for a manifest; default: all cores.")
    ] = None,
) -> None:
    """Read pages: the record of each, and whether it can be trusted.

    A page that is a URL is fetched first, politely. Exit code 1 if a page gave no record that
    can be trusted; with --manifest, whose lines say that themselves, if a line could not be read.

        penstock extract lamp.html.gz --url https://shop.example/lamp --explain
        penstock extract https://shop.example/lamp --as product --json
        penstock extract --manifest pages.jsonl -o records.jsonl
    """
    _check_usage(pages, manifest, [out, jobs])
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    if manifest:
        count = jobs or os.cpu_count() or 1
        code = run_manifest(Manifest(manifest, out, wanted, explain, count), settings)
    else:
        named = sources(pages or [], url or [], wanted)
        code = _Job(settings, open_reader(settings), explain, as_json).run(named)
    if code:
        raise typer.Exit(code)


def _check_usage(pages: list[str] | None, manifest: str, for_manifest: list[Any]) -> None:
    if not pages and not manifest:
        raise SettingsError("nothing to read: give pages or --manifest FILE (see --help)")
    if pages and manifest:
        raise SettingsError("give pages or --manifest FILE, not both")
    if not manifest and any(for_manifest):
        raise SettingsError("-o and --jobs go with --manifest; for pages, redirect the output")


@dataclass(frozen=True, slots=True)
class _Job:
    """One run of the command on pages."""

    settings: Settings
    reader: Reader
    explain: bool
    as_json: bool

    def run(self, named: list[Source]) -> ExitCode:
        """Read and show every page, in order."""
        remote = [Request(one.place, extract=one.wanted) for one in named if one.is_remote]
        outcomes = fetch_all(self.settings, remote)
        well = True
        for source in named:
            if source.is_remote:
                well &= self._show_outcome(source, outcomes[source.place])
            else:
                well &= self._show_saved(source)
        return ExitCode.OK if well else ExitCode.TROUBLE

    def _show_outcome(self, source: Source, outcome: Outcome) -> bool:
        """Say what became of a URL; whether its record can be trusted."""
        if outcome.page is None or outcome.reading is None:
            return self._say_error(source, describe_failure(outcome))
        self._say(outcome.page.url, source.wanted, outcome.reading)
        return is_trusted(outcome.reading)

    def _show_saved(self, source: Source) -> bool:
        """Read a saved page and say what it gave; whether that can be trusted."""
        try:
            page = load(source)
        except SettingsError as error:
            return self._say_error(source, str(error))
        try:
            reading = self.reader.read(page, source.wanted)
        except PenstockError:
            raise
        except Exception as error:  # an adapter may be anybody's, and other pages wait
            return self._say_error(source, f"the adapter failed: {describe_fault(error)}")
        self._say(page.url, source.wanted, reading)
        return is_trusted(reading)

    def _say(self, url: str, wanted: str, reading: Reading) -> None:
        if self.as_json:
            write_json(reading_json(reading, url, explain=self.explain))
        elif self.explain:
            registry = open_registry(self.settings.extract.adapters)
            print_explained(reading, url, registry.choose(parse(url), wanted).why)
        else:
            print_reading(reading, url)

    def _say_error(self, source: Source, problem: str) -> bool:
        if self.as_json:
            write_json(error_json(source.place, source.url, problem))
        else:
            complain(problem if source.place in problem else f"{source.place}: {problem}")
        return False
