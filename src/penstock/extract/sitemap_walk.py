"""A walk through the sitemaps of a site: each file goes the path of any URL, politely.

It starts at a sitemap, or at a robots.txt and the sitemaps that this names. Depth, files, URLs,
bytes and time are bounded; what could not be had, and why, is in the report.
"""

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import datetime

from penstock.core.clock import Clock
from penstock.core.urls import Url, parse
from penstock.extract.page.sitemap import (
    MAX_BYTES,
    MAX_ENTRIES,
    Entry,
    Sitemap,
    SitemapReader,
    sitemaps_in_robots,
)
from penstock.kernel.model import Failure, Outcome, Page, Refused, Request, SiteWide, Visit
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.robots import is_robots_txt

#: More troubles than this are counted and not kept.
MAX_TROUBLES = 100
#: What a walk that met no more than this may meet once more when it is repeated soon.
PASSING_GATES = frozenset({"hours", "breaker", "pacing", "retry", "pause", "timeout"})


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """How far a walk goes; an index in an index in the first file is of depth 2."""

    depth: int = 3
    files: int = 1000
    urls: int = 1_000_000
    file_bytes: int = MAX_BYTES
    file_urls: int = MAX_ENTRIES
    all_bytes: int = 1024 * 1024 * 1024
    seconds: float = 3600.0


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file that could not be had or read to its end."""

    url: str
    failure: Failure

    @property
    def may_pass(self) -> bool:
        """Whether it is worth while to try again soon."""
        failure = self.failure
        is_gate = isinstance(failure, Refused) and failure.gate in PASSING_GATES
        return failure.retriable or is_gate or failure.reason == "robots_unreachable"

    def __str__(self) -> str:
        return f"{self.url}: {self.failure}"


@dataclass(slots=True)
class WalkReport:
    """What a walk has seen so far; `cut` names the limit that ended it."""

    files: int = 0
    urls: int = 0
    bytes_read: int = 0
    unusable: int = 0
    #: URLs of other sites, files and URLs that are too old, and URLs that do not say how old.
    elsewhere: int = 0
    old: int = 0
    undated: int = 0
    cut: str = ""
    troubles: list[Trouble] = field(default_factory=list)

    def note(self, url: str, failure: Failure) -> None:
        """Write down a file that could not be had or read to its end."""
        if len(self.troubles) < MAX_TROUBLES:
            self.troubles.append(Trouble(url, failure))


@dataclass(frozen=True, slots=True)
class _File:
    url: Url
    depth: int


class SitemapWalk:
    """One walk; only URLs of the site where it starts are given, unless `any_site` is set."""

    def __init__(
        self,
        pipeline: Pipeline,
        clock: Clock,
        *,
        workload: str,
        limits: WalkLimits = WalkLimits(),  # noqa: B008 - it is frozen
        since: datetime | None = None,
        any_site: bool = False,
    ) -> None:
        self.report = WalkReport()
        self._pipeline = pipeline
        self._clock = clock
        self._workload = workload
        self._limits = limits
        self._since = since
        self._any_site = any_site
        self._deadline = clock.monotonic() + limits.seconds
        self._ahead: deque[_File] = deque()
        self._seen: set[str] = set()

    async def entries(self, start: str) -> AsyncGenerator[Entry, None]:
        """The pages that the sitemaps list, file by file; a page may come twice."""
        first = parse(start)
        for url in await self._begin(first):
            self._add(url, 0)
        while self._ahead:
            file = self._ahead.popleft()
            if not self._may_go_on():
                return
            sitemap = await self._read(file)
            self._look_ahead(file, sitemap, first.domain)
            for entry in sitemap.entries:
                if self._is_wanted(entry, first.domain):
                    if self.report.urls == self._limits.urls:
                        self.report.cut = "urls"
                        return
                    self.report.urls += 1
                    yield entry

    async def _begin(self, start: Url) -> tuple[Url, ...]:
        """Where the walk starts: a robots.txt that names no sitemap means the usual place."""
        if not is_robots_txt(start.target):
            return (start,)
        request = Request(start.href, workload=self._workload)
        rules = await self._pipeline.rules_for(request, self._limits.seconds)
        if isinstance(rules, Failure):
            self.report.note(start.href, rules)
            return ()
        if rules.answer.status == "unreachable":
            self.report.note(start.href, SiteWide("robots_unreachable", rules.answer.detail))
            return ()
        named = sitemaps_in_robots(rules.answer.text, start)
        return named or (parse("/sitemap.xml", start),)

    def _may_go_on(self) -> bool:
        """Whether another file is read; if not, the report says which limit was reached."""
        if self.report.files == self._limits.files:
            self.report.cut = "files"
        elif self.report.bytes_read >= self._limits.all_bytes:
            self.report.cut = "bytes"
        elif self._clock.monotonic() >= self._deadline:
            self.report.cut = "seconds"
        return not self.report.cut

    async def _read(self, file: _File) -> Sitemap:
        self.report.files += 1
        page = await self._get(file.url)
        if isinstance(page, Failure):
            self.report.note(file.url.href, page)
            return Sitemap("")
        left = self._limits.all_bytes - self.report.bytes_read
        reader = SitemapReader(
            parse(page.url),
            max_bytes=min(self._limits.file_bytes, left),
            max_entries=self._limits.file_urls,
        )
        for _ in reader.read(page.body):
            # A large file takes seconds, and others want their turn.
            await self._clock.sleep(0)
        self._note(file, reader.result, is_last=left < self._limits.file_bytes)
        return reader.result

    def _note(self, file: _File, sitemap: Sitemap, *, is_last: bool) -> None:
        self.report.bytes_read += sitemap.bytes_read
        self.report.unusable += sitemap.unusable
        if is_last and sitemap.failure and sitemap.failure.reason == "too_large":
            self.report.cut = "bytes"
        elif sitemap.failure:
            self.report.note(file.url.href, sitemap.failure)

    async def _get(self, url: Url) -> Page | Failure:
        """Walk the path of a URL, and wait no longer than the walk may take."""
        left = max(0.001, self._deadline - self._clock.monotonic())
        visit = self._pipeline.admit(Request(url.href, workload=self._workload, timeout=left))
        if isinstance(visit, Outcome):
            return _page_of(visit)
        try:
            return _page_of(await self._walk_on(visit))
        finally:
            await self._pipeline.let_go(visit)

    async def _walk_on(self, visit: Visit) -> Outcome:
        while True:
            step = await self._pipeline.advance(visit)
            if isinstance(step, Outcome):
                return step
            if step.until > self._deadline:
                return await self._pipeline.give_up(visit, step)
            await self._clock.sleep(step.until - self._clock.monotonic())

    def _look_ahead(self, file: _File, sitemap: Sitemap, site: str) -> None:
        """Put the files that an index names in line: of the site, or of the index' own."""
        for child in sitemap.children:
            if not self._any_site and child.url.domain not in (site, file.url.domain):
                self.report.elsewhere += 1
            elif self._is_old(child):
                self.report.old += 1
            elif file.depth == self._limits.depth:
                failure = Refused("too_deep", f"deeper than {self._limits.depth}", gate="sitemap")
                self.report.note(child.url.href, failure)
            else:
                self._add(child.url, file.depth + 1)

    def _add(self, url: Url, depth: int) -> None:
        # More than can be read need not be remembered.
        if url.href not in self._seen and len(self._seen) <= self._limits.files:
            self._seen.add(url.href)
            self._ahead.append(_File(url, depth))

    def _is_old(self, entry: Entry) -> bool:
        if self._since is None or entry.lastmod is None:
            return False
        return not entry.lastmod.may_be_after(self._since)

    def _is_wanted(self, entry: Entry, site: str) -> bool:
        if not self._any_site and entry.url.domain != site:
            self.report.elsewhere += 1
            return False
        if self._since is not None and entry.lastmod is None:
            self.report.undated += 1
            return False
        if self._is_old(entry):
            self.report.old += 1
            return False
        return True


def _page_of(outcome: Outcome) -> Page | Failure:
    if outcome.page is not None and outcome.failure is None:
        return outcome.page
    return outcome.failure or Refused("no_page", "there is no page", gate="sitemap")
