"""What is said of a visit on its way and at its end: in its trace, the metrics and the log."""

from penstock.core.clock import Clock
from penstock.core.log import get_logger
from penstock.core.metrics import Metrics
from penstock.core.trace import trace_id
from penstock.kernel.model import Failure, Outcome, Page, Request, Said, Visit, Wait
from penstock.kernel.ports import Turned
from penstock.kernel.reading import Reading


class Chronicle:
    """Writes down what every step says of a visit, and what became of the request."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._metrics = metrics
        self._log = get_logger().bind()

    def say(self, visit: Visit, gate: str, answer: str) -> None:
        """Write down what a gate answered."""
        visit.trace.append(Said(gate, answer, self._clock.monotonic() - visit.began))
        self._metrics.gate(gate, answer)

    def waits(self, visit: Visit, wait: Wait, seconds: float) -> None:
        """Write down that a visit has to wait; the same wait again is one line of its trace."""
        said = Said(wait.gate, f"wait {seconds:.1f} s", self._clock.monotonic() - visit.began)
        if not visit.trace or visit.trace[-1][:2] != said[:2]:
            visit.trace.append(said)
        self._metrics.gate(wait.gate, "wait")
        self._metrics.waited(wait.gate, max(0.0, seconds))

    def fetched(self, fetcher: str, page: Page) -> None:
        """Count a page that came."""
        self._metrics.fetched(fetcher, page.status, page.seconds, len(page.body))

    def retried(self, failure: Failure) -> None:
        """Count an attempt that is repeated."""
        self._metrics.retried(failure.kind)

    def probed(self, rules: str, well: bool) -> None:
        """Count a probe of a site that was down."""
        self._metrics.probed(rules, well)

    def turned(self, domain: str, rules: str, turned: Turned) -> None:
        """Say that a site is taken for down, or for up again."""
        self._metrics.circuit(rules, turned.state)
        if turned.state == "open":
            said = f"Circuit open: {domain} appears down. Next probe in {turned.seconds:g}s."
        else:
            said = f"Circuit closed: {domain} is up again."
        self._log.warning(said, target_domain=domain, rules=rules)

    def turn_away(self, request: Request, refused: Failure) -> Outcome:
        """The outcome of a request that never became a visit."""
        return self._announce(Outcome(request, None, refused, (Said("admission", "refused", 0.0),)))

    def close(
        self,
        visit: Visit,
        failure: Failure | None,
        page: Page | None = None,
        reading: Reading | None = None,
        *,
        unchanged: bool = False,
    ) -> Outcome:
        """The outcome of a visit that is over, counted and logged."""
        return self._announce(
            Outcome(
                request=visit.request,
                page=page,
                failure=failure,
                trace=tuple(visit.trace),
                domain=visit.url.domain,
                attempts=visit.attempt,
                hops=visit.hops,
                proxy=visit.last_proxy,
                seconds=self._clock.monotonic() - visit.began,
                reading=reading,
                unchanged=unchanged,
            )
        )

    def _announce(self, outcome: Outcome) -> Outcome:
        failure = outcome.failure
        if failure is None:
            log = self._log.debug if outcome.request.routine else self._log.info
            log(
                "fetched",
                request_id=outcome.request.id,
                trace_id=trace_id(outcome.request.traceparent),
                target_domain=outcome.domain,
                duration_ms=round(outcome.seconds * 1000),
                fields_extracted=outcome.reading.field_count if outcome.reading else 0,
            )
            return outcome
        self._metrics.failed(failure.kind, failure.reason)
        self._log.info(
            "failed",
            request_id=outcome.request.id,
            trace_id=trace_id(outcome.request.traceparent),
            target_url=outcome.request.url,
            proxy_used=outcome.proxy,
            error_reason=failure.reason,
            error_kind=failure.kind,
            detail=failure.detail,
        )
        return outcome
