"""The page fetcher's desk on the store: URLs are taken or refused, dead letters are mended."""

from collections.abc import Sequence

import pytest

from penstock.core.urls import parse
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.model import ServerError, UrlSpecific
from penstock.kernel.settings import AdmissionSettings
from penstock.queue.ports import Bury, LaneLimit, Release
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from penstock.workloads.stream import stored
from penstock.workloads.stream.desk import QUEUE_FULL, Standing
from penstock.workloads.stream.model import NAME
from penstock.workloads.stream.stored import StoredDesk
from tests.stores import Stores, all_of, counted, make_items, pending

GONE = Bury(UrlSpecific("http_404", "the site answered 404", 404).as_json())
BROKEN = Bury(ServerError("http_500", "the site answered 500", 500).as_json())
URL = "http://{}.example/{}"


def make_desk(store: Store, queue: SqlQueue) -> StoredDesk:
    admission = Admission(AdmissionSettings(), SystemLookup(1))
    return StoredDesk(store, queue, admission, lambda url: parse(url).domain)


@pytest.fixture
def desk(store: Store, queue: SqlQueue) -> StoredDesk:
    return make_desk(store, queue)


async def end(queue: SqlQueue, ending: Bury | Release, number: int = 10_000) -> Sequence[str]:
    """Let waiting URLs end; which they were."""
    claims = await queue.claim("w", [NAME], number, all_of)
    await queue.settle([(claim, ending) for claim in claims])
    return [claim.payload["url"] for claim in claims]


def urls(host: str, number: int) -> list[str]:
    return [URL.format(host, place) for place in range(number)]


