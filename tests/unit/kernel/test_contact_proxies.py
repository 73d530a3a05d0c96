"""What a contact tells the proxy pool, and what it leaves behind when every proxy rests."""

from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import Failure, Page, Pass, Redirect, SiteWide
from penstock.kernel.policy import ProxyChoice
from penstock.kernel.ports import NotNow
from penstock.kernel.proxies import Delta
from tests.unit.kernel.steps import Steps, on_errand, page_of, visit_to

THROUGH: dict[str, Any] = {"proxy": ProxyChoice()}
ZIPPED: dict[str, Any] = {"Content-Encoding": "gzip", "Content-Length": "300"}


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path, proxies=["http://a:1"])


async def leave(steps: Steps) -> Pass:
    passed = await steps.breaker.enter("shop.test")
    assert isinstance(passed, Pass)
    return passed


def told(steps: Steps) -> Delta:
    (delta,) = steps.proxies.take_deltas().values()
    return delta


@pytest.mark.parametrize(
    ("answer", "answers", "size"),
    [
        (page_of("x" * 900), 1, 900),
        (page_of("x" * 900, status=500), 1, 900),
        (page_of("x" * 900, **ZIPPED), 1, 300),
        (page_of("x" * 900, **{**ZIPPED, "Content-Length": "many"}), 1, 900),
        (Redirect("/other", 302), 1, 0),
        (SiteWide("timeout"), 0, 0),
    ],
    ids=["page", "error", "zipped", "odd", "redirect", "nothing"],
)
async def test_the_pool_hears_how_long_an_answer_took_and_how_large_it_was(
    steps: Steps, answer: Page | Redirect | Failure, answers: int, size: int
) -> None:
    steps.http.answer, steps.http.seconds = answer, 2.0

    await steps.contact.make(visit_to(policy=THROUGH), await leave(steps))

    delta = told(steps)
    assert (delta.successes, delta.answers, delta.bytes) == (1, answers, size)
    assert delta.seconds == 2.0 * answers


async def test_of_robots_txt_only_what_was_read_counts(steps: Steps) -> None:
    steps.http.answer = page_of("x" * 100, **ZIPPED)
    visit = visit_to(policy=THROUGH)
    on_errand(visit)

    await steps.contact.make(visit, await leave(steps))

    assert told(steps).bytes == 100


async def test_while_every_proxy_rests_a_probe_is_given_back(steps: Steps) -> None:
    await steps.contact.make(visit_to(policy=THROUGH), await leave(steps))
    await steps.breaker.report(await leave(steps), well=False)
    steps.clock.move(120)
    steps.proxies.lease("shop.test")

    for contact in (steps.contact.make, steps.contact.knock):
        probe = await leave(steps)
        assert probe.probe
        with pytest.raises(NotNow):
            await contact(visit_to(policy=THROUGH), probe)

    assert (await leave(steps)).probe
    assert len(steps.http.hops) == 1
