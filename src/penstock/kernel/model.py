"""The nouns of the path: Request, Visit, Page, Failure, Outcome and what gates answer."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from penstock.core.urls import Url
from penstock.kernel.document import decode, detect, robots_tags
from penstock.kernel.policy import DomainPolicy
from penstock.kernel.reading import Reading

NO_HEADERS: Mapping[str, str] = {}
#: What a failure says about the site behind it.
Health = Literal["well", "ill", "unknown"]


@dataclass(frozen=True, slots=True)
class Request:
    """One URL that somebody wants, what to extract from it, and for whom.

    `headers` and `cookies` are the caller's own: they are sent to the URL's origin and nowhere
    else. `extract` names an adapter or a target type, is empty for the adapter of the URL, or None
    for no record. `fetcher` is `http`, `browser` or `kept`, or empty: policy and adapter decide.
    `timeout` is how many seconds contact with the site may take in all, over every attempt.
    `etag`, `last_modified` and `content_hash` (SHA-256 of the body) are of the page as it is known.

    Only a browser can wait for a CSS selector (`wait_for`), `scroll` and take a `screenshot`. The
    fetcher `kept` leaves the page open under the name `keep`, in place of one of that name.
    One that `escalates` has an empty shell filled by a browser where no policy names a fetcher.

    A `routine` request is one of very many for the same page: who debugs is told that it went well.
    """

    url: str
    id: str = "-"
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    workload: str = ""
    extract: str | None = None
    traceparent: str = ""
    fetcher: str = ""
    timeout: float | None = None
    wait_for: str = ""
    scroll: bool = False
    screenshot: bool = False
    cookies: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)
    keep: str = ""
    escalates: bool = False
    routine: bool = False

    @property
    def conditions(self) -> Mapping[str, str]:
        """The headers that ask for the page only if it has changed."""
        if not (self.etag or self.last_modified):
            return NO_HEADERS
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no page. `reason` is one of a fixed set of words, `detail` is for people."""

    reason: str
    detail: str = ""
    status: int | None = None

    kind: ClassVar[str]
    retriable: ClassVar[bool] = False
    site_is: ClassVar[Health] = "unknown"

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail or self.reason}"

    def as_json(self) -> dict[str, Any]:
        """The failure as plain data."""
        names = ("gate", "signal", "retry_after")
        extras = {name: getattr(self, name) for name in names if getattr(self, name, None)}
        return {
            "kind": self.kind,
            "reason": self.reason,
            "detail": self.detail,
            "status": self.status,
            **extras,
        }


@dataclass(frozen=True, slots=True)
class SiteWide(Failure):
    """The site as a whole does not answer: refused, DNS, time-out, TLS, 502/503/504."""

    kind: ClassVar[str] = "site_wide"
    retriable: ClassVar[bool] = True
    site_is: ClassVar[Health] = "ill"


@dataclass(frozen=True, slots=True)
class UrlSpecific(Failure):
    """This URL has no page or no record: 404, 410, 403, other 4xx, nothing to extract."""

    kind: ClassVar[str] = "url_specific"
    site_is: ClassVar[Health] = "well"


@dataclass(frozen=True, slots=True)
class ServerError(Failure):
    """The site answered 500 or another error of its own."""

    kind: ClassVar[str] = "server_error"
    retriable: ClassVar[bool] = True
    site_is: ClassVar[Health] = "ill"


@dataclass(frozen=True, slots=True)
class RateLimited(Failure):
    """The site asks us to slow down; `retry_after` in seconds if it said for how long."""

    retry_after: float | None = None

    kind: ClassVar[str] = "rate_limited"
    retriable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Refused(Failure):
    """A gate of ours said no; `gate` is which one."""

    gate: str = ""

    kind: ClassVar[str] = "refused"


@dataclass(frozen=True, slots=True)
class Blocked(Failure):
    """The site served a captcha, an access-denied page or an empty shell; `signal` matched."""

    signal: str = ""

    kind: ClassVar[str] = "blocked"


