"""The walk itself: what is kept of a visit when something goes wrong late on its way."""

import random
from pathlib import Path

import pytest

from penstock.kernel.model import Outcome, Proxy, ProxyFailed, Request
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.ports import Hop
from penstock.kernel.retry import Retry
from penstock.kernel.settings import RetrySettings
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
        return await self._pipeline().run(Request(HOME, extract="product"))

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

    def _pipeline(self) -> Pipeline:
        steps = self._steps
        return Pipeline(
            entrance=steps.entrance,
            robots=steps.robots,
            gates=steps.gates,
            turns=steps.turns,
            ways=steps.ways,
            contact=steps.contact,
            circuits=steps.circuits,
            retry=Retry(RetrySettings(), random.Random(7)),
            harvest=steps.harvest,
            chronicle=steps.chronicle,
            clock=steps.clock,
            max_redirects=5,
        )


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
