"""By which fetcher and through which proxy: who decides, what is kept and what is tried no more."""

from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.model import Blocked, Failure, Proxy, ProxyFailed, SiteWide, Visit
from penstock.kernel.policy import ProxyChoice
from penstock.kernel.ports import NotNow
from penstock.kernel.proxies import Carried
from tests.unit.kernel.steps import Shelf, Steps, on_errand, visit_to

SHELL = Blocked("empty_shell")
POOL = ("http://a:1#de", "http://b:2#fr")


def said(fetcher: str) -> dict[str, Any]:
    return {"fetcher": fetcher, "said_by": {"fetcher": "shop.test"}}


@pytest.mark.parametrize(
    ("wishes", "policy", "adapter_needs_browser", "fetcher"),
    [
        ({}, {}, False, "http"),
        ({"extract": "product"}, {}, True, "browser"),
        ({}, {}, True, "http"),
        ({"scroll": True}, {}, False, "browser"),
        ({"wait_for": "#price"}, {}, False, "browser"),
        ({"screenshot": True}, {}, False, "browser"),
        ({"scroll": True}, said("http"), False, "http"),
        ({"extract": "product"}, said("auto"), True, "http"),
        ({}, said("browser"), False, "browser"),
        ({"fetcher": "http"}, said("browser"), True, "http"),
        ({"fetcher": "browser"}, said("http"), False, "browser"),
    ],
)
def test_caller_decides_then_policy_then_adapter(
    tmp_path: Path,
    wishes: dict[str, Any],
    policy: dict[str, Any],
    adapter_needs_browser: bool,
    fetcher: str,
) -> None:
    steps = Steps(tmp_path, shelf=Shelf(browsers=adapter_needs_browser))

    assert steps.ways.fetcher_for(visit_to(policy=policy, **wishes)) == fetcher


def test_robots_txt_is_never_opened_in_a_browser(tmp_path: Path) -> None:
    visit = visit_to(fetcher="browser")
    on_errand(visit)

    assert Steps(tmp_path).ways.fetcher_for(visit) == "http"


@pytest.mark.parametrize(
    ("failure", "policy", "wishes", "needs"),
    [
        (SHELL, said("auto"), {}, True),
        (SHELL, said("http"), {}, False),
        (SHELL, said("auto"), {"fetcher": "http"}, False),
        (SHELL, {}, {}, False),
        (SHELL, {}, {"escalates": True}, True),
        (SHELL, said("http"), {"escalates": True}, False),
        (SHELL, {}, {"escalates": True, "fetcher": "http"}, False),
        (Blocked("captcha"), said("auto"), {}, False),
        (SiteWide("empty_shell"), said("auto"), {}, False),
        (None, said("auto"), {}, False),
    ],
)
def test_browser_fills_an_empty_shell_where_policy_or_request_let_it(
    tmp_path: Path,
    failure: Failure | None,
    policy: dict[str, Any],
    wishes: dict[str, Any],
    needs: bool,
) -> None:
    visit = visit_to(policy=policy, **wishes)

    assert Steps(tmp_path).ways.needs_browser_after_all(visit, failure) is needs


def test_browser_is_not_asked_to_fill_what_it_made_itself(tmp_path: Path) -> None:
    visit = visit_to(policy=said("auto"))
    visit.fetcher = "browser"

    assert not Steps(tmp_path).ways.needs_browser_after_all(visit, SHELL)


def test_busy_browsers_are_waited_for_by_their_own_visits_only(tmp_path: Path) -> None:
    steps = Steps(tmp_path)
    steps.browser.busy = 7.0

    wait = steps.ways.look(visit_to(fetcher="browser"))

    assert wait
    assert (wait.gate, wait.until, wait.line) == ("browser", 1007.0, False)
    assert steps.ways.look(visit_to()) is None


async def test_resting_proxies_are_waited_for_before_the_fetcher(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL[:1])
    steps.http.busy = 7.0
    through = {"proxy": ProxyChoice()}
    first, second = visit_to(policy=through), visit_to(policy=through)
    await steps.ways.choose_proxy(first)

    waits = steps.ways.look(second), steps.ways.look(first)

    assert [wait.gate for wait in waits if wait] == ["proxy", "browser"]


async def test_all_hops_of_an_attempt_go_through_one_proxy(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL)
    visit = visit_to(policy={"proxy": ProxyChoice()})

    chosen = await steps.ways.choose_proxy(visit)
    visit.keep_cookies({"a": "1"})

    assert await steps.ways.choose_proxy(visit) == chosen == Proxy("http", "a", 1, region="de")
    assert visit.cookies


