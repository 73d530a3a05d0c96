"""Where a command gets its pages: saved files, golden cases, a pipe, or the web."""

import gzip
import site
import sys
import traceback
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import uvloop

import penstock
from penstock.app import build
from penstock.core.errors import SettingsError
from penstock.core.urls import parse
from penstock.extract.golden import HTML, Case, is_case
from penstock.kernel.model import Outcome, Page, Request
from penstock.queue.worker import Crew, CrewSettings
from penstock.settings import Settings

MAX_PAGE_BYTES = 10 * 1024 * 1024
STDIN = "-"

_GZIP = b"\x1f\x8b"
#: Where a fault shows but does not come from, if somebody's adapter is on the way to it.
_NOT_THEIRS = (str(Path(penstock.__file__).parent), *site.getsitepackages())


@dataclass(frozen=True, slots=True)
class Source:
    """A page that somebody named: where it is, its URL, and how to read it."""

    place: str
    url: str
    wanted: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether it has to be fetched."""
        return is_web_address(self.place)


def is_web_address(place: str) -> bool:
    """Whether a page is named by its URL."""
    return place.lower().startswith(("http://", "https://"))


def sources(places: Sequence[str], urls: Sequence[str], wanted: str) -> list[Source]:
    """The pages of a command line; files take the given URLs in order, and each needs one."""
    spare = iter(urls)
    found = [_source(place, spare, wanted) for place in places]
    if left := list(spare):
        raise SettingsError(f"--url {left[0]} belongs to no page; give one --url per saved page")
    return found


def _source(place: str, urls: Iterator[str], wanted: str) -> Source:
    if is_web_address(place):
        return Source(place, place, wanted)
    path = Path(place)
    if is_case(path):
        case = Case.open(path)
        return Source(place, case.meta.url, wanted or case.wanted)
    if place != STDIN and not path.is_file():
        known = "a saved page (.html, .html.gz), a golden case, - or an http(s) URL"
        raise SettingsError(f"there is no {place}; a page is {known}")
    url = next(urls, None)
    if url is None:
        raise SettingsError(f"{place}: say which URL the page came from: --url URL")
    return Source(place, parse(url).href, wanted)


def load(source: Source) -> Page:
    """The page of a file, a golden case or standard input."""
    path = Path(source.place)
    if is_case(path):
        return Case.open(path).page
    return saved_page(source.place, source.url)


def saved_page(place: str, url: str) -> Page:
    """A page in a file, plain or gzip; its encoding is what it says itself."""
    return Page(parse(url).href, 200, {"Content-Type": HTML}, _body(place), 0.0)


def _body(place: str) -> bytes:
    try:
        content = _content(place)
    except OSError as error:
        raise SettingsError(f"{place} cannot be read: {error.strerror}") from error
    if place.endswith(".gz") or content.startswith(_GZIP):
        content = _unpacked(content, place)
    if len(content) > MAX_PAGE_BYTES:
        raise SettingsError(
            f"{place} is larger than {MAX_PAGE_BYTES:,} bytes, the most a page may have"
        )
    return content


def _content(place: str) -> bytes:
    if place == STDIN:
        return sys.stdin.buffer.read(MAX_PAGE_BYTES + 1)
    with Path(place).open("rb") as file:
        return file.read(MAX_PAGE_BYTES + 1)


def _unpacked(content: bytes, place: str) -> bytes:
    try:
        with gzip.open(BytesIO(content)) as file:
            return file.read(MAX_PAGE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SettingsError(f"{place} is not gzip, or damaged: {error}") from error


def fetch_all(settings: Settings, requests: Sequence[Request]) -> dict[str, Outcome]:
    """Walk the whole path for some requests; what became of each, by URL."""
    return uvloop.run(_fetch_all(settings, requests)) if requests else {}


async def _fetch_all(settings: Settings, requests: Sequence[Request]) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}

    def keep(outcome: Outcome) -> None:
        found[outcome.request.url] = outcome

    async def feed() -> AsyncIterator[Request]:
        for request in {request.url: request for request in requests}.values():
            yield request

    workers = min(len(requests), settings.fetch.workers)
    limits = CrewSettings(workers, settings.fetch.max_queued, settings.fetch.patience_seconds)
    async with build(settings) as platform:
        await Crew(platform.pipeline, platform.clock, keep, limits).work(feed())
    return found


def describe_failure(outcome: Outcome) -> str:
    """Why there is no page, in the word for it and in a sentence."""
    failure = outcome.failure
    return f"{failure.reason}: {failure.detail or failure}" if failure else "there is no page"


def describe_fault(error: Exception) -> str:
    """What went wrong inside an adapter, and in which line of which file."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if _is_theirs(frame.filename)]
    frame = (theirs or frames)[-1]
    return f"{type(error).__name__}: {error} ({frame.filename}, line {frame.lineno})"


def _is_theirs(file: str) -> bool:
    return Path(file).is_file() and not file.startswith(_NOT_THEIRS)
