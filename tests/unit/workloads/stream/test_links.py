"""Links: followed on their own site, each page once, not too deep and not too many."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from penstock.core.urls import identity, parse
from penstock.workloads.stream.filters import UrlFilter
from penstock.workloads.stream.links import Followed, LinkLimits, Links
from penstock.workloads.stream.memory import LinksInMemory
from tests.clocks import HandClock
from tests.unit.workloads.stream.feeds import ShortQueue

SHOP = "https://www.shop.test/"


@dataclass(frozen=True)
class Event:
    url: str
    content_type: str | None = "text/html"


def page(*links: str) -> bytes:
    return "".join(f'<a href="{link}">x</a>' for link in links).encode()


class Scene:
    def __init__(self) -> None:
        self.clock = HandClock()
        self.queue = ShortQueue()
        self.memory = LinksInMemory(self.clock)

    async def follow(
        self,
        url: str,
        *links: str,
        limits: LinkLimits = LinkLimits(),  # noqa: B008
    ) -> Followed:
        follower = Links(self.queue, self.memory, self.clock, limits)
        return await follower.follow(Event(url), page(*links))


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_only_links_to_the_same_site_are_followed(scene: Scene) -> None:
    links = ("/a", "https://shop.test/b", "https://m.shop.test/c", "https://other.test/", SHOP)

    followed = await scene.follow(SHOP, *links)

    assert scene.queue.urls == [f"{SHOP}a", "https://shop.test/b", "https://m.shop.test/c"]
    assert followed == Followed(depth=0, found=3, pushed=3)


async def test_same_site_may_mean_the_very_host(scene: Scene) -> None:
    links = ("/a", "https://shop.test/b")

    await scene.follow(SHOP, *links, limits=LinkLimits(same="host"))

    assert scene.queue.urls == [f"{SHOP}a"]


async def test_page_is_pushed_once_in_whatever_spelling(scene: Scene) -> None:
    await scene.follow(SHOP, "/a", "/a/?utm_source=x", "/a#top")
    again = await scene.follow(f"{SHOP}b", "/a", "/", "/b")

    assert scene.queue.urls == [f"{SHOP}a"]
    assert (again.known, again.pushed) == (2, 0)


async def test_depth_travels_with_the_page(scene: Scene) -> None:
    limits = LinkLimits(depth=2)
    await scene.follow(SHOP, "/1", limits=limits)
    await scene.follow(f"{SHOP}1", "/2", limits=limits)

    deepest = await scene.follow(f"{SHOP}2", "/3", limits=limits)

    assert scene.queue.urls == [f"{SHOP}1", f"{SHOP}2"]
    assert deepest == Followed(depth=2, reason="too_deep")


async def test_shorter_way_to_a_page_makes_it_less_deep(scene: Scene) -> None:
    await scene.follow(SHOP, "/1")
    await scene.follow(f"{SHOP}1", "/2")
    await scene.follow(SHOP, "/2")

    key = identity(parse(f"{SHOP}2"))
    assert await scene.memory.depths([key]) == {key: 1}
    assert scene.queue.urls == [f"{SHOP}1", f"{SHOP}2"]


async def test_no_more_links_of_a_site_are_pushed_than_allowed(scene: Scene) -> None:
    limits = LinkLimits(per_site=3, seconds=60)
    first = await scene.follow(SHOP, "/1", "/2", limits=limits)
    second = await scene.follow(SHOP, "/3", "/4", limits=limits)
    await scene.follow("https://other.test/", "/1", limits=limits)
    scene.clock.move(60)
    await scene.follow(SHOP, "/5", limits=limits)

    assert (first.over_limit, second.over_limit, second.pushed) == (0, 1, 1)
    urls = [f"{SHOP}1", f"{SHOP}2", f"{SHOP}3", "https://other.test/1", f"{SHOP}5"]
    assert scene.queue.urls == urls


async def test_link_beyond_the_limit_is_not_taken_for_known(scene: Scene) -> None:
    limits = LinkLimits(per_site=1, seconds=60)
    await scene.follow(SHOP, "/1", "/2", limits=limits)
    scene.clock.move(60)

    await scene.follow(SHOP, "/2", limits=limits)

    assert scene.queue.urls == [f"{SHOP}1", f"{SHOP}2"]


async def test_patterns_choose_links(scene: Scene) -> None:
    limits = LinkLimits(filter=UrlFilter(exclude=["/cart"]))

    await scene.follow(SHOP, "/cart?add=1", "/a", limits=limits)

    assert scene.queue.urls == [f"{SHOP}a"]


@pytest.mark.parametrize(
    ("event", "body", "reason"),
    [
        (Event(SHOP), None, "body_expired"),
        (Event(SHOP, "application/pdf"), page("/a"), "not_html"),
        (Event("no url"), page("/a"), "bad_url"),
    ],
)
async def test_page_without_links_to_follow_says_why(
    scene: Scene, event: Event, body: bytes | None, reason: str
) -> None:
    followed = await Links(scene.queue, scene.memory, scene.clock, LinkLimits()).follow(event, body)

    assert followed.reason == reason
    assert scene.queue.urls == []


@pytest.mark.parametrize("kind", [None, "TEXT/HTML; charset=utf-8", "application/xhtml+xml"])
async def test_document_is_known_by_its_type(scene: Scene, kind: str | None) -> None:
    links = Links(scene.queue, scene.memory, scene.clock, LinkLimits())

    await links.follow(Event(SHOP, kind), page("/a"))

    assert scene.queue.urls == [f"{SHOP}a"]


async def test_event_is_done_when_all_its_links_are_in_the_queue(scene: Scene) -> None:
    scene.queue.away = 2
    done: list[tuple[str, int]] = []

    async def events() -> AsyncIterator[tuple[Event, bytes | None]]:
        yield Event(SHOP), page("/a", "/b")
        yield Event(f"{SHOP}a"), page("/c")

    async def note(event: Event) -> None:
        done.append((event.url, len(scene.queue.urls)))

    await Links(scene.queue, scene.memory, scene.clock, LinkLimits()).run(events(), note)

    assert done == [(SHOP, 2), (f"{SHOP}a", 3)]
