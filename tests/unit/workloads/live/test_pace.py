"""A feed is not watched faster than the policy of its domain allows."""

import pytest

from penstock.kernel.policy import PolicyBook, PolicyEntry
from penstock.kernel.settings import PacingSettings
from penstock.workloads.live.model import Feed
from penstock.workloads.live.pace import Demand, Paces
from penstock.workloads.live.settings import LiveSettings
from tests.live import ADAPTER

OPEN = ADAPTER.__class__("open", "1.0.0", ADAPTER.extract, ways=("page",))


def paces(**policy: float) -> Paces:
    """With the platform's own pace, or that of a policy for all domains."""
    said = PolicyEntry(**policy) if policy else None
    live = {"live": LiveSettings().as_policy()}
    return Paces(
        PolicyBook(PacingSettings().as_entry(), (), live if not policy else None, said), 2.5
    )


def feed(match_id: str = "m1", interval: float | None = None, host: str = "live.test") -> Feed:
    return Feed(match_id, f"http://{host}/match/1", "scripted", interval=interval)


def test_the_usual_interval_is_allowed_where_no_policy_has_a_word() -> None:
    assert paces().problem_with(feed(), ADAPTER, []) is None
    assert paces().floor_of(feed(), ADAPTER) == 2.0


@pytest.mark.parametrize(("interval", "is_allowed"), [(10.0, True), (9.9, False), (2.5, False)])
def test_a_shorter_interval_than_the_policy_allows_is_refused(
    interval: float, is_allowed: bool
) -> None:
    slow = paces(request_delay_ms=10_000, interval_seconds=10)

    problem = slow.problem_with(feed(interval=interval), ADAPTER, [])

    assert (problem is None) == is_allowed
    if problem:
        assert "live.test allows a request every 10 s" in problem
        assert f"{interval:g} s" in problem


def test_feeds_of_one_domain_share_what_it_allows() -> None:
    others = [Demand("m2", "live.test", 2.5)]

    problem = paces().problem_with(feed(), ADAPTER, others)

    assert problem
    assert "m2" in problem
    assert paces().problem_with(feed(interval=10.0), ADAPTER, others) is None
    assert paces().problem_with(feed(host="other.test"), ADAPTER, others) is None


def test_a_feed_does_not_stand_in_its_own_way() -> None:
    assert paces().problem_with(feed("m2"), ADAPTER, [Demand("m2", "live.test", 2.5)]) is None


def test_a_page_that_stays_open_asks_for_nothing() -> None:
    slow = paces(request_delay_ms=60_000, interval_seconds=60)

    assert slow.problem_with(feed(interval=2.0), OPEN, []) is None
    assert slow.demand_of(feed(), OPEN) is None
    assert slow.floor_of(feed(), OPEN) == 0.0
