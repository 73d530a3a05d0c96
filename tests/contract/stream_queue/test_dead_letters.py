"""Dead letters are plain URLs that are shown and let go by what is known of them."""

from penstock.queue.redis import RedisQueue
from penstock.queue.redis.claiming import AT_ONCE
from tests.redis_queues import StreamQueues, bury, claim, pages

SHOP, OTHER = "http://shop.test/", "http://other.test/"


async def test_dead_letters_are_shown_page_by_page(queue: RedisQueue, worker: str) -> None:
    await bury(queue, worker, pages(5), "not_found")

    first = await queue.dead_letters.show(limit=2)
    rest = await queue.dead_letters.show(after=first[-1].place + 1)

    assert [letter.url for letter in first + rest] == pages(5)


async def test_dead_letters_are_shown_by_domain_and_reason(queue: RedisQueue, worker: str) -> None:
    await bury(queue, worker, pages(2, "a.test"), "not_found")
    await bury(queue, worker, pages(2, "b.test"), "not_found")
    await bury(queue, worker, pages(1, "a.test", first=2), "gone")

    by_domain = await queue.dead_letters.show(domain="a.test")
    by_both = await queue.dead_letters.show(domain="a.test", reason="gone")

    assert [letter.url for letter in by_domain] == pages(3, "a.test")
    assert [letter.url for letter in by_both] == pages(1, "a.test", first=2)


async def test_dead_letters_are_revived_by_url_domain_or_reason(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await bury(queue, worker, pages(3, "a.test"), "not_found")
    await bury(queue, worker, pages(2, "b.test"), "gone")
    await bury(queue, worker, pages(1, "c.test"), "gone")

    one = await queue.dead_letters.revive(pages(1, "a.test", first=1))
    some = await queue.dead_letters.revive(domain="b.test")
    others = await queue.dead_letters.revive(reason="gone")

    assert (one, some, others) == (1, 2, 1)
    assert queues.waiting() == [
        *pages(1, "a.test", first=1),
        *pages(2, "b.test"),
        *pages(1, "c.test"),
    ]
    assert queues.dead_letters() == ["http://a.test/0", "http://a.test/2"]
    assert queues.client.hlen(f"{queues.dead}:reasons") == 2


async def test_all_dead_letters_are_revived_however_many(
    queues: StreamQueues, queue: RedisQueue
) -> None:
    queues.client.rpush(queues.dead, *pages(3 * AT_ONCE + 1))

    assert await queue.dead_letters.revive() == 3 * AT_ONCE + 1
    assert queues.waiting() == pages(3 * AT_ONCE + 1)
    assert queues.dead_letters() == []


async def test_revived_url_is_new(queues: StreamQueues, queue: RedisQueue, worker: str) -> None:
    await bury(queue, worker, [SHOP], "gone")
    await queue.dead_letters.revive()

    (found,) = await claim(queue, worker)

    assert found.lost == 0
    assert queues.client.exists(f"{queues.dead}:reasons", f"{queues.name}:lost") == 0


async def test_dead_letters_are_forgotten_and_the_others_keep_their_order(
    queues: StreamQueues, queue: RedisQueue, worker: str
) -> None:
    await bury(queue, worker, [*pages(2, "a.test"), *pages(3, "b.test")], "gone")

    assert await queue.dead_letters.forget(domain="a.test") == 2
    assert queues.dead_letters() == pages(3, "b.test")
    assert queues.waiting() == []
