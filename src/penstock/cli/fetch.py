"""`penstock fetch`: any list of URLs, politely."""

import asyncio
import hashlib
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from penstock.app import Platform, build
from penstock.cli.output import ExitCode, complain, safe, stderr, stdout, write_json
from penstock.cli.sources import UrlSource
from penstock.core.errors import SettingsError
from penstock.core.log import configure
from penstock.kernel.model import Outcome, Page, Request, Said
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import Settings, load_settings

EXTENSIONS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/plain": "txt",
    "text/css": "css",
    "application/pdf": "pdf",
    "image/png": "png",
    "image/jpeg": "jpg",
}
KILOBYTE = 1024
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
) -> None:
    """Fetch URLs: admitted, asked of robots, paced, guarded, bounded.

    Prints for each URL what every gate said, with its time, and the result. Exit code 0 if
    every URL gave a page, 1 if not, 130 after Ctrl-C.

        penstock fetch https://example.com/
        penstock fetch -f urls.txt --json --save pages > outcomes.jsonl
    """
    if not urls and not file:
        complain("nothing to fetch: give URLs or -f FILE (see penstock fetch --help)")
        raise typer.Exit(ExitCode.USAGE)
    settings = load_settings()
    configure(settings.log.level)
    wait = settings.fetch.patience_seconds if patience is None else patience
    _prepare_outputs(save, leftovers, metrics)
    options = _Options(_read_headers(header or []), as_json, save, leftovers, metrics, wait)
    with UrlSource(urls or [], file) as source:
        try:
            code = uvloop.run(_Job(settings, options).run(source))
        except (KeyboardInterrupt, asyncio.CancelledError):
            code = ExitCode.INTERRUPTED
    if code:
        raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class _Options:
    """What the command line asked for."""

    headers: dict[str, str]
    as_json: bool
    save: Path | None
    leftovers: Path | None
    metrics: Path | None
    patience: float


class _Job:
    """One run of the command."""

    def __init__(self, settings: Settings, options: _Options) -> None:
        self._settings = settings
        self._options = options
        self._results: Counter[str] = Counter()
        self._failed = 0
        self._bytes = 0
        self._interrupted = False
        self._out = stdout()
        self._progress = _progress(self._out, options.as_json)
        self._bar = self._progress.add_task("fetching", total=0)

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
            with self._progress:
                self._listen_for_signals(crew, source)
                left = await crew.work(requests)
                left += [request async for request in requests]
            self._end(platform, left)
        return self._exit_code(left)

    async def _requests(self, source: UrlSource) -> AsyncIterator[Request]:
        number = 0
        async for url in source.read():
            number += 1
            yield Request(url, id=str(number), headers=self._options.headers)

    def _listen_for_signals(self, crew: Crew, source: UrlSource) -> None:
        loop = asyncio.get_running_loop()

        def interrupt() -> None:
            if self._interrupted:
                crew.abort()
                return
            self._interrupted = True
            stderr().print("finishing what is under way; press Ctrl-C again to stop at once")
            source.stop()
            crew.stop()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)

    def _deliver(self, outcome: Outcome) -> None:
        self._failed += outcome.failure is not None
        self._results[outcome.failure.reason if outcome.failure else "fetched"] += 1
        path = None
        if outcome.page:
            self._bytes += len(outcome.page.body)
            if self._options.save:
                path = self._keep(outcome.page, self._options.save)
        try:
            self._tell(outcome, path)
        except BrokenPipeError:
            # Whoever read our output has seen enough.
            self._interrupted = True
            self._crew.abort()
        crew = self._crew
        self._progress.update(self._bar, total=crew.accepted, completed=crew.finished)

    def _tell(self, outcome: Outcome, path: Path | None) -> None:
        if self._options.as_json:
            write_json({**outcome.as_json(), "saved": str(path) if path else None})
        else:
            self._progress.console.print(_describe(outcome, path))

    def _keep(self, page: Page, folder: Path) -> Path | None:
        """Write a body under the hash of its URL; never under a name from outside."""
        name = hashlib.sha256(page.url.encode()).hexdigest()
        path = folder / f"{name}.{EXTENSIONS.get(page.content_type, 'bin')}"
        part = path.with_suffix(".part")
        try:
            part.write_bytes(page.body)
            part.replace(path)
        except OSError as error:
            self._failed += 1
            complain(f"{path} cannot be written: {error.strerror}")
            return None
        return path

    def _end(self, platform: Platform, left: list[Request]) -> None:
        if self._options.leftovers:
            self._options.leftovers.write_text("".join(f"{request.url}\n" for request in left))
        if self._options.metrics:
            self._options.metrics.write_text(platform.metrics.text())
        if self._options.as_json:
            for request in left:
                write_json({"url": request.url, "request_id": request.id, "status": "not_fetched"})
            sys.stdout.flush()
            return
        fetched = self._results.pop("fetched", 0)
        others = (f", {count} {name}" for name, count in self._results.most_common())
        summary = f"\n{fetched} fetched{''.join(others)}; {_size(self._bytes)}"
        self._out.print(summary, markup=False)
        if left:
            hint = (
                f"see {self._options.leftovers}"
                if self._options.leftovers
                else "--leftovers FILE keeps them"
            )
            self._out.print(f"{len(left)} URLs were not fetched ({hint})", markup=False)

    def _exit_code(self, left: list[Request]) -> ExitCode:
        if self._interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.TROUBLE if left or self._failed else ExitCode.OK


def _prepare_outputs(folder: Path | None, *files: Path | None) -> None:
    """Find out now, not after the work, whether the results can be written."""
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            if file:
                file.open("a").close()
    except OSError as error:
        raise SettingsError(f"{error.filename} cannot be written: {error.strerror}") from error


def _read_headers(texts: list[str]) -> dict[str, str]:
    headers = {}
    for text in texts:
        match = _HEADER.fullmatch(text)
        if not match:
            raise SettingsError(f"'{text}' is not a header; write it as 'Name: value'")
        headers[match[1]] = match[2]
    return headers


def _progress(out: Console, as_json: bool) -> Progress:
    """A bar where people look, and only if they do."""
    console = out if out.is_terminal and not as_json else stderr()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console if console.is_terminal else out,
        disable=not console.is_terminal,
        transient=True,
    )


def _describe(outcome: Outcome, path: Path | None) -> Text:
    """The result of a URL and, below it, what each gate said when."""
    page, failure = outcome.page, outcome.failure
    text = Text()
    if failure:
        text.append(f"✗ {failure.reason}", "red").append(f"  {safe(outcome.request.url)}\n")
        text.append(f"  {safe(str(failure))}\n")
    elif page:
        text.append(f"✓ {page.status}", "green").append(f"  {safe(outcome.request.url)}")
        text.append(f"  {_size(len(page.body))} in {page.seconds:.3f} s\n")
        if page.url != outcome.request.url:
            text.append(f"  from {safe(page.url)}\n")
    if path:
        text.append(f"  kept as {path}\n")
    said = "  ".join(_gate(entry) for entry in outcome.trace)
    return text.append(f"  {said}", "dim")


def _gate(said: Said) -> str:
    return f"{said.at:.3f} {said.gate}: {safe(said.answer)}"


def _size(count: int) -> str:
    if count < KILOBYTE:
        return f"{count} B"
    if count < KILOBYTE * KILOBYTE:
        return f"{count / KILOBYTE:.1f} KB"
    return f"{count / KILOBYTE / KILOBYTE:.1f} MB"
