"""Steps 10 and 11 of the path: the record of a page, with what other pages of its site add."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import ParamSpec

from penstock.core.urls import Url, parse
from penstock.kernel import statuses
from penstock.kernel.chronicle import Chronicle
from penstock.kernel.entrance import Entrance
from penstock.kernel.model import Outcome, Page, Request, SoFar, UrlSpecific, Visit
from penstock.kernel.reader import Reader
from penstock.kernel.reading import Reading

#: Bytes of a page that are read in no time to speak of.
LONG_PAGE = 250_000
#: Pages of a site that are read to complete the record of one.
MOST_FURTHER = 3

P = ParamSpec("P")


class Harvest:
    """Ends a visit with its page and, if one was wanted, the judged record of it.

    None in place of an outcome means: another page of the site comes first, and the visit is on
    its way to it.
    """

    def __init__(self, reader: Reader, entrance: Entrance, chronicle: Chronicle) -> None:
        self._reader = reader
        self._entrance = entrance
        self._chronicle = chronicle

    async def read(self, visit: Visit, page: Page | None) -> Outcome | None:
        """Read the page that was asked for."""
        wanted = visit.request.extract
        if page and _is_known(visit.request, page):
            self._chronicle.say(visit, "extract", "unchanged")
            return self._chronicle.close(visit, None, page, unchanged=True)
        if wanted is None or page is None or page.status == statuses.NOT_MODIFIED:
            return self._chronicle.close(visit, None, page)
        if not page.is_html:
            detail = f"there is nothing to extract from {page.content_type}"
            failure = UrlSpecific("content_type", detail, page.status)
            return self._chronicle.close(visit, failure, page)
        reading = await _beside(page, self._reader.read, page, wanted)
        if ahead := self._further(page, reading):
            self._chronicle.say(visit, "extract", "looks further")
            visit.so_far = SoFar(page, reading, visit.hops, ahead)
            return self.go_further(visit, visit.so_far)
        return self._conclude(visit, page, reading)

    async def add(self, visit: Visit, so_far: SoFar, page: Page) -> Outcome | None:
        """Read another page of the site for what the first one did not say."""
        so_far.reading = await _beside(page, self._reader.fill, so_far.reading, page)
        return self.go_further(visit, so_far)

    def go_further(self, visit: Visit, so_far: SoFar) -> Outcome | None:
        """On to the next page of the site, or to the end."""
        if so_far.ahead and not visit.is_late:
            visit.look_further(so_far.ahead.pop(0))
            return None
        return self.conclude(visit, so_far)

    def conclude(self, visit: Visit, so_far: SoFar) -> Outcome:
        """End the visit with what is known so far."""
        visit.hops = so_far.hops
        return self._conclude(visit, so_far.page, so_far.reading)

    def _further(self, page: Page, reading: Reading) -> list[Url]:
        """Pages of the same origin that the adapter would like to see, too; a few at most."""
        here = parse(page.url)
        found: list[Url] = []
        for reference in self._reader.further(page, reading):
            url = self._entrance.resolve(here, reference)
            is_new = isinstance(url, Url) and url not in found and url.href != here.href
            if isinstance(url, Url) and is_new and url.origin == here.origin:
                found.append(url)
        return found[:MOST_FURTHER]

    def _conclude(self, visit: Visit, page: Page, reading: Reading) -> Outcome:
        """End the visit with a record, or with why it is none."""
        extraction, verdict = reading.extraction, reading.judgment.verdict
        self._chronicle.say(visit, "extract", extraction.reason or "ok")
        if verdict:
            self._chronicle.say(visit, "judge", verdict.name)
            return self._chronicle.close(visit, None, page, reading)
        failure = UrlSpecific(str(extraction.reason), extraction.detail, page.status)
        return self._chronicle.close(visit, failure, page, reading)


async def _beside(
    page: Page, read: Callable[P, Reading], *given: P.args, **more: P.kwargs
) -> Reading:
    """Read a page; a long one in a thread, so that everybody else goes on meanwhile."""
    if len(page.body) < LONG_PAGE:
        return read(*given, **more)
    return await asyncio.to_thread(read, *given, **more)


def _is_known(request: Request, page: Page) -> bool:
    """Whether a page is the one that the caller knows, by the site's word or by its content."""
    if page.status == statuses.NOT_MODIFIED:
        return bool(request.conditions)
    known = request.content_hash
    return bool(known) and hashlib.sha256(page.body).hexdigest() == known
