"""Metrics of the monitor: what was committed is counted once, and timed by what the gates said."""

from dataclasses import replace
from typing import Any

from penstock.core.metrics import Metrics
from penstock.kernel.model import Outcome, Page, Request, Said
from penstock.kernel.records import DropReason
from penstock.quality.drift import Counts
from penstock.queue.lanes import Result
from penstock.queue.ports import Claim, Done
from penstock.workloads.monitor.counting import Fate
from penstock.workloads.monitor.metrics import MonitorMetrics
from penstock.workloads.monitor.model import FetchStatus
from tests.unit.core.test_metrics import Readings

PAIR = {"adapter_id": "product@shop", "source_id": "s1"}
TRACE = (
    Said("robots", "allowed", 0.5),
    Said("pacing", "wait 2.0 s", 1.0),
    Said("pacing", "turn", 3.0),
    Said("fetch", "200", 3.25),
    Said("blocks", "none", 3.25),
    Said("extract", "ok", 3.255),
    Said("judge", "accept", 3.256),
)
OFFER = Counts(urls_attempted=1, urls_succeeded=1, offers_extracted=1, offers_valid=1)
ACCEPTED = Fate(FetchStatus.OK, "SUCCESS", OFFER, "reset", "accept")


def result(item: str = "i1", **changes: Any) -> Result:
    claim = Claim(
        item, "monitor", {"source": "s1"}, "shop.example", 5, "product@shop", "", 0, 0, 1, 1
    )
    page = Page("https://shop.example/1", 200, {}, b"", 0.25)
    outcome = Outcome(Request("https://shop.example/1"), page, None, TRACE, domain="shop.example")
    return Result(claim, replace(outcome, **changes), Done())


class Counting:
    """The metrics, and what Prometheus reads of them."""

    def __init__(self) -> None:
        self._metrics = Metrics()
        self.monitor = MonitorMetrics(self._metrics)

    def commit(self, fate: Fate, **changes: Any) -> None:
        self.monitor.judged({"i1": fate})
        self.monitor.note(result(**changes))

    def value(self, name: str, **labels: str) -> float:
        return Readings(self._metrics.text()).value(name, **labels)


def test_accepted_offer_is_counted_on_every_step() -> None:
    counting = Counting()

    counting.commit(ACCEPTED)

    assert counting.value("scrape_urls_attempted_total", status="ok", **PAIR) == 1
    for name in ("urls_succeeded", "offers_extracted", "offers_valid"):
        assert counting.value(f"scrape_{name}_total", **PAIR) == 1
    for name in ("urls_failed", "offers_dropped", "offers_quarantined", "oos_no_price"):
        assert counting.value(f"scrape_{name}_total") == 0


def test_drop_and_failure_are_counted_by_reason() -> None:
    counting = Counting()
    dropped = Counts(urls_attempted=1, urls_succeeded=1, offers_extracted=1, offers_dropped=1)
    reason = DropReason.UNKNOWN_AVAILABILITY

    counting.commit(Fate(FetchStatus.OK, "DROPPED", dropped, "leave", "drop", reason))
    failed = Counts(urls_attempted=1, urls_failed=1)
    timeout = Fate(FetchStatus.TIMEOUT, "FAILED", failed, "leave", None, "timeout")
    counting.commit(timeout, page=None, trace=())

    assert counting.value("scrape_offers_dropped_total", reason=reason, **PAIR) == 1
    assert counting.value("scrape_urls_failed_total", reason="timeout", **PAIR) == 1
    assert counting.value("scrape_urls_attempted_total", status="timeout", **PAIR) == 1


def test_sold_out_without_price_is_no_drop() -> None:
    counting = Counting()
    numbers = Counts(urls_attempted=1, urls_succeeded=1, oos_no_price_count=1)

    counting.commit(
        Fate(FetchStatus.OK, "DROPPED", numbers, "leave", "drop", DropReason.OOS_NO_PRICE)
    )

    assert counting.value("scrape_oos_no_price_total", **PAIR) == 1
    assert counting.value("scrape_offers_dropped_total") == 0


def test_what_is_judged_twice_and_committed_once_counts_once() -> None:
    counting = Counting()
    counting.monitor.judged({"i1": ACCEPTED})
    counting.commit(ACCEPTED)
    counting.monitor.note(result())

    assert counting.value("scrape_offers_valid_total", **PAIR) == 1


def test_what_is_never_committed_does_not_count() -> None:
    counting = Counting()

    counting.monitor.judged({"i1": ACCEPTED})

    assert counting.value("scrape_offers_valid_total") == 0


def test_fetch_reading_and_waiting_are_timed() -> None:
    counting = Counting()

    counting.commit(ACCEPTED)

    assert counting.value("scrape_fetch_duration_ms_sum", adapter_id="product@shop") == 250
    assert round(counting.value("scrape_extract_duration_ms_sum"), 3) == 5
    assert counting.value("scrape_rate_limit_wait_ms_sum", domain="shop.example") == 2000
    assert counting.value("scrape_rate_limit_wait_ms_count", domain="shop.example") == 1


def test_turn_that_came_at_once_took_no_time() -> None:
    counting = Counting()

    counting.commit(ACCEPTED, trace=(Said("pacing", "turn", 3.0),))

    assert counting.value("scrape_rate_limit_wait_ms_sum") == 0
    assert counting.value("scrape_rate_limit_wait_ms_count") == 1


def test_rejections_are_counted_by_reason() -> None:
    counting = Counting()

    counting.monitor.rejected("queue_full", 7)

    assert counting.value("scrape_queue_rejected_total", reason="queue_full") == 7
