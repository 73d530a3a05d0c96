"""What a lost worker had is taken back, and its late endings change nothing."""

import asyncio

import pytest

from penstock.queue import heartbeat
from penstock.queue.ports import Bury, Done, Ending, Release, Retry
from penstock.queue.redis import RedisQueue
from penstock.queue.redis.claiming import AT_ONCE
from tests.redis_queues import (
    FAILURE,
    PULSE,
    StreamQueues,
    claim,
    pages,
    urls_of,
)

SHOP, OTHER = "http://shop.test/", "http://other.test/"


async def test_silent_worker_is_struck_off_and_its_urls_are_the_first_again(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    await queue.put(pages(5))
    await claim(queue, worker, 3)
    rescued = []
    for _ in range(5):
        rescued.append(await heart.watch())
        assert await heart.beat({})
        queues.clock.move(PULSE.every)

    assert rescued == [0, 0, 0, 0, 3]
    assert queues.waiting() == pages(5)
    assert [found.lost for found in await claim(queue, heart.id)] == [1, 1, 1, 0, 0]
    assert (await queue.depth()).claimed == {heart.id: 5}


async def test_worker_that_beats_keeps_its_claims(queues: StreamQueues, queue: RedisQueue) -> None:
    hearts = [await queues.heart(queue), await queues.heart(queue)]
    for heart in hearts:
        await heart.register()
    await queue.put(pages(3))
    await claim(queue, hearts[0].id)

    for _ in range(20):
        assert await hearts[0].beat({})
        assert await hearts[1].watch() == 0
        queues.clock.move(PULSE.every)


async def test_watcher_that_was_away_strikes_off_nobody(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    await heart.watch()
    queues.clock.move(3600)

    await heart.watch()

    assert worker in (await queue.depth()).claimed


async def test_process_of_this_machine_that_is_gone_is_not_waited_for(
    queues: StreamQueues, queue: RedisQueue, worker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    await queue.put([SHOP])
    await claim(queue, worker)
    gone = heartbeat.this_process().rpartition("/")[0] + "/1"
    queues.client.hset(f"{queues.name}:processes", worker, gone)

    assert await heart.watch() == 1
    assert urls_of(await claim(queue, heart.id)) == [SHOP]


@pytest.mark.parametrize(
    "ending", [Done(), Bury(FAILURE), Retry(0.0, FAILURE), Retry(60.0, FAILURE), Release()]
)
async def test_late_ending_of_a_worker_that_was_taken_for_dead_changes_nothing(
    queues: StreamQueues, queue: RedisQueue, ending: Ending
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    await queue.put([SHOP])
    (late,) = await claim(queue, heart.id)
    other = await queues.heart(queue)
    await other.register()
    await other._strike_off(heart.id, b"")
    await queue.rescue()

    assert await queue.settle([(late, ending)]) == set()
    assert await queue.note_trial([late]) == set()
    assert await claim(queue, heart.id) == []
    assert not await heart.beat({})
    assert queues.everywhere() == {SHOP.encode(): 1}


async def test_worker_that_leaves_gives_back_what_it_has(
    queues: StreamQueues, queue: RedisQueue
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    await queue.put(pages(2 * AT_ONCE + 1))
    await claim(queue, heart.id, 2 * AT_ONCE)

    await heart.leave()

    assert sorted(queues.waiting()) == sorted(pages(2 * AT_ONCE + 1))
    assert queues.client.hgetall(f"{queues.name}:processes") == {}


async def test_worker_that_was_taken_for_dead_enters_anew_and_says_so(
    queues: StreamQueues, queue: RedisQueue
) -> None:
    heart = await queues.heart(queue)
    await heart.register()
    first = heart.id
    await heart._strike_off(first, b"")
    heard = asyncio.Event()

    async def lost() -> None:
        heard.set()

    beating = asyncio.create_task(heart.keep_beating(dict, lost))
    await heard.wait()
    beating.cancel()

    assert heart.id != first
    await queue.put([SHOP])
    assert len(await claim(queue, heart.id)) == 1


async def test_losses_and_trials_of_a_url_are_remembered_until_it_is_over(
    queues: StreamQueues, queue: RedisQueue
) -> None:
    await queue.put([SHOP])
    seen = []
    for _ in range(3):
        heart = await queues.heart(queue)
        await heart.register()
        (found,) = await claim(queue, heart.id)
        assert await queue.note_trial([found]) == {found.id}
        seen.append((found.lost, found.tried))
        await heart.leave()
    worker = await queues.worker(queue)
    (found,) = await claim(queue, worker)
    await queue.settle([(found, Release(30.0))])
    queues.clock.move(31)
    (again,) = await claim(queue, worker)
    await queue.settle([(again, Done())])

    assert seen == [(0, 0), (1, 1), (2, 2)]
    assert (again.lost, again.tried) == (3, 0)
    assert queues.client.exists(f"{queues.name}:lost") == 0
