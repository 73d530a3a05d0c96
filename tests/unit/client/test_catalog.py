"""The catalogue's calls: what is sent, what is repeated, and what is not."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from penstock.client import InvalidRequest, NotReached, Unavailable
from tests.site import Reply, Reset
from tests.unit.client.service import MOMENT, Caller, ill, open_caller, well

ADMIN, PRODUCTS = "/api/v1/admin", "/api/v1/products"
SUBMISSION = {
    "id": "s1",
    "origin": "urls",
    "status": "accepted",
    "submitted": 1,
    "accepted": 1,
    "duplicates": 0,
    "refused": 0,
    "created_by": "ann",
    "created_at": MOMENT,
    "something": "that an older client does not know",
}
PROGRESS = {
    **SUBMISSION,
    "tasks": {"pending": 0, "completed": 1},
    "total": 1,
    "done": 1,
    "paused": 0,
    "is_over": True,
}
PRODUCT = {
    "id": "p1",
    "domain_name": "shop.example",
    "url": "https://shop.example/1",
    "product_name": "Lamp",
    "price": "19.90",
    "currency": "EUR",
    "availability": "in_stock",
    "created_at": MOMENT,
    "updated_at": MOMENT,
}
TASK = {
    "id": "t1",
    "domain_id": "d1",
    "domain_name": "shop.example",
    "url": "https://shop.example/1",
    "status": "pending",
    "is_paused": True,
    "priority": 5,
    "scheduled_at": MOMENT,
    "retry_count": 0,
    "max_retries": 3,
    "attempts": 0,
    "created_at": MOMENT,
    "updated_at": MOMENT,
}


@pytest.fixture(params=["blocking", "asyncio"])
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    async with open_caller(request.param) as caller:
        yield caller


def sent(caller: Caller, place: int = 0) -> Any:
    return json.loads(caller.hits[place].body)


async def test_a_submission_says_only_what_was_said(caller: Caller) -> None:
    caller.plan(f"{ADMIN}/tasks", well(SUBMISSION, 202))

    at = datetime(2031, 3, 4, tzinfo=UTC)
    accepted = await caller.call(
        "catalog.submit", ("https://shop.example/1",), priority=2, scheduled_at=at
    )

    assert (accepted.id, accepted.refusals) == ("s1", ())
    assert sent(caller) == {
        "urls": ["https://shop.example/1"],
        "recrawl": False,
        "priority": 2,
        "scheduled_at": "2031-03-04T00:00:00+00:00",
    }


async def test_a_submission_is_not_repeated_when_its_answer_is_lost(caller: Caller) -> None:
    caller.plan(f"{ADMIN}/tasks", Reset(), well(SUBMISSION, 202))

    with pytest.raises(NotReached):
        await caller.call("catalog.submit_sitemap", "https://shop.example/sitemap.xml")

    assert len(caller.hits) == 1


async def test_what_changes_nothing_the_second_time_is_repeated(caller: Caller) -> None:
    caller.plan(f"{ADMIN}/tasks/t1/pause", Reset(), well(TASK))

    assert (await caller.call("catalog.tasks.pause", "t1")).is_paused

    assert len(caller.hits) == 2


async def test_an_action_is_sent_with_its_filter(caller: Caller) -> None:
    caller.plan(f"{ADMIN}/tasks/actions", well({"changed": 3}))

    number = await caller.call(
        "catalog.tasks.act", "prioritise", priority=1, domain="shop.example", status=None
    )

    assert number == 3
    assert sent(caller) == {
        "action": "prioritise",
        "filter": {"domain": "shop.example"},
        "accept": False,
        "priority": 1,
    }


async def test_reviving_nobody_in_particular_is_reviving_all(caller: Caller) -> None:
    caller.plan(f"{ADMIN}/dlq/revive", well({"revived": 2}), ill(422, "ids: none"))

    assert await caller.call("catalog.dead_letters.revive") == 2
    with pytest.raises(InvalidRequest):
        await caller.call("catalog.dead_letters.revive", [])

    assert [sent(caller, 0), sent(caller, 1)] == [{"all": True}, {"ids": []}]


async def test_lists_of_products_go_on_until_there_is_no_more(caller: Caller) -> None:
    asked = f"{PRODUCTS}?price_min=10&brand=A&brand=B"
    caller.plan(f"{asked}&limit=1", well([PRODUCT], meta={"next_cursor": "c"}))
    caller.plan(f"{asked}&cursor=c&limit=1", well([{**PRODUCT, "id": "p2"}], meta={}))

    found = await caller.all_of(
        "catalog.products.list", price_min=Decimal(10), brand=["A", "B"], at_once=1
    )

    assert [each.id for each in found] == ["p1", "p2"]
    assert found[0].price == Decimal("19.90")


async def test_a_page_of_a_search_says_how_much_there_is(caller: Caller) -> None:
    hit = {**PRODUCT, "score": 1.0, "highlights": {"product_name": "<em>Lamp</em>"}}
    meta = {"limit": 20, "next_cursor": None, "total": 10_000, "total_is_exact": False}
    caller.plan(f"{PRODUCTS}/search?q=lamp&sort=rating", well([hit], meta=meta))

    page = await caller.call("catalog.products.search_page", "lamp", sort="rating")

    assert (page.total, page.total_is_exact) == (10_000, False)
    assert page.items[0].highlights == {"product_name": "<em>Lamp</em>"}


async def test_a_search_that_does_not_answer_is_asked_again(caller: Caller) -> None:
    busy = ill(503, "The search does not answer", Retry_After="5")
    caller.plan(f"{PRODUCTS}/search?q=lamp", busy, well([], meta={}))

    assert await caller.all_of("catalog.products.search", "lamp") == []

    assert len(caller.slept) == 1


async def test_a_search_that_never_answers_is_given_up() -> None:
    async with open_caller("asyncio", retries=1) as caller:
        busy = ill(503, "The search does not answer", Retry_After="5")
        caller.plan(f"{PRODUCTS}/search?q=lamp", busy)
        with pytest.raises(Unavailable):
            await caller.all_of("catalog.products.search", "lamp")


async def test_a_submission_is_watched_to_its_end(caller: Caller) -> None:
    first, last = json.dumps({**PROGRESS, "done": 0}), json.dumps(PROGRESS)
    broken = f"event: progress\ndata: {first}\n\n: still here\n\n"
    whole = f'event: progress\ndata: {last}\n\nevent: end\ndata: {{"submission_id": "s1"}}\n\n'
    stream = {"Content-Type": "text/event-stream"}
    path = f"{ADMIN}/submissions/s1/events"
    caller.plan(path, Reply(200, broken, stream), Reply(200, whole, stream))

    events = await caller.all_of("catalog.watch", "s1")

    assert [event.name for event in events] == ["progress", "progress", "end"]
    assert [event.data.get("done") for event in events] == [0, 1, None]
