"""The `catalog_sitemaps` lane: a sitemap is walked, and what it lists is submitted."""

from collections.abc import Callable, Sequence

from penstock.extract.sitemap_walk import SitemapWalk
from penstock.kernel.model import Failure, Outcome, Request, UrlSpecific
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending, Retry
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound
from penstock.workloads.catalog.model import SITEMAPS, WORKLOAD
from penstock.workloads.catalog.submissions import note_reading
from penstock.workloads.catalog.submitting import ACCEPTED, AT_ONCE, FAILED, Submitter

#: A sitemap that cannot be had is tried so often, so many seconds apart at first.
MOST_TRIES, LATER = 3, 60.0
Walks = Callable[[], SitemapWalk]


class SitemapLane:
    """Reads sitemaps."""

    name = SITEMAPS

    def __init__(self, store: Store, submitter: Submitter, walks: Walks) -> None:
        self._store = store
        self._submitter = submitter
        self._walks = walks

    def request(self, claim: Claim) -> Request:
        if not _is_readable(claim):
            raise ValueError("an item of a sitemap needs submission and url")
        url = claim.payload["url"]
        return Request(url, id=claim.id, workload=WORKLOAD, traceparent=claim.traceparent)

    async def do(self, claim: Claim) -> Outcome:
        """Walk through a sitemap; again from the start if somebody was interrupted."""
        request, walk = self.request(claim), self._walks()
        try:
            await self._walk(claim, walk)
        except NotFound as error:
            # Somebody forgot the submission meanwhile: nobody waits for it any more.
            return Outcome(request, None, UrlSpecific("submission_gone", str(error)), ())
        if said := _troubles_of(walk):
            await self._store.write(
                lambda unit: note_reading(unit, claim.payload["submission"], error=said)
            )
        return Outcome(request, None, _failure_of(walk), ())

    async def _walk(self, claim: Claim, walk: SitemapWalk) -> None:
        some: list[str] = []
        async for entry in walk.entries(claim.payload["url"]):
            some.append(entry.url.href)
            if len(some) == AT_ONCE:
                await self._submit(claim, some)
                some = []
        await self._submit(claim, some)

    async def _submit(self, claim: Claim, urls: Sequence[str]) -> None:
        if urls:
            submission_id = claim.payload["submission"]
            await self._store.write(
                lambda unit: self._submitter.add(unit, submission_id, list(urls)), "put"
            )

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        failure = outcome.failure
        if failure and not _is_readable(claim):
            return Bury(failure.as_json())
        if failure and failure.retriable and claim.attempts < MOST_TRIES:
            return Retry(LATER * 2.0**claim.attempts, failure.as_json())
        return Done()

    def content(self, claim: Claim, outcome: Outcome) -> dict[str, str] | None:
        """What is noted of a reading that is over."""
        if isinstance(self.conclude(claim, outcome), Retry):
            return None
        failure = outcome.failure
        return {"status": FAILED, "error": str(failure)} if failure else {"status": ACCEPTED}

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        for result in results:
            if result.content:
                note_reading(unit, result.claim.payload["submission"], **result.content)


def _failure_of(walk: SitemapWalk) -> Failure | None:
    """A walk that gave anything did what it could; its troubles are in its report."""
    report = walk.report
    if report.urls or not report.troubles:
        return None if report.urls else UrlSpecific("no_urls", "the sitemap lists no page")
    return report.troubles[0].failure


def _troubles_of(walk: SitemapWalk) -> str | None:
    """What a walk that gave something could not read, in a sentence."""
    report = walk.report
    said = [f"cut off: {report.cut}"] if report.cut else []
    if report.troubles:
        said.append(f"{len(report.troubles)} files could not be read, first {report.troubles[0]}")
    return "; ".join(said) or None


def _is_readable(claim: Claim) -> bool:
    return all(isinstance(claim.payload.get(name), str) for name in ("submission", "url"))
