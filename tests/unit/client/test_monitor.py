"""The price monitor's calls: what is sent, what is repeated, and what is not."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from penstock.client import ApiError, ClientError, NotReached, Unavailable
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

    found = await caller.all_of("monitor.rules.list", limit=1)

    assert [each["id"] for each in found] == ["r1", "r2"]


async def test_what_must_not_be_done_twice_is_not_repeated(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules", Reset(), well(RULE, 201))

    with pytest.raises(NotReached):
        await call(caller, "rules", "add", "back_in_stock", target_id="t1")

    assert len(caller.hits) == 1


async def test_gateway_that_lost_the_answer_is_not_asked_again(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules", ill(502), well(RULE, 201))

    with pytest.raises(ApiError):
        await call(caller, "rules", "add", "back_in_stock", target_id="t1")

    assert len(caller.hits) == 1


async def test_service_that_took_nothing_on_is_asked_again(caller: Caller) -> None:
    caller.plan(f"{PREFIX}/rules", ill(503, Retry_After="2"), well(RULE, 201))

    assert await call(caller, "rules", "add", "back_in_stock", target_id="t1") == RULE

    assert caller.slept == [2]


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
