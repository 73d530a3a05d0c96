"""Step 2 of the path: whether a URL may be contacted at all, by which policy, and in which line."""

import re

from penstock.core.errors import UrlError
from penstock.core.urls import Url, parse
from penstock.kernel import headers
from penstock.kernel.admission import Admission, refusal
from penstock.kernel.model import Failure, Refused, Request, Visit
from penstock.kernel.policy import DomainPolicy, Pace, PolicyBook, Rate

#: What is no URL contacts nobody and need not stand in anybody's line.
NO_LINE, NO_LINE_LIMIT = "", 64
NO_PACE = Pace((Rate(1000, 1.0),), delay=0.0, concurrency=NO_LINE_LIMIT)

#: A line is only where a request waits, so a host in its plain spelling need not be parsed.
_PLAIN_HOST = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?/")


class Entrance:
    """Knows who may be contacted, and what each domain is owed."""

    def __init__(self, admission: Admission, policies: PolicyBook) -> None:
        self._admission = admission
        self._policies = policies

    def line_of(self, request: Request) -> tuple[str, int]:
        """The line a request has to stand in, and how many of that line may go at once."""
        policy = self._policy_of(request)
        return (policy.ledger, policy.pace.concurrency) if policy else (NO_LINE, NO_LINE_LIMIT)

    def pace_of(self, request: Request) -> Pace:
        """How fast the line of a request may move, as far as is known beforehand."""
        policy = self._policy_of(request)
        return policy.pace if policy else NO_PACE

    def enter(self, request: Request, began: float) -> Visit | Refused:
        """Make a visit of a request whose URL can be parsed; it is not checked yet."""
        try:
            url = parse(request.url)
        except UrlError as error:
            return refusal(error)
        policy = self._policies.look_up(url.host, request.workload)
        return Visit(request, url, policy, began=began)

    def check(self, visit: Visit) -> Refused | None:
        """Why a visit must not contact anybody, or None."""
        return self._admission.check(visit.url) or _check_headers(visit.request)

    def resolve(self, base: Url, location: str) -> Url | Failure:
        """Where a reference leads, admitted like any URL that somebody asks for."""
        try:
            target = parse(location.strip(" "), base)
        except UrlError as error:
            return refusal(error)
        return self._admission.check(target) or target

    def look_up_policy(self, visit: Visit) -> None:
        """Let a visit go on by the policy of what it contacts next."""
        visit.policy = self._policies.look_up(visit.next_url.host, visit.request.workload)

    def _policy_of(self, request: Request) -> DomainPolicy | None:
        try:
            plain = _PLAIN_HOST.match(request.url)
            host = plain[1] if plain else parse(request.url).host
        except UrlError:
            return None
        return self._policies.look_up(host, request.workload)


def _check_headers(request: Request) -> Refused | None:
    """A header or cookie that is none, or not the caller's to choose, is refused."""
    for name, value in request.headers.items():
        if problem := headers.problem_with(name, value) or headers.reserved(name):
            return Refused("bad_header", problem, gate="admission")
    for name, value in request.cookies.items():
        if headers.problem_with(name, value) or ";" in value:
            return Refused("bad_header", f"{name[:40]!r} is no valid cookie", gate="admission")
    return None
