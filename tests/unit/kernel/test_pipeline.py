"""The walk itself: what is kept of a visit when something goes wrong late on its way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.kernel.model import (
    Failure,
    Outcome,
    Pass,
    Proxy,
    ProxyFailed,
    Refused,
    Request,
)
from penstock.kernel.ports import Hop
from tests.unit.kernel.steps import HOME, Answer, Shelf, Steps, page_of

POOL = ("http://a:1", "http://b:2")
#: Longer than an answer about robots.txt is good.
TWO_DAYS = 172_800.0


class Walk:
    """The path to a site that has to be asked for its robots.txt again after the first page.

    The proxy that the first page came through fails from then on.
    """

    def __init__(self, folder: Path, *ahead: str) -> None:
        always = "shop.test: {proxy: {use: always}}"
        self._steps = Steps(folder, policies=always, proxies=POOL, shelf=Shelf(ahead))
        self._steps.http.answer = self._answer
        self._failing: Proxy | None = None

    async def go(self) -> Outcome:
        return await self._steps.pipeline().run(Request(HOME, extract="product"))

    @property
    def asked(self) -> list[str]:
        """What the site was asked for, in order."""
        return [hop.url.target for hop in self._steps.http.hops]

    def _answer(self, hop: Hop) -> Answer:
        if hop.proxy == self._failing:
            return ProxyFailed("proxy")
        if hop.url.target == "/robots.txt":
            return page_of(status=404)
        if hop.url.href == HOME:
            self._steps.clock.move(TWO_DAYS)
            self._failing = hop.proxy
        return page_of(hop.url.target, hop.url.href)


@pytest.mark.parametrize(
    ("ahead", "name"),
    [(("/a",), "/lamp"), (("/a", "/b"), "/lamp /b")],
    ids=["only page", "next through another proxy"],
)
async def test_record_so_far_outlives_a_proxy_that_fails_on_the_way_to_robots_txt(
    tmp_path: Path, ahead: tuple[str, ...], name: str
) -> None:
    walk = Walk(tmp_path, *ahead)

    outcome = await walk.go()

    assert outcome.ok
    assert outcome.reading
    assert getattr(outcome.reading.record, "name", None) == name
    assert outcome.attempts == 1
    assert walk.asked.count("/lamp") == 1


class Knocking:
    """A site that was down; its root answers what a test says, its pages are good."""

    def __init__(self, folder: Path, policies: str = "") -> None:
        self.steps = Steps(folder, policies=policies, proxies=POOL, knocks=True)

    async def fetch_after_an_outage(self, answer: Callable[[Hop], Answer]) -> Outcome:
        leave = await self.steps.breaker.enter("shop.test")
        assert isinstance(leave, Pass)
        await self.steps.breaker.report(leave, well=False)
        self.steps.http.answer = lambda hop: page_of() if hop.method == "GET" else answer(hop)
        return await self.steps.pipeline().run(Request(HOME))

    @property
    def knocks(self) -> list[Proxy | None]:
        """Through which proxies the root was asked for."""
        return [hop.proxy for hop in self.steps.http.hops if hop.method == "HEAD"]


@pytest.mark.parametrize("failure", [Refused("address"), Refused("resolve", gate="admission")])
async def test_a_root_that_may_not_be_contacted_ends_the_visit(
    tmp_path: Path, failure: Failure
) -> None:
    site = Knocking(tmp_path)

    outcome = await site.fetch_after_an_outage(lambda _hop: failure)

    assert outcome.failure == failure
    assert len(site.knocks) == 1


async def test_a_proxy_that_fails_on_a_knock_is_not_asked_again(tmp_path: Path) -> None:
    site = Knocking(tmp_path, "shop.test: {proxy: {use: always}}")
    failing: list[Proxy | None] = []

    def answer(hop: Hop) -> Answer:
        if not failing:
            failing.append(hop.proxy)
        return ProxyFailed("proxy") if hop.proxy in failing else page_of()

    outcome = await site.fetch_after_an_outage(answer)

    assert outcome.ok
    assert len(set(site.knocks)) == len(site.knocks) == 2
