"""A claim ends once, in the way it was told to; a group that has to wait is in nobody's way."""

import json

import pytest

from penstock.queue.ports import Bury, Done, Ending, Release, Retry
from penstock.queue.redis import RedisQueue
from tests.redis_queues import (
    FAILURE,
    StreamQueues,
    claim,
    pages,
    urls_of,
)

SHOP, OTHER = "http://shop.test/", "http://other.test/"


async def test_done_url_is_forgotten(queues: StreamQueues, queue: RedisQueue, worker: str) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)

    assert await queue.settle([(found, Done())]) == {found.id}
    assert queues.client.keys(f"{queues.name}:claimed:*") == []
    assert queues.everywhere() == {}


async def test_buried_url_is_a_plain_dead_letter_with_a_reason_beside_it(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)
    await queue.settle([(found, Bury(FAILURE))])

    reason = json.loads(queues.client.hget(f"{queues.dead}:reasons", SHOP))
    (letter,) = await queue.dead_letters.show()

    assert queues.dead_letters() == [SHOP]
    assert reason.pop("at") == pytest.approx(queues.client.time()[0], abs=5)
    assert reason == {
        "type": "url_specific",
        "kind": "url_specific",
        "reason": "not_found",
        "detail": "404",
        "status_code": 404,
        "domain": "shop.test",
    }
    assert letter.at is not None
    assert letter.reason["reason"] == "not_found"


async def test_retried_url_goes_to_the_back(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(3))
    (found,) = await claim(queue, worker, 1)
    await queue.settle([(found, Retry(0.0, FAILURE))])

    assert queues.waiting() == [*pages(2, first=1), *pages(1)]


async def test_retried_url_of_a_group_with_a_line_goes_to_the_back_of_that(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(3))
    (found,) = await claim(queue, worker, 3, lambda _: (1, 30.0))
    await queue.settle([(found, Retry(0.0, FAILURE))])

    assert queues.line("shop.test") == [*pages(2, first=1), *pages(1)]


async def test_released_urls_go_to_the_front_as_they_were(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(5))
    claims = await claim(queue, worker, 3)
    await queue.settle([(found, Release()) for found in claims])

    assert queues.waiting() == pages(5)


async def test_released_urls_of_a_group_with_a_line_go_to_the_front_of_that(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(4))
    claims = await claim(queue, worker, 4, lambda _: (2, 30.0))
    await queue.settle([(found, Release()) for found in claims])

    assert queues.line("shop.test") == pages(4)


@pytest.mark.parametrize("ending", [Release(60.0, park=True), Retry(60.0, FAILURE, park=True)])
async def test_parked_group_waits_as_a_whole_and_disturbs_no_other(
    queues: StreamQueues, queue: RedisQueue, worker: str, ending: Ending
) -> None:
    await queue.put([*pages(4), OTHER])
    (found,) = await claim(queue, worker, 1)
    await queue.settle([(found, ending)])
    parked = urls_of(await claim(queue, worker))
    await queue.put(pages(1, first=4))
    still_parked = urls_of(await claim(queue, worker))
    queues.clock.move(61)

    assert (parked, still_parked) == ([OTHER], [])
    assert sorted(urls_of(await claim(queue, worker))) == pages(5)


async def test_parked_group_is_not_due_before_the_latest_time_it_was_parked_for(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(2))
    one, other = await claim(queue, worker, 2)
    await queue.settle([(one, Release(300.0, park=True))])
    await queue.settle([(other, Release(10.0, park=True))])
    queues.clock.move(299)
    early = await claim(queue, worker)
    queues.clock.move(2)

    assert (early, len(await claim(queue, worker))) == ([], 2)


async def test_url_that_waits_alone_lets_the_others_of_its_group_go_first(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(4))
    (found,) = await claim(queue, worker, 4, lambda _: (1, 5.0))
    await queue.settle([(found, Release(60.0))])
    queues.clock.move(6)

    assert urls_of(await claim(queue, worker, 3)) == pages(3, first=1)


async def test_url_that_waits_alone_waits_for_its_time(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)
    await queue.settle([(found, Release(60.0))])
    queues.clock.move(59)
    early = await claim(queue, worker)
    queues.clock.move(2)

    assert (early, urls_of(await claim(queue, worker))) == ([], [SHOP])


async def test_all_kinds_of_endings_go_in_one_call(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put(pages(4))
    claims = await claim(queue, worker)
    endings: list[Ending] = [Done(), Bury(FAILURE), Retry(0.0, FAILURE), Release()]

    accepted = await queue.settle(list(zip(claims, endings, strict=True)))

    assert accepted == {found.id for found in claims}
    assert (queues.dead_letters(), queues.waiting()) == (pages(1, first=1), pages(2, first=2)[::-1])


async def test_url_that_is_ended_twice_in_one_call_ends_the_first_way(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)

    await queue.settle([(found, Done()), (found, Retry(0, FAILURE))])

    assert queues.everywhere() == {}


@pytest.mark.parametrize(
    "ending", [Done(), Bury(FAILURE), Retry(0.0, FAILURE), Retry(60.0, FAILURE), Release()]
)
async def test_settling_again_changes_nothing_and_is_accepted_again(
    queues: StreamQueues, queue: RedisQueue, worker: str, ending: Ending
) -> None:
    await queue.put([SHOP])
    (found,) = await claim(queue, worker)
    await queue.settle([(found, ending)])
    before = queues.everywhere()

    assert await queue.settle([(found, ending)]) == {found.id}
    assert queues.everywhere() == before


async def test_nothing_to_settle_is_nothing(queue: RedisQueue) -> None:
    assert await queue.settle([]) == set()
    assert await queue.note_trial([]) == set()


async def test_claiming_and_settling_many_costs_a_few_round_trips(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    urls = [url for host in range(40) for url in pages(12, f"s{host}.test")]
    await queue.put(urls)
    before = queues.client.info("stats")["total_reads_processed"]

    claims = await claim(queue, worker, len(urls))
    await queue.settle([(found, Done()) for found in claims])

    reads = queues.client.info("stats")["total_reads_processed"] - before
    assert len(claims) == len(urls)
    # A round trip of many kilobytes is read in pieces, in more of them on a busy machine.
    assert reads < len(urls) / 8
