"""Whether a feed may be looked at as often as somebody wishes: its domain's policy decides."""

from collections.abc import Iterable
from typing import NamedTuple

from penstock.core.urls import parse
from penstock.extract.live.adapter import LiveAdapter
from penstock.kernel.policy import Pace, PolicyBook
from penstock.workloads.live.model import WORKLOAD, Feed

#: Shares of a pace are compared as people would: what is over by less is not.
SLACK = 1.001


class Demand(NamedTuple):
    """A feed that asks its site with every look, in a line, every so many seconds."""

    match_id: str
    ledger: str
    interval: float


class Paces:
    """What domains allow."""

    def __init__(self, policies: PolicyBook, baseline: float) -> None:
        self._policies = policies
        self._baseline = baseline

    def floor_of(self, feed: Feed, adapter: LiveAdapter) -> float:
        """The shortest time between two looks at a feed that its domain allows."""
        if adapter.way_for(feed.options) == "page":
            return 0.0
        return _seconds_apart(self._policy_pace(feed))

    def demand_of(self, feed: Feed, adapter: LiveAdapter) -> Demand | None:
        """What a feed asks of its site; None if it is a page that stays open."""
        if adapter.way_for(feed.options) == "page":
            return None
        ledger = self._policies.look_up(parse(feed.url).host, WORKLOAD).ledger
        return Demand(feed.match_id, ledger, feed.interval or self._baseline)

    def problem_with(
        self, feed: Feed, adapter: LiveAdapter, others: Iterable[Demand]
    ) -> str | None:
        """Why a feed cannot be watched at its interval; None if it can."""
        demand = self.demand_of(feed, adapter)
        if demand is None:
            return None
        apart = _seconds_apart(self._policy_pace(feed))
        if demand.interval * SLACK < apart:
            return (
                f"the policy of {demand.ledger} allows a request every {apart:g} s, and the feed "
                f"asks for one every {demand.interval:g} s: choose a longer interval, or change "
                "the policy of the domain"
            )
        same = [
            each
            for each in others
            if each.ledger == demand.ledger and each.match_id != feed.match_id
        ]
        if sum(apart / each.interval for each in (demand, *same)) <= SLACK:
            return None
        names = ", ".join(sorted(each.match_id for each in same)[:5])
        return (
            f"the policy of {demand.ledger} allows a request every {apart:g} s, and other feeds "
            f"use it already ({names}): choose longer intervals, or change the policy of the domain"
        )

    def _policy_pace(self, feed: Feed) -> Pace:
        return self._policies.look_up(parse(feed.url).host, WORKLOAD).pace


def _seconds_apart(pace: Pace) -> float:
    """How far apart requests are in the long run."""
    return max(pace.delay, *(rate.window / rate.limit for rate in pace.rates))
