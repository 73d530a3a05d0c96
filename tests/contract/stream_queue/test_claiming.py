"""What was pushed is moved to one worker, in order and fairly."""

import asyncio
import json
from collections import Counter

import pytest

from penstock.queue.ports import Bury, Done, Retry
from penstock.queue.redis import RedisQueue
from penstock.queue.redis.claiming import AT_ONCE
from tests.redis_queues import (
    FAILURE,
    StreamQueues,
    claim,
    group_of,
    pages,
    urls_of,
)

SHOP, OTHER = "http://shop.test/", "http://other.test/"


async def test_url_that_anybody_pushed_is_claimed(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    queues.push(SHOP)

    (found,) = await claim(queue, worker)

    assert (found.lane, found.payload, found.group) == ("stream", {"url": SHOP}, "shop.test")
    assert (found.lost, found.tried, found.attempts) == (0, 0, 1)


async def test_claimed_url_is_moved_to_the_worker(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)

    held = queues.client.hgetall(f"{queues.name}:claimed:{worker}")

    assert queues.waiting() == []
    assert list(held) == [found.id.encode()]
    assert json.loads(held[found.id.encode()]) == {"url": SHOP, "lost": 0, "tried": 0}


async def test_urls_are_claimed_in_their_order(queue: RedisQueue, worker: str) -> None:
    urls = [f"http://s{n % 7}.test/{n}" for n in range(40)]
    await queue.put(urls)

    first = urls_of(await claim(queue, worker, 15))
    rest = urls_of(await claim(queue, worker, 15)) + urls_of(await claim(queue, worker, 15))

    # Groups of one claim come together; in each, the order is kept.
    assert sorted(first) == sorted(urls[:15])
    for group in {group_of(url) for url in urls}:
        ours = [url for url in first + rest if group_of(url) == group]
        assert ours == [url for url in urls if group_of(url) == group]


@pytest.mark.parametrize("limit", [1, 2, 7, 30])
async def test_claim_never_gives_more_than_its_limit(
    queue: RedisQueue, worker: str, limit: int
) -> None:
    await queue.put([url for host in "abcdef" for url in pages(10, f"{host}.test")])

    taken = [len(await claim(queue, worker, limit, lambda _: (4, 0.0))) for _ in range(3)]

    assert taken == ([24, 24, 12] if limit == 30 else [limit] * 3)


@pytest.mark.parametrize("limit", [0, -1])
async def test_claim_of_nothing_takes_nothing(
    queues: StreamQueues, queue: RedisQueue, worker: str, limit: int
) -> None:
    await queue.put([SHOP])

    assert await claim(queue, worker, limit) == []
    assert queues.waiting() == [SHOP]


async def test_more_than_one_script_takes_is_put_and_claimed(
    queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(2 * AT_ONCE + 500))

    claims = await claim(queue, worker, 3 * AT_ONCE)

    assert len({found.id for found in claims}) == 2 * AT_ONCE + 500


async def test_same_url_pushed_twice_is_two_claims(queue: RedisQueue, worker: str) -> None:
    await queue.put([SHOP, SHOP])
    one, other = await claim(queue, worker)

    await queue.settle([(one, Done())])

    assert (await queue.depth()).claimed == {worker: 1}
    assert one.id != other.id


async def test_claims_of_two_workers_are_different(queues: StreamQueues) -> None:
    one, other = await queues.queue(), await queues.queue()
    first, second = await queues.worker(one), await queues.worker(other)
    await one.put(pages(400))

    taken = await asyncio.gather(
        *(claim(one, first, 20) for _ in range(10)), *(claim(other, second, 20) for _ in range(10))
    )

    urls = [url for claims in taken for url in urls_of(claims)]
    assert sorted(urls) == sorted(pages(400))


async def test_worker_that_is_not_known_claims_nothing(
    queues: StreamQueues, queue: RedisQueue
) -> None:
    await queue.put([SHOP])

    assert await claim(queue, "nobody") == []
    assert queues.waiting() == [SHOP]


@pytest.mark.parametrize(
    "pushed", [b"", b"not a url", b'\xff\xfe\x00 {"', "http://bücher.test/ä".encode(), b"x" * 9000]
)
async def test_whatever_was_pushed_comes_and_goes_byte_for_byte(
    queues: StreamQueues, queue: RedisQueue, worker: str, pushed: bytes
) -> None:
    queues.push(pushed)
    (found,) = await claim(queue, worker, share=lambda _: (1, 30.0))
    await queue.settle([(found, Retry(30.0, FAILURE))])
    queues.clock.move(31)
    (again,) = await claim(queue, worker)
    await queue.settle([(again, Bury(FAILURE))])

    assert again.payload["url"].encode("utf-8", "surrogateescape") == pushed
    assert queues.client.lrange(queues.dead, 0, -1) == [pushed]
    assert len(await queue.dead_letters.show()) == 1


# ── what a group is asked for


async def test_share_bounds_what_is_taken_of_a_group(queue: RedisQueue, worker: str) -> None:
    await queue.put([*pages(10, "a.test"), *pages(10, "b.test")])

    claims = await claim(queue, worker, 100, lambda group: (2 if group == "a.test" else 5, 0.0))

    assert Counter(found.group for found in claims) == {"a.test": 2, "b.test": 5}


async def test_what_is_not_wanted_waits_apart_and_in_order(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([*pages(5), OTHER])
    claims = await claim(queue, worker, 10, lambda _: (2, 30.0))
    resting = await claim(queue, worker)
    line = queues.line("shop.test")
    queues.clock.move(31)

    assert urls_of(claims) == [*pages(2), OTHER]
    assert (resting, line) == ([], pages(3, first=2))
    assert urls_of(await claim(queue, worker)) == pages(3, first=2)


async def test_group_that_gave_what_was_wanted_rests_for_what_comes_later_too(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(2))
    await claim(queue, worker, 10, lambda _: (2, 30.0))
    await queue.put(pages(1, first=2))
    resting = await claim(queue, worker)
    queues.clock.move(31)

    assert (resting, urls_of(await claim(queue, worker))) == ([], pages(1, first=2))


async def test_group_that_could_not_give_enough_does_not_rest(
    queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(1))
    await claim(queue, worker, 10, lambda _: (2, 30.0))
    await queue.put(pages(1, first=1))

    assert urls_of(await claim(queue, worker)) == pages(1, first=1)


async def test_group_that_was_cut_short_by_the_limit_does_not_rest(
    queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(5))
    await claim(queue, worker, 2, lambda _: (4, 30.0))

    assert len(await claim(queue, worker)) == 3


async def test_group_of_which_nothing_is_wanted_gives_nothing(
    queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(3))

    assert await claim(queue, worker, 10, lambda _: (0, 0.0)) == []
    assert len(await claim(queue, worker)) == 3


async def test_large_group_at_the_head_holds_up_nobody(queue: RedisQueue, worker: str) -> None:
    await queue.put([*pages(20_000, "large.test"), *pages(3, "small.test")])

    first = await claim(queue, worker, 10, lambda _: (2, 30.0))
    second = await claim(queue, worker, 10, lambda _: (2, 30.0))

    assert Counter(found.group for found in first + second) == {"large.test": 2, "small.test": 2}


async def test_cost_of_a_claim_does_not_grow_with_a_large_line(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    queues.client.rpush(f"{queues.name}:parked:large.test", *pages(30_000, "large.test"))
    queues.client.zadd(f"{queues.name}:parked", {"large.test": 1})
    before = queues.client.info("commandstats")

    taken = await claim(queue, worker, 10, lambda _: (10, 0.0))

    after = queues.client.info("commandstats")
    calls = {name: after[name]["calls"] - before.get(name, {"calls": 0})["calls"] for name in after}
    assert len(taken) == 10
    assert sum(number for name, number in calls.items() if name != "cmdstat_info") < 60


async def test_lines_and_list_share_a_claim(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(200, "line.test"))
    await claim(queue, worker, 10, lambda _: (1, 30.0))
    queues.clock.move(31)
    await queue.put(pages(200, "head.test"))

    taken = Counter(found.group for found in await claim(queue, worker, 40))

    assert taken == {"line.test": 20, "head.test": 20}
    assert queues.waiting() == pages(180, "head.test", first=20)


async def test_line_that_two_workers_look_at_together_gives_once_and_rests(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    other = await queues.queue()
    another = await queues.worker(other)
    await queue.put(pages(9))
    await claim(queue, worker, 9, lambda _: (0, 30.0))
    queues.clock.move(31)

    taken = await asyncio.gather(
        claim(queue, worker, 9, lambda _: (2, 30.0)), claim(other, another, 9, lambda _: (2, 30.0))
    )

    assert sorted(map(len, taken)) == [0, 2]


async def test_what_the_list_lacks_comes_from_the_lines_and_the_reverse(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([*pages(30, "line.test"), *pages(4, "head.test")])
    await claim(queue, worker, 1, lambda _: (1, 30.0))
    await claim(queue, worker, 1, lambda group: (1 if group == "head.test" else 0, 30.0))
    queues.clock.move(31)
    mostly_line = Counter(found.group for found in await claim(queue, worker, 20))
    await queue.put(pages(30, "more.test"))
    mostly_list = Counter(found.group for found in await claim(queue, worker, 30))

    assert mostly_line == {"line.test": 17, "head.test": 3}
    assert mostly_list == {"line.test": 12, "more.test": 18}


async def test_lines_give_evenly(queues: StreamQueues, queue: RedisQueue, worker: str) -> None:
    for host in "abc":
        await queue.put(pages(50, f"{host}.test"))
    await claim(queue, worker, 200, lambda _: (0, 30.0))
    queues.clock.move(31)

    taken = Counter(found.group for found in await claim(queue, worker, 30))

    assert taken == {"a.test": 10, "b.test": 10, "c.test": 10}


async def test_every_line_has_its_turn_before_one_has_its_second(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    for host in "abcdef":
        await queue.put(pages(10, f"{host}.test"))
    await claim(queue, worker, 200, lambda _: (0, 30.0))
    queues.clock.move(31)
    turns: Counter[str] = Counter()

    for _ in range(3):
        turns.update(found.group for found in await claim(queue, worker, 2))

    assert turns == dict.fromkeys([f"{host}.test" for host in "abcdef"], 1)
