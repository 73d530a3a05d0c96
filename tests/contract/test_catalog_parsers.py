"""How parsers fare on domains: rates by version, a word to ops when they drop, and shadows."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text, update

from penstock.events.log import EventLog
from penstock.notify.ops import OpsAlerts, open_alerts
from penstock.notify.tables import ops_alerts
from penstock.notify.topics import OPS_ALERT
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.model import DAY_MS
from penstock.workloads.catalog.parsing_rates import (
    HOUR_MS,
    KIND,
    ParserSettings,
    ParserUpkeep,
    find_drops,
    parse_rates,
)
from penstock.workloads.catalog.shadow import report_of_newest
from penstock.workloads.catalog.tables import crawl_attempts
from tests.contract.test_queue_plans import note_statements, plan_of
from tests.stores import Stores, rows_of
from tests.unit.workloads.catalog.parsed import add_attempts, add_domain, add_parses, attempt

RULE = ParserSettings()
NEXT = "product@1.1.0"


class Watch:
    """A store with a domain whose pages are parsed, and who looks after the parsers."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.log = EventLog(store)
        self.upkeep = ParserUpkeep(store, OpsAlerts(self.log, "https://ops.example/hook"))

    async def do(self, work: Callable[[Unit], object]) -> None:
        await self.store.write(lambda unit: work(unit) and None)

    async def parsed(self, parsed: int, failed: int, *, hours_ago: float, **traits: Any) -> None:
        """Pages of the domain that were parsed so many hours ago."""

        def work(unit: Unit) -> None:
            at = unit.now - int(hours_ago * HOUR_MS)
            add_parses(unit, traits.pop("domain", "shop"), at, parsed, failed, **traits)

        await self.do(work)

    async def drops(self) -> list[tuple[str, float, float | None]]:
        found = await self.store.read(lambda unit: find_drops(unit, unit.now, RULE))
        return [(drop.now.subject, drop.now.rate, drop.before) for drop in found]

    async def told(self) -> list[dict[str, Any]]:
        return [dict(event.message.data) for event in await self.log.read(topics=[OPS_ALERT])]

    async def lasting(self) -> set[str]:
        return await self.store.read(
            lambda unit: {row["subject"] for row in open_alerts(unit, KIND)}
        )

    async def grow_older(self, ms: int) -> None:
        """Everything that was parsed, and told, was so much longer ago."""
        parsed = update(crawl_attempts).values(ended_at=crawl_attempts.c.ended_at - ms)
        columns = ops_alerts.c
        told = {"first_at": columns.first_at - ms, "last_at": columns.last_at - ms}
        await self.do(lambda unit: unit.run(parsed))
        await self.do(lambda unit: unit.run(update(ops_alerts).values(told)))


@pytest.fixture
async def watch(store: Store) -> Watch:
    await store.write(lambda unit: add_domain(unit) and None)
    return Watch(store)


# ── rates


async def test_rates_are_told_by_domain_and_version(watch: Watch) -> None:
    await watch.do(lambda unit: add_domain(unit, "other"))
    await watch.parsed(3, 1, hours_ago=2)
    await watch.parsed(1, 0, hours_ago=1, version=NEXT)
    await watch.parsed(0, 2, hours_ago=1, domain="other")
    await watch.parsed(50, 0, hours_ago=30)

    def look(unit: Unit, **chosen: Any) -> list[tuple[str, str, int, int, float]]:
        rates = parse_rates(unit, unit.now - 24 * HOUR_MS, **chosen)
        return [
            (each.domain_name, each.parser_version, each.parsed, each.failed, each.rate)
            for each in rates
        ]

    assert await watch.store.read(look) == [
        ("other.example", "product@1.0.0", 0, 2, 0.0),
        ("shop.example", "product@1.0.0", 3, 1, 0.75),
        ("shop.example", NEXT, 1, 0, 1.0),
    ]
    one = await watch.store.read(lambda unit: look(unit, domain_id="other"))
    assert [domain for domain, *_ in one] == ["other.example"]


async def test_rate_says_when_its_pages_were_parsed(watch: Watch) -> None:
    rows = [attempt("shop", at) for at in (300, 100, 200)]
    await watch.do(lambda unit: add_attempts(unit, rows))

    [rate] = await watch.store.read(lambda unit: parse_rates(unit, 0))

    assert (rate.first_at, rate.last_at, rate.domain_id) == (100, 300, "shop")


async def test_of_the_latest_attempts_so_many_are_looked_at(watch: Watch) -> None:
    rows = [attempt("shop", at) for at in (100, 200, 300)]
    others = [attempt("shop", 400, kind="download", parser_version=None)]
    await watch.do(lambda unit: add_attempts(unit, rows + others))

    async def parsed(domain: str | None = None) -> int:
        [rate] = await watch.store.read(lambda unit: parse_rates(unit, 0, domain, most=2))
        return rate.parsed

    # Of all domains, downloads are among those that are looked at.
    assert await parsed() == 1
    assert await parsed("shop") == 2