async def all_dead(desk: StoredDesk, limit: int = 100, **chosen: str) -> list[str]:
    """All dead letters, gone through part by part."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        part = await desk.dead(cursor, limit, **chosen)
        found += [letter.url for letter in part.letters]
        if (cursor := part.next_cursor) is None:
            return found


async def test_what_is_no_url_for_us_is_refused_and_the_rest_taken(desk: StoredDesk) -> None:
    pushed = await desk.push(["http://a.example/", "ftp://a.example/", "http://127.0.0.1/", "x"])

    assert pushed.accepted == 1
    assert [(each.place, each.reason) for each in pushed.rejected] == [
        (1, "admission_scheme"),
        (2, "admission_loopback"),
        (3, "admission_syntax"),
    ]
    assert pushed.retry_after is None


async def test_a_full_queue_takes_what_fits_and_says_when_to_come_back(stores: Stores) -> None:
    queue = await stores.queue({NAME: LaneLimit(2, retry_after=7)})
    desk = make_desk(await stores.open(), queue)

    pushed = await desk.push(["http://a.example/", "x", *urls("b", 3)])

    assert (pushed.accepted, pushed.retry_after) == (2, 7)
    assert [(each.place, each.reason) for each in pushed.rejected][1:] == [
        (3, QUEUE_FULL),
        (4, QUEUE_FULL),
    ]


async def test_depth_tells_what_is_due_parked_under_way_and_dead(
    desk: StoredDesk, queue: SqlQueue
) -> None:
    await desk.push(urls("a", 2))
    await end(queue, GONE, 1)
    await queue.claim("w", [NAME], 1, all_of)
    await desk.push(urls("b", 3))
    await end(queue, Release(60, park=True))
    await desk.push(urls("c", 4))

    assert await desk.depth() == Standing(waiting=4, parked=3, under_way=1, dead=1)


async def test_depth_counts_no_further_than_it_is_told(desk: StoredDesk, queue: SqlQueue) -> None:
    await desk.push(urls("a", 4))
    await end(queue, GONE, 4)
    await desk.push(urls("b", 3))
    await end(queue, Release(60, park=True))
    await desk.push(urls("c", 5))

    found = await desk.depth(2)

    assert found == Standing(waiting=3, parked=5, under_way=0, dead=3)
    assert await desk.depth(100) == Standing(waiting=5, parked=3, under_way=0, dead=4)


async def test_a_dead_letter_tells_what_went_wrong(desk: StoredDesk, queue: SqlQueue) -> None:
    await desk.push(["http://a.example/1"])
    await end(queue, GONE)

    [letter] = (await desk.dead()).letters

    assert (letter.url, letter.domain, letter.status_code) == (
        "http://a.example/1",
        "a.example",
        404,
    )
    assert (letter.type, letter.kind, letter.reason) == ("url_specific", "url_specific", "http_404")
    assert letter.detail == "the site answered 404"
    assert letter.at is not None


async def test_dead_letters_are_gone_through_oldest_first(
    desk: StoredDesk, queue: SqlQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "AT_ONCE", 3)
    buried: list[str] = []
    for host in "ab":
        await desk.push(urls(host, 5))
        buried += sorted(await end(queue, GONE))

    found = await all_dead(desk, limit=2)

    assert sorted(found[:5]) == buried[:5]
    assert sorted(found) == sorted(buried)
    assert len(set(found)) == 10


async def test_a_look_for_few_among_many_gives_up_and_says_where_to_go_on(
    desk: StoredDesk, queue: SqlQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "MOST_LOOKED_THROUGH", 4)
    await desk.push(urls("a", 6))
    await end(queue, GONE)
    await desk.push(urls("b", 1))
    await end(queue, BROKEN)

    first = await desk.dead(domain="b.example")

    assert (list(first.letters), first.next_cursor is None) == ([], False)
    assert await all_dead(desk, domain="b.example") == urls("b", 1)


@pytest.mark.parametrize(
    ("chosen", "number"),
    [
        ({}, 5),
        ({"domain": "a.example"}, 3),
        ({"reason": "http_500"}, 2),
        ({"domain": "a.example", "reason": "http_500"}, 0),
        ({"urls": ["http://a.example/1", "http://b.example/0", "http://c.example/"]}, 2),
        ({"urls": ["http://a.example/1", "http://b.example/0"], "reason": "http_404"}, 1),
    ],
)
@pytest.mark.parametrize("act", ["revive", "discard"])
async def test_dead_letters_are_revived_or_discarded_by_url_domain_and_reason(
    desk: StoredDesk,
    queue: SqlQueue,
    store: Store,
    *,
    monkeypatch: pytest.MonkeyPatch,
    act: str,
    chosen: dict[str, str],
    number: int,
) -> None:
    monkeypatch.setattr(stored, "AT_ONCE", 2)
    for host, many, ending in (("a", 3, GONE), ("b", 2, BROKEN)):
        await desk.push(urls(host, many))
        await end(queue, ending)

    done = await getattr(desk, act)(**chosen)

    assert done == number
    assert len(await all_dead(desk)) == 5 - number
    assert (await desk.depth()).waiting == (number if act == "revive" else 0)
    assert await counted(store) == await pending(store)


async def test_a_host_of_a_domain_that_shares_a_line_can_be_chosen(
    store: Store, queue: SqlQueue
) -> None:
    desk = StoredDesk(
        store, queue, Admission(AdmissionSettings(), SystemLookup(1)), lambda _url: "both"
    )
    await desk.push(["http://www.a.example/", "http://b.example/"])
    await end(queue, GONE)

    assert await all_dead(desk, domain="a.example") == ["http://www.a.example/"]
    assert await all_dead(desk, domain="www.a.example") == ["http://www.a.example/"]
    assert len(await all_dead(desk, domain="both")) == 2


async def test_dead_letters_of_other_lanes_are_none_of_ours(
    desk: StoredDesk, queue: SqlQueue
) -> None:
    await desk.push(urls("a", 1))
    await queue.put(make_items(1))
    claims = await queue.claim("w", [NAME, "fetch"], 10, all_of)
    await queue.settle([(claim, GONE) for claim in claims])

    assert (await desk.discard(), (await desk.depth()).dead) == (1, 0)
    assert (await queue.revive(lane="fetch"), await queue.revive(lane=NAME)) == (1, 0)
