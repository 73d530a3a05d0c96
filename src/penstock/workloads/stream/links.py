"""Links: a reader of events that puts the links of pages back in the queue, within limits.

How deep a page is travels in the memory, since the queue holds plain URLs: one that nobody followed
a link to is where it begins, depth 0.
"""

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol, TypeVar

from penstock.core.clock import Clock
from penstock.core.errors import UrlError
from penstock.core.log import get_logger
from penstock.core.urls import Url, identity, parse
from penstock.extract.page.links import links_to_follow
from penstock.workloads.stream.feeding import Pusher, feed, insist
from penstock.workloads.stream.filters import UrlFilter
from penstock.workloads.stream.memory import LinkMemory

HTML = ("text/html", "application/xhtml+xml")
WEEK = 7 * 86400.0


class Fetched(Protocol):
    """What is needed of an event."""

    @property
    def url(self) -> str: ...

    @property
    def content_type(self) -> str | None: ...


Event = TypeVar("Event", bound=Fetched)


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How far links are followed: `same` site means its registrable domain or its very host.

    `per_site` links are pushed in `seconds`, and so long a page is known as seen.
    """

    depth: int = 3
    per_site: int = 10_000
    seconds: float = WEEK
    same: Literal["domain", "host"] = "domain"
    filter: UrlFilter = field(default_factory=UrlFilter)


@dataclass(frozen=True, slots=True)
class Followed:
    """What came of a page; `reason` says why none of its links was looked at."""

    depth: int = 0
    found: int = 0
    known: int = 0
    over_limit: int = 0
    pushed: int = 0
    reason: str = ""


class Links:
    """Follows the links of pages to other pages of the same site."""

    def __init__(
        self, pusher: Pusher, memory: LinkMemory, clock: Clock, limits: LinkLimits
    ) -> None:
        self._pusher = pusher
        self._memory = memory
        self._clock = clock
        self._limits = limits

    async def run(
        self,
        events: AsyncIterable[tuple[Event, bytes | None]],
        done: Callable[[Event], Awaitable[None]],
    ) -> None:
        """Follow the links of every page, and say so when those of one are all in the queue."""
        async for event, body in events:
            followed = await self.follow(event, body)
            get_logger().info(
                "links followed",
                action="links.follow",
                url=event.url,
                pushed=followed.pushed,
                over_limit=followed.over_limit,
                reason=followed.reason,
            )
            await done(event)

    async def follow(self, event: Fetched, body: bytes | None) -> Followed:
        """Put the links of a page in the queue that are new, near enough and not too many."""
        try:
            here = parse(event.url)
        except UrlError:
            return Followed(reason="bad_url")
        depth = await self._depth_of(here)
        if body is None:
            return Followed(depth, reason="body_expired")
        if not _is_html(event.content_type):
            return Followed(depth, reason="not_html")
        if depth >= self._limits.depth:
            return Followed(depth, reason="too_deep")
        links = self._wanted(here, links_to_follow(body, here.href, event.content_type or ""))
        return await self._push_new(here, depth, links)

    async def _depth_of(self, here: Url) -> int:
        """How deep a page is; one that is not known is where it begins, and known from now on."""
        key = identity(here)
        depth = (await insist(partial(self._memory.depths, [key]), self._clock)).get(key)
        if depth is None:
            await self._learn([key], 0)
        return depth or 0

    def _wanted(self, here: Url, links: tuple[Url, ...]) -> Mapping[str, Url]:
        """The links to pages of the same site, one for each page."""
        wanted: dict[str, Url] = {}
        for link in links:
            if self._is_same_site(here, link) and self._limits.filter.wants(link):
                wanted.setdefault(identity(link), link)
        wanted.pop(identity(here), None)
        return wanted

    def _is_same_site(self, here: Url, link: Url) -> bool:
        if self._limits.same == "host":
            return here.host == link.host
        return here.domain == link.domain

    async def _push_new(self, here: Url, depth: int, links: Mapping[str, Url]) -> Followed:
        known = await insist(partial(self._memory.depths, list(links)), self._clock)
        nearer = [key for key in known if known[key] > depth + 1]
        if nearer:
            await self._learn(nearer, depth + 1)
        new = [key for key in links if key not in known]
        keys = new[: await self._room_for(here, len(new))]
        pushed = await self._push(keys, links, depth + 1)
        return Followed(depth, len(links), len(known), len(new) - len(keys), pushed)

    async def _room_for(self, here: Url, wanted: int) -> int:
        if not wanted:
            return 0
        site = here.host if self._limits.same == "host" else here.domain
        limits = self._limits
        take = partial(self._memory.take, site, wanted, limits.per_site, limits.seconds)
        return await insist(take, self._clock)

    async def _push(self, keys: list[str], links: Mapping[str, Url], depth: int) -> int:
        urls = [links[key].href for key in keys]
        pushed = 0
        async for taken in feed(urls, self._pusher, self._clock):
            await self._learn(keys[pushed : pushed + taken], depth)
            pushed += taken
        return pushed

    async def _learn(self, keys: list[str], depth: int) -> None:
        learn = partial(self._memory.learn, keys, depth, self._limits.seconds)
        await insist(learn, self._clock)


def _is_html(content_type: str | None) -> bool:
    """Whether a body is a document; one without a type is taken for one."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    return kind in (*HTML, "")
