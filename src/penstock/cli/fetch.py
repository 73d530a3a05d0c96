"""`penstock fetch`: any list of URLs, politely."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Protocol

import typer
import uvloop

from penstock.app import build
from penstock.cli.outcomes import FetchOptions, OutputOptions, Report
from penstock.cli.output import ExitCode, complain
from penstock.cli.signals import on_signals
from penstock.cli.sources import UrlSource
from penstock.core.errors import SettingsError
from penstock.core.log import configure
from penstock.core.memory import prepare_memory
from penstock.kernel.model import Outcome, Request
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import Settings, load_settings

_HEADER = re.compile(r"([^:\s]+)\s*:\s*(.*)")


def fetch(
    urls: Annotated[list[str] | None, typer.Argument(help="URLs to fetch.")] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="A file with one URL a line; - is stdin.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
    save: Annotated[Path | None, typer.Option(help="Keep the bodies in this folder.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", help="'Name: value', sent to the URL's own origin only."),
    ] = None,
    patience: Annotated[
        float | None,
        typer.Option(help="Seconds to wait for a site that is down or closed; default 900."),
    ] = None,
    leftovers: Annotated[
        Path | None, typer.Option(help="Where to write what was not fetched after Ctrl-C.")
    ] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="Write Prometheus metrics here at the end.")
    ] = None,
    durable: Annotated[
        bool,
        typer.Option("--durable", help="Keep URLs and outcomes in the store; run again to resume."),
    ] = False,
) -> None:
    """Fetch URLs: admitted, asked of robots, paced, guarded, bounded.

    Prints for each URL what every gate said, with its time, and the result. Exit code 0 if
    every URL gave a page, 1 if not, 130 after Ctrl-C.

        penstock fetch https://example.com/
        penstock fetch -f urls.txt --json --save pages > outcomes.jsonl
        penstock fetch --durable -f urls.txt     (killed? the same command goes on)
    """
    if not urls and not file:
        complain("nothing to fetch: give URLs or -f FILE (see penstock fetch --help)")
        raise typer.Exit(ExitCode.USAGE)
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    output = OutputOptions(as_json, save, leftovers, metrics)
    output.prepare()
    wait = settings.fetch.patience_seconds if patience is None else patience
    options = FetchOptions(_read_headers(header or []), wait, output)
    with UrlSource(urls or [], file) as source:
        try:
            job = _job(settings, options, durable=durable)
            prepare_memory()
            code = uvloop.run(job.run(source))
        except (KeyboardInterrupt, asyncio.CancelledError):
            code = ExitCode.INTERRUPTED
    if code:
        raise typer.Exit(code)


class Job(Protocol):
    """A run of the command, with a store or without."""

    async def run(self, source: UrlSource) -> ExitCode:
        """Fetch all that the source has."""
        ...


def _job(settings: Settings, options: FetchOptions, *, durable: bool) -> Job:
    if not durable:
        return _Job(settings, options)
    # The store takes a while to import, and most runs do without.
    from penstock.cli.durable import DurableJob  # noqa: PLC0415

    return DurableJob(settings, options)


class _Job:
    """One run of the command."""

    def __init__(self, settings: Settings, options: FetchOptions) -> None:
        self._settings = settings
        self._options = options
        self._report = Report(options.output)
        self._interrupted = False

    async def run(self, source: UrlSource) -> ExitCode:
        limits = self._settings.fetch
        async with build(self._settings) as platform:
            crew = self._crew = Crew(
                platform.pipeline,
                platform.clock,
                self._deliver,
                CrewSettings(limits.workers, limits.max_queued, self._options.patience),
            )
            requests = self._requests(source)
            with self._report.progress:
                self._listen_for_signals(crew, source)
                left = await crew.work(requests)
                left += [request async for request in requests]
            self._report.sum_up(platform.metrics.text(), left)
        return self._exit_code(left)

    async def _requests(self, source: UrlSource) -> AsyncIterator[Request]:
        number = 0
        async for url in source.read():
            number += 1
            yield Request(url, id=str(number), headers=self._options.headers)

    def _listen_for_signals(self, crew: Crew, source: UrlSource) -> None:
        def interrupt() -> None:
            self._interrupted = True
            source.stop()
            crew.stop()

        on_signals(interrupt, crew.abort)

    def _deliver(self, outcome: Outcome) -> None:
        try:
            self._report.show(outcome)
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            self._interrupted = True
            self._crew.abort()
        self._report.move(self._crew.finished, self._crew.accepted)

    def _exit_code(self, left: list[Request]) -> ExitCode:
        if self._interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.TROUBLE if left or self._report.failed else ExitCode.OK


def _read_headers(texts: list[str]) -> dict[str, str]:
    headers = {}
    for text in texts:
        match = _HEADER.fullmatch(text)
        if not match:
            raise SettingsError(f"'{text}' is not a header; write it as 'Name: value'")
        headers[match[1]] = match[2]
    return headers
