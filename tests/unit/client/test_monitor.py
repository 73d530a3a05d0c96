"""The price monitor's calls: what is sent, what is repeated, and what is not."""

import json
import pydoc
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from penstock.client import ApiError, Client, ClientError, NotReached, Retrying, Unavailable
from penstock.client.exchange import Attempts
from penstock.client.monitor import Prices, Sources
from penstock.client.monitor_calls import add_rule, sources
from tests.site import Reply, Reset
from tests.unit.client.service import Caller, ill, open_caller, well

RULE = {"id": "r1", "kind": "back_in_stock"}
PREFIX = "/api/v1/monitor"


@pytest.fixture(params=["blocking", "asyncio"])
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    async with open_caller(request.param) as caller:
        yield caller


async def call(caller: Caller, group: str, name: str, *given: Any, **more: Any) -> Any:
    return await caller.call(f"monitor.{group}.{name}", *given, **more)


async def test_what_is_left_out_is_not_sent(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules", well(RULE, 201))

    assert await call(caller, "rules", "add", "back_in_stock", target_id="t1") == RULE

    assert json.loads(caller.hits[0].body) == {"kind": "back_in_stock", "target_id": "t1"}


async def test_lists_go_on_until_there_is_no_more(caller: Caller) -> None:
    first = well([{"id": "r1"}], meta={"next_cursor": "c"})
    caller.plan(f"{PREFIX}/rules?limit=1", first)
    caller.plan(f"{PREFIX}/rules?limit=1&cursor=c", well([{"id": "r2"}], meta={}))

    found = await caller.all_of("monitor.rules.list", at_once=1)

    assert [each["id"] for each in found] == ["r1", "r2"]


async def test_what_must_not_be_done_twice_is_not_repeated(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules", Reset(), well(RULE, 201))

    with pytest.raises(NotReached):
        await call(caller, "rules", "add", "back_in_stock", target_id="t1")

    assert len(caller.hits) == 1


@pytest.mark.parametrize(
    "lost",
    [
        Reply(502, "bad gateway"),
        Reply(503, "upstream reset", {"Retry-After": "2"}),
        Reply(504, "too late"),
        ill(502),
        ill(503, "the service says nothing of when"),
        ill(503, "The store does not answer", {"unsure": True}, Retry_After="5"),
    ],
)
async def test_an_answer_that_may_have_come_too_late_is_not_asked_for_again(
    caller: Caller, lost: Reply
) -> None:
    caller.plan(f"{PREFIX}/rules", lost, well(RULE, 201))

    with pytest.raises(ApiError):
        await call(caller, "rules", "add", "back_in_stock", target_id="t1")

    assert len(caller.hits) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_service_that_took_nothing_on_is_asked_again(caller: Caller, status: int) -> None:
    caller.plan(f"{PREFIX}/rules", ill(status, Retry_After="2"), well(RULE, 201))

    assert await call(caller, "rules", "add", "back_in_stock", target_id="t1") == RULE

    assert caller.slept == [2]


@pytest.mark.parametrize(
    "unsent", [httpx.ConnectError("no"), httpx.ConnectTimeout("no"), httpx.PoolTimeout("no")]
)
def test_what_was_never_sent_is_sent_again(unsent: httpx.RequestError) -> None:
    attempts = Attempts(add_rule("back_in_stock"), Retrying())

    assert attempts.failed(unsent) > 0
    with pytest.raises(NotReached):
        attempts.failed(httpx.ReadTimeout("too late"))


async def test_what_may_be_repeated_is(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules/r1/disable", Reset(), ill(502), well(RULE))

    assert await call(caller, "rules", "disable", "r1") == RULE

    assert len(caller.hits) == 3


async def test_answer_without_content_is_no_data(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules/r1", Reply(204, b""))

    assert await call(caller, "rules", "remove", "r1") is None

    caller.plan(f"{PREFIX}/runs/r1", Reply(200, b""))
    with pytest.raises(ClientError, match="no answer of Penstock"):
        await call(caller, "runs", "get", "r1")


async def test_ids_stay_in_their_place(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules/..%2Fruns/enable", well(RULE))

    await call(caller, "rules", "enable", "../runs")

    with pytest.raises(ClientError, match="no id"):
        await call(caller, "rules", "enable", "..")


async def test_service_that_stays_away_is_given_up(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/adapters", ill(503))

    with pytest.raises(Unavailable):
        await call(caller, "adapters", "list")

    assert len(caller.hits) == 6


async def test_retailers_and_alerts_are_groups_as_all_others(caller: Caller) -> None:
    added = {"id": "s1", "name": "Shops & Co"}
    caller.plan(f"{PREFIX}/retailers", well(added, 201), well([added]))
    caller.plan(f"{PREFIX}/alerts?open=false", well([{"id": "a1"}], meta={}))

    assert await call(caller, "retailers", "add", "Shops & Co", website_url="https://s/") == added
    assert await call(caller, "retailers", "list") == [added]
    assert await caller.all_of("monitor.alerts.list", open=False) == [{"id": "a1"}]

    assert json.loads(caller.hits[0].body) == {"name": "Shops & Co", "website_url": "https://s/"}


async def test_prices_are_chosen_by_every_filter_that_the_service_has(caller: Caller) -> None:
    since, until = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    names = {name: name[:3] for name in ("product_id", "source_product_id", "target_id", "run_id")}
    chosen = {**names, "source": "Lamps", "since": since, "until": until}
    sent = {**chosen, "since": since.isoformat(), "until": until.isoformat()}
    caller.plan(f"{PREFIX}/prices", well([], meta={}))
    caller.plan(f"{PREFIX}/prices/export", Reply(200, b"price_id"))

    assert await caller.all_of("monitor.prices.list", **chosen, at_once=7) == []
    assert await call(caller, "prices", "export", "csv", **chosen, limit=9) == b"price_id"

    assert [hit.query for hit in caller.hits] == [
        {**sent, "limit": "7"},
        {**sent, "format": "csv", "limit": "9"},
    ]


def test_help_says_what_a_call_is_for_and_how_it_is_called() -> None:
    with Client("http://127.0.0.1:8001", "key") as penstock:
        one = pydoc.plain(pydoc.render_doc(penstock.monitor.sources.list))
        many = pydoc.plain(pydoc.render_doc(penstock.monitor.rules.list))
        switched = pydoc.plain(pydoc.render_doc(penstock.monitor.sources.approve))

    assert "sources(domain: str | None = None)" in one
    assert "All sources, by name" in one
    assert "at_once" in many
    assert "cursor" not in many
    assert "Approve one of the sources, by its id." in switched


def test_a_call_is_there_without_a_client() -> None:
    assert Sources.list.call is sources
    assert "newest first" in (Prices.list.call.__doc__ or "")
