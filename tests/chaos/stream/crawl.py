"""Forty sites, what their URLs have to become, and what did become of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from penstock.workloads.stream.model import WebpageEvent
from tests.page_fetchers import PRIVATE, Servers
from tests.site import Hit, Reply, Site

SITES = 40
#: Of fifty URLs of a site, by their number: most are pages.
PATHS = {7: "/private", 32: "/private", 13: "/gone", 38: "/gone", 19: "/ill"}
CYCLE = 50
#: What becomes of the others; the rest is fetched.
REASONS = {"/gone": "http_404", "/ill": "server_error"}
SLOWEST_PAGE = 0.05
AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Crawl:
    """So many URLs of every site."""

    each: int

    @property
    def hosts(self) -> list[str]:
        return [f"s{number:02}.test" for number in range(SITES)]

    def urls(self) -> Iterator[str]:
        """All sites in turn."""
        for number in range(self.each):
            path = PATHS.get(number % CYCLE, "/page")
            for host in self.hosts:
                yield f"http://{host}{path}?n={number}"

    def dead(self) -> dict[str, str]:
        """What has to be a dead letter, and why."""
        return {url: REASONS[path_of(url)] for url in self.urls() if path_of(url) in REASONS}

    def pages(self) -> set[str]:
        """What has to be fetched."""
        return {url for url in self.urls() if path_of(url) == "/page"}

    def stand_up(self, site: Site) -> None:
        """Let the site have all of them."""
        for host in self.hosts:
            site.robots[host] = PRIVATE
            site.reply(host, "/", Reply(200, "home"))
            site.reply(host, "/page", page)
            site.reply(host, "/gone", Reply(404, "gone"))
            site.reply(host, "/ill", Reply(500, "ill"))


def path_of(url: str) -> str:
    return "/" + url.partition("?")[0].rpartition("/")[2]


def page(hit: Hit) -> Reply:
    """A page that no other is like, some larger and slower than others."""
    number = int(hit.number("n", 0))
    text = f"<p>{hit.host}{hit.path}</p>" * (20 + 37 * number % 200)
    return Reply(200, f"<title>{hit.path}</title>{text}", delay=SLOWEST_PAGE * (number % 10) / 10)


class Absence(NamedTuple):
    """When a server was away."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Findings:
    """What became of all URLs; whatever is wrong must be 0.

    `lost`: not what it has to be, in the end. `twofold`: fetched and dead, or dead twice.
    `phantom`: an event or a dead letter that nobody asked for. `disagreeing`: a body that is not
    there, or not what its event says. `stuck`: not over. `trespassed`: asked for though robots
    forbid it. Allowed are events that are not the first of their URL: `resent` ones are of the same
    fetch, `held_up` ones of a page that was fetched first while a server was away, so that its
    fetcher could not settle it before it was lost, and `refetched` ones of any other.
    """

    urls: int
    lost: int
    twofold: int
    phantom: int
    disagreeing: int
    stuck: int
    trespassed: int
    refetched: int
    held_up: int
    resent: int

    @property
    def is_clean(self) -> bool:
        wrong = (self.lost, self.twofold, self.phantom, self.disagreeing, self.stuck)
        return not any((*wrong, self.trespassed))


async def examine(
    crawl: Crawl, site: Site, servers: Servers, absences: Sequence[Absence]
) -> Findings:
    """Compare what was pushed with topic, cache, queue, and what the site was asked for."""
    events = await servers.events()
    fetches = _fetches(events)
    told = fetches.keys()
    number = sum(map(len, fetches.values()))
    held_up = sum(len(times) - 1 for times in fetches.values() if _was_away(min(times), absences))
    buried = Counter(await servers.dead_urls())
    reasons = await servers.dead()
    fetched, dead = crawl.pages(), crawl.dead()
    return Findings(
        urls=SITES * crawl.each,
        lost=len(fetched - told) + len(dead.items() - reasons.items()),
        twofold=len(told & buried.keys()) + buried.total() - len(buried),
        phantom=len(told - fetched) + len(buried.keys() - dead.keys()),
        disagreeing=await count_disagreeing(servers, events),
        stuck=await servers.left(),
        trespassed=sum(hit.route == "/private" for hit in site.hits),
        refetched=number - len(told) - held_up,
        held_up=held_up,
        resent=len(events) - number,
    )


def _fetches(events: Sequence[WebpageEvent]) -> dict[str, set[datetime]]:
    """When each URL was fetched, as far as it was told."""
    times: dict[str, set[datetime]] = {}
    for event in events:
        times.setdefault(event.url, set()).add(event.fetched_at)
    return times


def _was_away(at: datetime, absences: Sequence[Absence]) -> bool:
    return any(absence.since <= at <= absence.until for absence in absences)


async def count_disagreeing(servers: Servers, events: Sequence[WebpageEvent]) -> int:
    """How many events have no body, or another one than they say."""
    wrong = 0
    for first in range(0, len(events), AT_ONCE):
        some = events[first : first + AT_ONCE]
        bodies = await servers.client.mget([event.cache_key for event in some])
        pairs = zip(some, bodies, strict=True)
        wrong += sum(not _agree(event, body) for event, body in pairs)
    return wrong


def _agree(event: WebpageEvent, body: bytes | None) -> bool:
    return (
        body is not None
        and len(body) == event.content_length
        and sha256(body).hexdigest() == event.content_hash
    )


def pace_of(site: Site, hosts: Sequence[str], since: float, until: float) -> float:
    """How many requests a second hosts had in a time."""
    chosen: Mapping[str, None] = dict.fromkeys(hosts)
    number = sum(since <= hit.started < until for hit in site.hits if hit.host in chosen)
    return number / (until - since)
