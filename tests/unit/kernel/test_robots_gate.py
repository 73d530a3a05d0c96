"""The errand for robots.txt: what an answer teaches, and what is handed back to the visit."""

from pathlib import Path

import pytest

from penstock.kernel.model import (
    Broken,
    Failure,
    ProxyFailed,
    RateLimited,
    Redirect,
    Refused,
    SiteWide,
    UrlSpecific,
    Wait,
)
from tests.unit.kernel.steps import Steps, on_errand, page_of, visit_to

ORIGIN = "https://shop.test"


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    return Steps(tmp_path)


async def status(steps: Steps) -> str | None:
    rules = await steps.answers.known(ORIGIN)
    return rules.answer.status if rules else None


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410])
async def test_page_without_robots_txt_is_allowed(steps: Steps, code: int) -> None:
    visit = visit_to()
    failure = UrlSpecific(f"http_{code}", "", code)

    after = await steps.robots.mind(visit, on_errand(visit), page_of(), failure)

    assert (after, visit.errand, await status(steps)) == (None, None, "allow")


async def test_robots_txt_that_leads_nowhere_allows_nothing(steps: Steps) -> None:
    visit = visit_to()
    errand = on_errand(visit)

    after = await steps.robots.mind(visit, errand, page_of(), UrlSpecific("odd_redirect", "", 302))

    assert isinstance(after, Wait)
    assert (visit.errand, await status(steps)) == (errand, None)


async def test_robots_txt_that_came_is_kept_for_everybody(steps: Steps) -> None:
    visit = visit_to()

    await steps.robots.mind(visit, on_errand(visit), page_of("User-agent: *"), None)

    assert (visit.errand, await status(steps)) == (None, "rules")


@pytest.mark.parametrize("failure", [ProxyFailed("proxy"), Refused("admission_private")])
async def test_failure_that_is_the_visits_own_teaches_nothing(
    steps: Steps, failure: Failure
) -> None:
    visit = visit_to()

    after = await steps.robots.mind(visit, on_errand(visit), None, failure)

    assert (after, await status(steps)) == (failure, None)


async def test_unreachable_one_is_asked_again_and_then_believed(steps: Steps) -> None:
    visit = visit_to()
    errand = on_errand(visit)

    waits = [await steps.robots.mind(visit, errand, None, SiteWide("timeout")) for _ in range(3)]

    assert [wait.until for wait in waits if isinstance(wait, Wait)] == [1002.0, 1004.0]
    assert (visit.errand, await status(steps)) == (None, "unreachable")


@pytest.mark.parametrize(
    ("location", "hops"), [("http://denied.test/robots.txt", 0), ("/other", 5), ("http://[", 0)]
)
async def test_redirect_that_leads_nowhere_is_not_tried_again(
    steps: Steps, location: str, hops: int
) -> None:
    visit = visit_to()

    after = await steps.robots.mind(visit, on_errand(visit, hops), Redirect(location, 301), None)

    assert (after, await status(steps)) == (None, "unreachable")


async def test_redirect_is_followed_by_the_policy_of_where_it_leads(steps: Steps) -> None:
    visit = visit_to()

    await steps.robots.mind(visit, on_errand(visit), Redirect("http://cdn.test/robots", 302), None)

    assert (visit.next_url.href, visit.ledger) == ("http://cdn.test/robots", "cdn.test")


async def test_site_that_asks_to_slow_down_is_held(steps: Steps) -> None:
    visit = visit_to()
    limited = RateLimited("rate_limited", retry_after=60)

    await steps.robots.mind(visit, on_errand(visit), None, limited)
    wait = await steps.turns.take(visit, visit.policy.pace)

    assert wait
    assert wait.until == pytest.approx(1060.0)


async def test_errand_that_would_outlast_its_claim_is_left_to_others(steps: Steps) -> None:
    first, second = visit_to(), visit_to()
    await steps.robots.send(first)
    on_errand(first, tries=2)

    await steps.robots.put_off(first, 59)
    kept = await steps.robots.send(second)
    await steps.robots.put_off(first, 61)
    free = await steps.robots.send(second)

    assert isinstance(kept, Wait)
    assert (free, first.errand, first.robots_tries) == (None, None, 2)


async def test_broken_answer_after_a_hop_is_unreachable(steps: Steps) -> None:
    visit = visit_to()

    after = await steps.robots.mind(visit, on_errand(visit, 1, 2), None, Broken("bad_http"))

    assert (after, await status(steps)) == (None, "unreachable")
