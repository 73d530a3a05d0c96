"""Outcomes as a command shows them: one by one, with a bar while there is more, and in sum."""

import hashlib
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from penstock.cli.output import complain, safe, stderr, stdout, write_json
from penstock.core.errors import SettingsError
from penstock.kernel.model import Outcome, Page, Request, Said

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


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is shown how, and kept where."""

    as_json: bool
    save: Path | None
    leftovers: Path | None
    metrics: Path | None

    def prepare(self) -> None:
        """Find out now, not after the work, whether the results can be written."""
        try:
            if self.save:
                self.save.mkdir(parents=True, exist_ok=True)
            for file in (self.leftovers, self.metrics):
                if file:
                    file.open("a").close()
        except OSError as error:
            raise SettingsError(f"{error.filename} cannot be written: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """What the command line asked for."""

    headers: dict[str, str]
    patience: float
    output: OutputOptions


class Report:
    """Shows outcomes as they come, and counts them."""

    def __init__(self, options: OutputOptions) -> None:
        self._options = options
        self._results: Counter[str] = Counter()
        self._bytes = 0
        self._out = stdout()
        self._bar_of = _progress(self._out, options.as_json)
        self._bar = self._bar_of.add_task("fetching", total=0)
        self.failed = 0

    @property
    def progress(self) -> Progress:
        """The bar; shown while it is entered."""
        return self._bar_of

    def show(self, outcome: Outcome) -> None:
        """Keep the body, if wanted, and tell of an outcome."""
        self.failed += outcome.failure is not None
        self._results[outcome.failure.reason if outcome.failure else "fetched"] += 1
        path = None
        if outcome.page:
            self._bytes += len(outcome.page.body)
            path = self._keep(outcome.page)
        if self._options.as_json:
            write_json({**outcome.as_json(), "saved": str(path) if path else None})
        else:
            self._bar_of.console.print(_describe(outcome, path))

    def move(self, done: int, total: int) -> None:
        """Move the bar."""
        self._bar_of.update(self._bar, total=total, completed=done)

    def _keep(self, page: Page) -> Path | None:
        """Write a body under the hash of its URL; never under a name from outside."""
        if self._options.save is None:
            return None
        name = hashlib.sha256(page.url.encode()).hexdigest()
        path = self._options.save / f"{name}.{EXTENSIONS.get(page.content_type, 'bin')}"
        part = path.with_suffix(".part")
        try:
            part.write_bytes(page.body)
            part.replace(path)
        except OSError as error:
            self.failed += 1
            complain(f"{path} cannot be written: {error.strerror}")
            return None
        return path

    def sum_up(self, metrics: str, left: list[Request]) -> None:
        """What was fetched and what was not."""
        options = self._options
        if options.leftovers:
            options.leftovers.write_text("".join(f"{request.url}\n" for request in left))
        if options.metrics:
            options.metrics.write_text(metrics)
        if options.as_json:
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
                f"see {options.leftovers}" if options.leftovers else "--leftovers FILE keeps them"
            )
            self._out.print(f"{len(left)} URLs were not fetched ({hint})", markup=False)

    def say(self, line: str) -> None:
        """A line for people."""
        if not self._options.as_json:
            self._out.print(line, markup=False)


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