async def test_only_pages_that_were_to_be_read_count(watch: Watch) -> None:
    def work(unit: Unit) -> None:
        others: list[dict[str, Any]] = [
            {"kind": "download", "parser_version": None},
            {"kind": "download", "status": "failed", "parser_version": None},
            {"status": "unchanged"},
            {"status": "deferred"},
        ]
        add_attempts(unit, [attempt("shop", unit.now, **each) for each in others])

    await watch.do(work)

    assert await watch.store.read(lambda unit: parse_rates(unit, 0)) == []


async def test_what_was_usual_on_a_domain_is_found_by_index(stores: Stores) -> None:
    store, other = await stores.open(), await stores.open()

    def work(unit: Unit) -> None:
        for number in range(50):
            domain = add_domain(unit, f"shop{number}")
            add_parses(unit, domain, unit.now, 100)

    await store.write(work)
    await store.write(lambda unit: unit.run(text("ANALYZE")) and None)
    statements = note_statements(other)
    await other.read(lambda unit: parse_rates(unit, 0, "shop7", unit.now))

    plans = [await plan_of(store, each, values) for each, values in statements.items()]

    assert any("ix_crawl_attempts_parses" in plan for plan in plans), plans


# ── drops


async def test_rate_below_a_half_is_a_drop(watch: Watch) -> None:
    await watch.parsed(9, 11, hours_ago=1)

    assert await watch.drops() == [("product@1.0.0 on shop.example", 0.45, None)]


async def test_rate_far_below_that_of_the_week_before_is_a_drop(watch: Watch) -> None:
    await watch.parsed(19, 1, hours_ago=72, version="product@0.9.0")
    await watch.parsed(14, 6, hours_ago=1)

    assert await watch.drops() == [("product@1.0.0 on shop.example", 0.7, 0.95)]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param((18, 2), (14, 6), id="a fifth below"),
        pytest.param((19, 0), (14, 6), id="too few before"),
        pytest.param((20, 0), (0, 19), id="too few now"),
        pytest.param((12, 8), (10, 10), id="as before"),
    ],
)
async def test_what_is_no_drop(watch: Watch, before: tuple[int, int], now: tuple[int, int]) -> None:
    await watch.parsed(*before, hours_ago=72)
    await watch.parsed(*now, hours_ago=1)

    assert await watch.drops() == []


async def test_only_the_week_before_says_what_is_usual(watch: Watch) -> None:
    await watch.parsed(100, 0, hours_ago=9 * 24)
    await watch.parsed(14, 6, hours_ago=72)
    await watch.parsed(14, 6, hours_ago=1)

    assert await watch.drops() == []


async def test_shops_are_judged_apart(watch: Watch) -> None:
    await watch.do(lambda unit: add_domain(unit, "other"))
    await watch.parsed(0, 20, hours_ago=1)
    await watch.parsed(20, 0, hours_ago=1, domain="other")

    assert [subject for subject, *_ in await watch.drops()] == ["product@1.0.0 on shop.example"]


async def test_version_that_was_replaced_is_not_judged_any_more(watch: Watch) -> None:
    await watch.parsed(0, 30, hours_ago=3)
    await watch.parsed(1, 0, hours_ago=1, version=NEXT)

    assert await watch.drops() == []


async def test_versions_that_read_in_turns_are_both_judged(watch: Watch) -> None:
    await watch.parsed(1, 0, hours_ago=4, version=NEXT)
    await watch.parsed(0, 30, hours_ago=3)
    await watch.parsed(1, 0, hours_ago=1, version=NEXT)

    assert [subject for subject, *_ in await watch.drops()] == ["product@1.0.0 on shop.example"]


async def test_another_parser_of_the_domain_replaces_nothing(watch: Watch) -> None:
    await watch.parsed(0, 30, hours_ago=3)
    await watch.parsed(1, 0, hours_ago=1, version="amazon@1.0.0")

    assert [subject for subject, *_ in await watch.drops()] == ["product@1.0.0 on shop.example"]


# ── alerts


async def test_drop_is_told_once_with_what_to_do(watch: Watch) -> None:
    await watch.parsed(95, 5, hours_ago=72)
    await watch.parsed(6, 14, hours_ago=1)
    for _ in range(3):
        assert await watch.upkeep.look() == 0

    (told,) = await watch.told()
    assert (told["kind"], told["severity"], told["subject"]) == (
        "parse_rate_dropped",
        "P2",
        "product@1.0.0 on shop.example",
    )
    assert told["callback_url"] == "https://ops.example/hook"
    for words in ("product@1.0.0 could read 30% of 20 pages of shop.example", "before: 95%"):
        assert words in told["message"]
    for what_to_do in ("parsers rates", "parsers shadow", "tasks reparse"):
        assert f"`penstock catalog {what_to_do}`" in told["message"]
    [row] = await rows_of(watch.store, ops_alerts)
    assert row["count"] == 3


