"""The `monitor` lane: one item per target and run; all that follows is written together."""

import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from penstock.blobs.ports import Blobs
from penstock.core.clock import Clock
from penstock.extract.registry import Registry
from penstock.kernel.model import Failure, Outcome, Page, Refused, Request
from penstock.kernel.reading import Reading
from penstock.quality.shadow import SHADOW
from penstock.queue.lanes import Result
from penstock.queue.ports import Bury, Claim, Done, Ending
from penstock.store.unit import Unit
from penstock.workloads.monitor.clearance import Clearance
from penstock.workloads.monitor.counting import GATE
from penstock.workloads.monitor.model import WORKLOAD
from penstock.workloads.monitor.recording import Content, Recorder
from penstock.workloads.monitor.runs import LANE

#: What an item must say to be read, and to be recorded.
NEEDED = ("target", "run", "url", "adapter")
#: Headers of a page that are kept with it: what it takes to read it again.
KEPT_HEADERS = ("Content-Type", "ETag", "Last-Modified", "X-Robots-Tag", "Content-Language")

#: What a candidate adapter makes of a page beside the one in use, if there is one.
Compare = Callable[[Page, Reading], dict[str, Any] | None]


class MonitorLane:
    """Reads targets and records what came of it."""

    name = LANE

    def __init__(
        self,
        registry: Registry,
        recorder: Recorder,
        clearance: Clearance,
        *,
        clock: Clock,
        blobs: Blobs | None,
        compare: Compare = lambda _page, _reading: None,
        noted: Callable[[Result], None] = lambda _result: None,
    ) -> None:
        self._registry = registry
        self._recorder = recorder
        self._clearance = clearance
        self._clock = clock
        self._blobs = blobs
        self._compare = compare
        self._noted = noted

    def needs(self, claim: Claim) -> bool:
        """Every item needs leave: an adapter may have been disabled since it was put."""
        return _is_readable(claim)

    async def provide(self, claim: Claim) -> Failure | None:
        """Why an item is not to be begun any more."""
        adapter = claim.payload["adapter"]
        if self._registry.get(adapter) is None:
            detail = f"there is no adapter '{adapter}' here"
            return Refused("adapter_unknown", detail, gate=GATE)
        return await self._clearance.ask(claim.payload["target"], claim.payload["run"])

    def request(self, claim: Claim) -> Request:
        if not _is_readable(claim):
            raise ValueError(f"a target's item needs {', '.join(NEEDED)}")
        payload = claim.payload
        known = self._known(payload)
        return Request(
            payload["url"],
            id=claim.id,
            headers=payload.get("headers") or {},
            etag=known.get("etag", ""),
            last_modified=known.get("last_modified", ""),
            content_hash=known.get("content_hash", ""),
            workload=WORKLOAD,
            extract=payload["adapter"],
            traceparent=claim.traceparent,
            fetcher=payload.get("fetcher", ""),
        )

    def _known(self, payload: Mapping[str, Any]) -> Mapping[str, str]:
        """What the page was, if it was read by the adapter as it is now: a new one reads anew."""
        adapter = self._registry.get(payload["adapter"])
        is_same = adapter is not None and payload.get("read_by") == adapter.name
        return payload if is_same else {}

    def conclude(self, claim: Claim, outcome: Outcome) -> Ending:
        """A target that failed is over for this run: what is wrong stands in its result."""
        if outcome.failure and not _is_readable(claim):
            return Bury(outcome.failure.as_json())
        return Done()

    def content(self, claim: Claim, outcome: Outcome) -> Content | Coroutine[Any, Any, Content]:
        """What is written of an outcome; the page is kept first, if that is wanted."""
        del claim
        content = self._content(outcome)
        page = outcome.page
        if self._blobs is None or page is None or not page.body or outcome.unchanged:
            return content
        return self._with_body(content, page.body, self._blobs)

    async def _with_body(self, content: Content, body: bytes, blobs: Blobs) -> Content:
        return content._replace(body=await blobs.put(body))

    def _content(self, outcome: Outcome) -> Content:
        page, reading = outcome.page, outcome.reading
        document = outcome.as_json()
        if page:
            headers = {name: page.headers.get(name) for name in KEPT_HEADERS}
            document["headers"] = {name: value for name, value in headers.items() if value}
        if page and reading:
            document["evidence"] = {
                name: list(found) for name, found in reading.extraction.evidence.items()
            }
            if shadow := self._compare(page, reading):
                document[SHADOW] = shadow
        return Content(
            document=document,
            observed_at=int(self._clock.now().timestamp() * 1000),
            content_hash=hashlib.sha256(page.body).hexdigest() if page and page.body else None,
            etag=page.headers.get("ETag") if page else None,
            last_modified=page.headers.get("Last-Modified") if page else None,
        )

    def record(self, unit: Unit, results: Sequence[Result]) -> None:
        self._recorder.record(unit, [result for result in results if _is_readable(result.claim)])

    def note(self, result: Result) -> None:
        """A result is committed."""
        self._noted(result)


def _is_readable(claim: Claim) -> bool:
    return all(isinstance(claim.payload.get(name), str) for name in NEEDED)