@pytest.mark.parametrize(
    ("choice", "proxy"),
    [
        (ProxyChoice(region="fr"), Proxy("http", "b", 2, region="fr")),
        (ProxyChoice(use="never"), None),
    ],
)
async def test_cookies_do_not_survive_a_change_of_proxy(
    tmp_path: Path, choice: ProxyChoice, proxy: Proxy | None
) -> None:
    steps = Steps(tmp_path, proxies=POOL)
    visit = visit_to(policy={"proxy": ProxyChoice()})
    await steps.ways.choose_proxy(visit)
    visit.keep_cookies({"a": "1"})
    visit.policy = visit_to(policy={"proxy": choice}).policy

    assert await steps.ways.choose_proxy(visit) == visit.proxy == proxy
    assert visit.cookies == {}


async def test_proxy_that_failed_is_not_used_by_the_visit_again(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL[:1])
    visit = visit_to(policy={"proxy": ProxyChoice()})
    proxy = await steps.ways.choose_proxy(visit)
    assert isinstance(proxy, Proxy)

    steps.ways.judge_proxy(visit, proxy, ProxyFailed("proxy"))
    steps.proxies.enable(proxy)
    steps.clock.move(60)

    assert isinstance(await steps.ways.choose_proxy(visit), ProxyFailed)
    assert steps.proxies.members[0].failures == 1


async def test_trouble_of_the_site_does_not_count_against_the_proxy(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL[:1])
    visit = visit_to(policy={"proxy": ProxyChoice()})
    proxy = await steps.ways.choose_proxy(visit)
    assert isinstance(proxy, Proxy)

    steps.ways.judge_proxy(visit, proxy, SiteWide("timeout"))

    assert (steps.proxies.members[0].successes, visit.failed_proxies) == (1, ())


async def rests_at(steps: Steps, visit: Visit) -> float:
    """In how many seconds a proxy can be had again."""
    with pytest.raises(NotNow) as trouble:
        await steps.ways.choose_proxy(visit)
    assert trouble.value.reason == "proxies_rest"
    return trouble.value.seconds


async def test_visits_that_come_together_wait_for_proxies_to_rest(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL)
    through = {"proxy": ProxyChoice()}

    chosen = [await steps.ways.choose_proxy(visit_to(policy=through)) for _ in POOL]

    assert len({str(proxy) for proxy in chosen}) == 2
    assert await rests_at(steps, visit_to(policy=through)) == 30


async def test_a_policy_says_how_often_a_proxy_visits_its_domain(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL[:1])
    through = {"proxy": ProxyChoice(requests_per_second=4)}
    await steps.ways.choose_proxy(visit_to(policy=through))

    wait = steps.ways.look(visit_to(policy=through))

    assert wait
    assert (wait.gate, wait.until) == ("proxy", 1000.25)
    assert await rests_at(steps, visit_to(policy=through)) == 0.25
    assert await steps.ways.choose_proxy(visit_to("https://other.test/", policy=through))
    steps.clock.move(0.25)
    assert await steps.ways.choose_proxy(visit_to(policy=through))


async def test_further_hops_use_a_proxy_no_more_often_than_that(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL)
    visit = visit_to(policy={"proxy": ProxyChoice(requests_per_second=1)})
    chosen = await steps.ways.choose_proxy(visit)

    wait = steps.ways.look(visit)

    assert wait
    assert wait.until == 1001
    assert await rests_at(steps, visit) == 1
    steps.clock.move(1)
    assert steps.ways.look(visit) is None
    assert await steps.ways.choose_proxy(visit) == chosen
    assert await rests_at(steps, visit) == 1


def test_the_pool_hears_how_long_an_answer_took_and_how_large_it_was(tmp_path: Path) -> None:
    steps = Steps(tmp_path, proxies=POOL[:1])
    visit = visit_to(policy={"proxy": ProxyChoice()})
    proxy = steps.proxies.members[0].proxy

    steps.ways.judge_proxy(visit, proxy, None, Carried(0.5, 900))
    steps.ways.judge_proxy(visit, proxy, SiteWide("timeout"))

    (delta,) = steps.proxies.take_deltas().values()
    assert (delta.successes, delta.answers, delta.seconds, delta.bytes) == (2, 1, 0.5, 900)