async def test_drop_of_a_new_domain_says_that_nothing_is_known_of_before(watch: Watch) -> None:
    await watch.parsed(0, 20, hours_ago=1)
    await watch.upkeep.look()

    assert "before: too few to compare with" in (await watch.told())[0]["message"]


async def test_alert_is_over_when_pages_can_be_read_again_and_news_when_they_cannot(
    watch: Watch,
) -> None:
    await watch.parsed(0, 20, hours_ago=1)
    await watch.upkeep.look()
    await watch.parsed(100, 0, hours_ago=1)

    assert await watch.upkeep.look() == 1
    assert await watch.lasting() == set()

    await watch.parsed(0, 200, hours_ago=1)
    await watch.upkeep.look()
    assert len(await watch.told()) == 2


async def test_alert_does_not_come_and_go_at_the_bound(watch: Watch) -> None:
    await watch.parsed(49, 51, hours_ago=2)
    await watch.upkeep.look()
    await watch.parsed(4, 0, hours_ago=1)
    assert await watch.drops() == []

    assert await watch.upkeep.look() == 0
    await watch.parsed(10, 0, hours_ago=1)
    assert await watch.upkeep.look() == 1


async def test_alert_is_over_when_the_version_is_replaced(watch: Watch) -> None:
    await watch.parsed(0, 20, hours_ago=2)
    await watch.upkeep.look()
    await watch.parsed(1, 0, hours_ago=1, version=NEXT)

    assert await watch.upkeep.look() == 1


async def test_alert_lasts_while_too_little_is_parsed_to_know(watch: Watch) -> None:
    await watch.parsed(0, 20, hours_ago=1)
    await watch.upkeep.look()
    await watch.grow_older(DAY_MS)
    await watch.parsed(1, 1, hours_ago=1)

    assert await watch.upkeep.look() == 0
    assert await watch.lasting() == {"product@1.0.0 on shop.example"}


async def test_alert_is_over_when_nothing_is_parsed_any_more(watch: Watch) -> None:
    await watch.parsed(0, 20, hours_ago=1)
    await watch.upkeep.look()
    await watch.grow_older(DAY_MS)

    assert await watch.upkeep.look() == 1


# ── shadow


def compared(change: str, candidate: str = NEXT) -> dict[str, Any]:
    difference = {"field": "price", "before": None, "after": "19.99"}
    found = [] if change == "same" else [difference]
    return {"shadow": {"candidate": candidate, "change": change, "differences": found}}


async def test_report_says_how_candidates_read_live_pages(watch: Watch) -> None:
    rows = [
        attempt("shop", 10, id="a", document=compared("same")),
        attempt("shop", 20, id="b", document=compared("newly_good"), status="failed"),
        attempt("shop", 30, id="c", document=compared("newly_failing", "product@2.0.0")),
        attempt("shop", 40, document={}),
        attempt("shop", 50),
        attempt("shop", 1, document=compared("changed")),
        attempt("shop", 60, document=compared("changed"), parser_version="productx@1.0.0"),
        attempt("shop", 70, document=compared("changed"), kind="download"),
    ]
    await watch.do(lambda unit: add_attempts(unit, rows))

    found, stopped_at = await watch.store.read(
        lambda unit: report_of_newest(unit, "product", 5, None)
    )

    good, bad = found
    assert stopped_at is None
    assert (good.candidate, good.agreement, good.summary.pages) == (NEXT, 0.5, 2)
    assert (bad.candidate, bad.as_json()["newly_failing"]) == ("product@2.0.0", 1)
    [example] = good.examples
    where = {name: example[name] for name in ("id", "crawl_task_id", "url", "at", "change")}
    assert where == {
        "id": "b",
        "crawl_task_id": "shop",
        "url": "https://shop.example/1",
        "at": 20,
        "change": "newly_good",
    }


async def test_report_of_the_newest_says_how_far_it_goes_back(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.quality.shadow.AT_ONCE", 2)
    rows = [attempt("shop", place // 2, document=compared("same")) for place in range(5)]
    await watch.do(lambda unit: add_attempts(unit, rows))

    def look(most: int) -> Any:
        return watch.store.read(lambda unit: report_of_newest(unit, "product", 0, most))

    [some], stopped_at = await look(3)
    [everything], end = await look(10)

    assert (some.summary.pages, stopped_at) == (4, 0)
    assert (everything.summary.pages, end) == (5, None)


async def test_name_of_a_parser_is_taken_literally(watch: Watch) -> None:
    rows = [attempt("shop", 1, document=compared("same"), parser_version="a_b@1.0.0")]
    await watch.do(lambda unit: add_attempts(unit, rows))

    def look(name: str) -> Any:
        return watch.store.read(lambda unit: report_of_newest(unit, name, 0, None))

    assert (await look("axb"), await look("a%"), len((await look("a_b"))[0])) == (
        ([], None),
        ([], None),
        1,
    )