@dataclass(frozen=True, slots=True)
class Broken(Failure):
    """What came back cannot be used: too large, a bomb, bad encoding, too many redirects.

    `trace` is where our own code broke over it, if it did; for logs of ours, not for callers.
    """

    trace: str = field(default="", repr=False)

    kind: ClassVar[str] = "broken"
    site_is: ClassVar[Health] = "well"


@dataclass(frozen=True, slots=True)
class ProxyFailed(Failure):
    """The proxy refused or timed out, or none is healthy; says nothing about the site."""

    kind: ClassVar[str] = "proxy_failed"
    retriable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Proxy:
    """A way out that is not ours; printed without its password."""

    protocol: Literal["http", "https", "socks5"]
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    region: str | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{host}:{self.port}"


@dataclass(slots=True)
class Page:
    """What came back for a URL; `notes` are what else there is to say of how it was got."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    fetcher: str = "http"
    proxy: str | None = None
    screenshot: bytes | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    _text: str | None = field(default=None, repr=False)

    @property
    def content_type(self) -> str:
        """The media type without parameters, in lower case."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether the page is a document; one without a type is taken for one."""
        return self.content_type in ("text/html", "application/xhtml+xml", "")

    @property
    def robots_tags(self) -> tuple[str, ...]:
        """What the site asks of robots for this page, by header or meta tag."""
        return robots_tags(self.body if self.is_html else b"", self.headers)

    @property
    def is_utf8(self) -> bool:
        """Whether the body is the text in UTF-8, byte for byte."""
        is_marked = self.body.startswith(codecs.BOM_UTF8)
        return not is_marked and detect(self.body, self.headers.get("Content-Type", "")) == "utf-8"

    @property
    def text(self) -> str:
        """The body as text: byte order mark, header, meta, then UTF-8; decoded once."""
        if self._text is None:
            self._text = decode(self.body, self.headers.get("Content-Type", ""))
        return self._text


@dataclass(frozen=True, slots=True)
class Redirect:
    """A hop to another URL, as the site spelled it."""

    location: str
    status: int
    cookies: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)


@dataclass(frozen=True, slots=True)
class Wait:
    """Not yet: come back at `until` (monotonic). `line` says whether the whole domain waits."""

    until: float
    gate: str
    why: str
    line: bool = True


class Said(NamedTuple):
    """What one gate said, and how many seconds after the request began."""

    gate: str
    answer: str
    at: float


@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in a ledger: `at` is the time of the turn, `granted` that it has come.

    `mark` is the reserved time in the ledger's own clock; `slot` says that one of the
    domain's concurrency slots is held, `is_clean` that no trouble with the domain was known then.
    """

    id: str
    ledger: str
    at: float
    mark: float = 0.0
    granted: bool = False
    slot: bool = False
    is_clean: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """A breaker's leave to contact a domain; a result is only counted in its own epoch."""

    key: str
    epoch: int
    probe: bool = False
    #: Whether nobody had any trouble with the domain: that it went well then is no news.
    is_clean: bool = False


@dataclass(slots=True)
class Errand:
    """A robots.txt to be got before the page: where it is now, after how many hops and tries."""

    origin: str
    url: Url
    hops: int = 0
    tries: int = 0


@dataclass(slots=True)
class SoFar:
    """A page that was read, what was made of it, and where else on its site to look."""

    page: Page
    reading: Reading
    hops: tuple[str, ...]
    ahead: list[Url]


