"""One contact: how long it may take, what it costs the caller, and who hears how it went."""

from pathlib import Path

import pytest

from penstock.kernel.contact import TASK_TIMEOUT
from penstock.kernel.model import Failure, Pass, ProxyFailed, Redirect, SiteWide
from penstock.kernel.policy import ProxyChoice
from penstock.kernel.ports import NotNow
from tests.unit.kernel.steps import Steps, on_errand, page_of, visit_to


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path)


async def leave(steps: Steps) -> Pass:
    passed = await steps.breaker.enter("shop.test")
    assert isinstance(passed, Pass)
    return passed


async def test_page_is_handed_back_and_its_time_is_spent(steps: Steps) -> None:
    steps.http.seconds = 3.0
    visit = visit_to()

    reply, failure = await steps.contact.make(visit, await leave(steps))

    assert (reply, failure, visit.spent) == (steps.http.answer, None, 3.0)


async def test_redirect_is_no_failure(steps: Steps) -> None:
    steps.http.answer = Redirect("/other", 302)

    assert await steps.contact.make(visit_to(), await leave(steps)) == (steps.http.answer, None)


@pytest.mark.parametrize(
    ("status", "is_down"), [(200, False), (404, False), (429, False), (500, True), (503, True)]
)
async def test_breaker_hears_of_the_site(steps: Steps, status: int, is_down: bool) -> None:
    steps.http.answer = page_of("x" * 2000, status=status)

    await steps.contact.make(visit_to(), await leave(steps))

    assert (await steps.breaker.look("shop.test") is not None) is is_down


async def test_hop_may_take_what_the_attempt_has_left(steps: Steps) -> None:
    visit = visit_to()
    visit.spent = 10.0

    await steps.contact.make(visit, await leave(steps))

    assert steps.http.hops[0].timeout == 20.0


@pytest.mark.parametrize(
    ("granted", "failure"), [(5.0, TASK_TIMEOUT), (50.0, SiteWide("timeout")), (None, None)]
)
async def test_time_out_is_the_callers_where_the_caller_granted_less(
    steps: Steps, granted: float | None, failure: Failure | None
) -> None:
    steps.http.answer = SiteWide("timeout")

    _, why = await steps.contact.make(visit_to(timeout=granted), await leave(steps))

    assert why == (failure or steps.http.answer)


@pytest.mark.parametrize("name", ["browser", "kept"])
async def test_fetchers_in_browsers_are_told_what_to_do_with_the_page(
    steps: Steps, name: str
) -> None:
    steps.browser.name = name
    visit = visit_to(fetcher="browser", keep="match 1")

    await steps.contact.make(visit, await leave(steps))

    browsing = steps.browser.hops[0].browsing
    assert browsing
    assert browsing.keep == "match 1"


async def test_robots_txt_is_cut_where_it_is_too_long_and_costs_the_caller_nothing(
    steps: Steps,
) -> None:
    steps.http.seconds = 3.0
    visit = visit_to(timeout=1.0)
    on_errand(visit)

    await steps.contact.make(visit, await leave(steps))

    hop = steps.http.hops[0]
    assert (hop.max_bytes, hop.truncate, hop.timeout) == (512 * 1024, True, 30.0)
    assert visit.spent == 0.0


async def test_time_that_our_own_trouble_took_is_lost_to_the_caller_only(steps: Steps) -> None:
    steps.http.answer, steps.http.seconds = NotNow("browser_crashed", "it is gone", 1.0), 2.0
    visit = visit_to(timeout=10.0)

    with pytest.raises(NotNow):
        await steps.contact.make(visit, await leave(steps))

    assert (visit.spent, visit.time_left) == (0.0, 8.0)
    assert await steps.breaker.look("shop.test") is None


async def test_without_a_proxy_nobody_is_contacted(steps: Steps) -> None:
    visit = visit_to(policy={"proxy": ProxyChoice()})

    reply, failure = await steps.contact.make(visit, await leave(steps))

    assert reply is None
    assert isinstance(failure, ProxyFailed)
    assert steps.http.hops == []