@dataclass(slots=True)
class Visit:
    """An admitted request on its way: where it stands is kept here, so that it can wait.

    `policy` and `ledger` are those of the URL that is contacted next: the errand's while
    there is one, else the page's.
    """

    request: Request
    url: Url
    policy: DomainPolicy
    began: float
    attempt: int = 1
    hops: tuple[str, ...] = ()
    errand: Errand | None = None
    robots_tries: int = 0
    ticket: Ticket | None = None
    spent: float = 0.0
    spent_before: float = 0.0
    fetcher: str = ""
    crashes: int = 0
    knock: str = "HEAD"
    cookies: dict[str, dict[str, str]] = field(default_factory=dict)
    proxy: Proxy | None = None
    failed_proxies: tuple[Proxy, ...] = ()
    so_far: SoFar | None = None
    trace: list[Said] = field(default_factory=list)

    @property
    def next_url(self) -> Url:
        """What is contacted next."""
        return self.errand.url if self.errand else self.url

    @property
    def ledger(self) -> str:
        """Whose turns are taken: the line this visit stands in."""
        return self.policy.ledger

    @property
    def domain(self) -> str:
        """The registrable domain of what is contacted next."""
        return self.next_url.domain

    @property
    def last_proxy(self) -> str | None:
        """The proxy in use, or the one that failed last."""
        proxy = self.proxy or (self.failed_proxies[-1] if self.failed_proxies else None)
        return str(proxy) if proxy else None

    @property
    def time_left(self) -> float | None:
        """Seconds of contact that the caller still grants, if the caller set a limit."""
        limit = self.request.timeout
        return None if limit is None else limit - self.spent_before - self.spent

    @property
    def is_late(self) -> bool:
        """Whether the caller grants no more contact."""
        return self.time_left is not None and self.time_left <= 0

    def keep_cookies(self, cookies: Mapping[str, str]) -> None:
        """Keep cookies for the rest of this visit; they go back to their own origin only."""
        if cookies:
            self.cookies.setdefault(self.url.origin, {}).update(cookies)

    def look_further(self, url: Url) -> None:
        """Go on to another page of the site, with what the caller grants for all of them."""
        self.url = url
        self.spent_before += self.spent
        self.spent = 0.0

    def start_over(self, url: Url) -> None:
        """Begin the next attempt at the first URL, with nothing of the last one."""
        self.url = url
        self.attempt += 1
        self.hops = ()
        self.spent_before += self.spent
        self.spent = 0.0
        self.cookies = {}
        self.proxy = None
        self.so_far = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything about one request when it is over.

    `unchanged` says that the page is still the one that the request knows; it is not read again.
    """

    request: Request
    page: Page | None
    failure: Failure | None
    trace: tuple[Said, ...]
    domain: str = ""
    attempts: int = 0
    hops: tuple[str, ...] = ()
    proxy: str | None = None
    seconds: float = 0.0
    reading: Reading | None = None
    unchanged: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is a page that can be used, and a record if one was wanted."""
        return self.page is not None and self.failure is None

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain data, without the body."""
        plain: dict[str, Any] = {
            "url": self.request.url,
            "request_id": self.request.id,
            "status": "ok" if self.ok else "failed",
            "domain": self.domain,
            "attempts": self.attempts,
            "seconds": round(self.seconds, 4),
            "redirects": list(self.hops),
            "proxy": self.proxy,
            "page": self.page and _page_json(self.page),
            "failure": self.failure and self.failure.as_json(),
        }
        if self.reading:
            plain["record"] = self.reading.as_json()
        if self.unchanged:
            plain["unchanged"] = True
        plain["gates"] = [
            {"gate": gate, "answer": answer, "at": round(at, 4)} for gate, answer, at in self.trace
        ]
        return plain


def _page_json(page: Page) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "url": page.url,
        "status": page.status,
        "content_type": page.content_type,
        "bytes": len(page.body),
        "seconds": round(page.seconds, 4),
        "fetcher": page.fetcher,
        "proxy": page.proxy,
        "robots_tags": list(page.robots_tags),
    }
    if page.notes:
        plain["notes"] = list(page.notes)
    if page.screenshot:
        plain["screenshot_bytes"] = len(page.screenshot)
    plain["etag"] = page.headers.get("ETag", "")
    plain["last_modified"] = page.headers.get("Last-Modified", "")
    return plain
