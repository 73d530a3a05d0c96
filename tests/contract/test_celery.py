"""Messages through a real RabbitMQ tell workers what to do; whatever befalls them, nothing is lost.

The worker processes are real, and so is the site that they fetch from: it knows what was fetched
how often.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kombu import Connection
from structlog.testing import capture_logs

from penstock.core.clock import SystemClock
from penstock.kernel.model import Request
from penstock.queue.broker import BrokerSettings, Nudge
from penstock.queue.celery import CeleryConsumer, CeleryNudger
from penstock.queue.celery.messages import NUDGE, dead_queue, declare, lane_queue, make_app
from penstock.queue.nudging import NudgingQueue
from penstock.queue.ports import Item
from penstock.queue.resend import Resender
from penstock.queue.sql import SqlQueue
from penstock.store import migrate
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.workloads.fetch.lane import item_for
from tests import rabbitmq_server
from tests.platforms import FAST
from tests.rabbitmq_server import PrivateRabbitMQ
from tests.site import Reply, Site
from tests.stores import row_of, states_of

LANE = "fetch"
HOSTS = ("robots-404.test", "robots-html.test", "robots-big.test")
LONGEST = 40.0


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that must come about."""
    async with asyncio.timeout(LONGEST):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.05)


@dataclass
class Rig:
    """A store, a site and a broker; workers are started on them as wanted."""

    site: Site
    store: Store
    queue: SqlQueue
    broker: BrokerSettings
    folder: Path
    workers: list[Process] = field(default_factory=list)

    async def start_worker(self, **changes: Any) -> Process:
        """Start a worker process and return when it works."""
        sections: dict[str, Any] = {
            **{name: dict(section) for name, section in FAST.items()},
            "admission": {"known_hosts": self.site.known_hosts},
            "policies": {"shipped": False},
            "store": {"folder": str(self.folder)},
            "queue": {"beat_seconds": 0.2, "grace_seconds": 1},
            "shared": {"lock_file": str(self.folder / f"lock-{uuid4().hex}")},
            "broker": {**self.broker.model_dump(mode="json"), **changes},
        }
        sections["broker"]["url"] = self.broker.url.get_secret_value()
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.nudged_worker", json.dumps(sections), stdout=PIPE
        )
        self.workers.append(worker)
        assert worker.stdout is not None
        assert await worker.stdout.readline() == b"ready\n"
        return worker

    async def put(self, number: int) -> list[Item]:
        """Put items without telling anybody."""
        items = new_items(number)
        receipts = await self.queue.put(items)
        assert {receipt.status for receipt in receipts} == {"accepted"}
        return items

    async def tell(self, *items: str) -> None:
        """Send messages as any Celery client would."""

        def send() -> None:
            app = make_app(self.broker, [LANE], strategy=None)
            with app.connection_for_write() as connection:
                for item in items:
                    app.send_task(NUDGE, args=[item], queue=self.lane, connection=connection)

        await asyncio.to_thread(send)

    @property
    def lane(self) -> str:
        return str(lane_queue(self.broker, LANE).name)

    async def messages(self, queue: str | None = None) -> int:
        """How many messages lie in a queue and are with nobody."""

        def count() -> int:
            with Connection(self.broker.url.get_secret_value()) as connection:
                channel = connection.default_channel
                found: int = channel.queue_declare(queue or self.lane, passive=True).message_count
                return found

        return await asyncio.to_thread(count)

    async def purge(self) -> None:
        """Lose every message that is with nobody."""

        def purge() -> None:
            with Connection(self.broker.url.get_secret_value()) as connection:
                connection.default_channel.queue_purge(self.lane)

        await asyncio.to_thread(purge)

    async def all_done(self, items: Sequence[Item]) -> bool:
        states = await states_of(self.store)
        return all(states[item.id] == "done" for item in items)

    async def states(self) -> Counter[str]:
        return Counter((await states_of(self.store)).values())

    def fetched(self) -> Counter[str]:
        """How often each page was fetched."""
        return Counter(
            f"http://{hit.host}{hit.path}" for hit in self.site.hits if hit.path != "/robots.txt"
        )


def new_items(number: int, path: str = "/page") -> list[Item]:
    """Items over several hosts, each with a URL of its own."""
    made = []
    for place in range(number):
        host = HOSTS[place % len(HOSTS)]
        url = f"http://{host}{path}?{uuid4().hex}"
        made.append(item_for(Request(url), host, "run"))
    return made


async def end(worker: Process) -> int:
    """Ask a worker to stop and wait until it has."""
    worker.send_signal(signal.SIGTERM)
    return await worker.wait()


@pytest.fixture(scope="session")
def rabbitmq_url() -> Iterator[str]:
    if url := os.environ.get("PENSTOCK_TEST_RABBITMQ_URL"):
        yield url
        return
    server = PrivateRabbitMQ(rabbitmq_server.find_program())
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def private_rabbitmq() -> Iterator[PrivateRabbitMQ]:
    """A server that may be killed."""
    server = PrivateRabbitMQ(rabbitmq_server.find_program())
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def broker(request: pytest.FixtureRequest) -> AsyncIterator[BrokerSettings]:
    """Queues of the test's own, gone after it."""
    private = "private_rabbitmq" in request.fixturenames
    url = (
        request.getfixturevalue("private_rabbitmq").url
        if private
        else request.getfixturevalue("rabbitmq_url")
    )
    settings = BrokerSettings(url=url, prefix=f"test-{uuid4().hex[:8]}")
    with Connection(url) as connection:
        declare(settings, LANE, connection.default_channel)
    yield settings
    if not private:
        with Connection(url) as connection:
            for queue in (lane_queue(settings, LANE), dead_queue(settings)):
                queue(connection.default_channel).delete()


@pytest.fixture
async def rig(broker: BrokerSettings, tmp_path: Path) -> AsyncIterator[Rig]:
    settings = StoreSettings(folder=tmp_path)
    async with Site() as site, open_store(settings, SystemClock()) as store:
        await migrate.make_ready(store)
        rig = Rig(site, store, SqlQueue(store, {}), broker, tmp_path)
        yield rig
        for worker in rig.workers:
            with suppress(ProcessLookupError):
                worker.kill()
            await worker.wait()


@pytest.fixture
async def nudger(broker: BrokerSettings) -> AsyncIterator[CeleryNudger]:
    async with CeleryNudger(broker) as nudger:
        await until(lambda: _is_ready(nudger))
        yield nudger


async def _is_ready(nudger: CeleryNudger) -> bool:
    return nudger.is_ready


async def test_what_is_put_is_carried_by_any_worker_exactly_once(
    rig: Rig, nudger: CeleryNudger
) -> None:
    await asyncio.gather(rig.start_worker(), rig.start_worker())
    items = new_items(120)

    await NudgingQueue(rig.queue, nudger).put(items)
    await until(lambda: rig.all_done(items))
    codes = [await end(worker) for worker in rig.workers]

    assert rig.fetched() == {item.payload["url"]: 1 for item in items}
    assert codes == [0, 0]
    assert await rig.messages() == 0


async def test_messages_that_come_twice_late_or_for_nothing_change_nothing(rig: Rig) -> None:
    worker = await rig.start_worker(resend_seconds=600)
    (done,) = await rig.put(1)
    await rig.tell(done.id)
    await until(lambda: rig.all_done([done]))
    (early,) = await rig.queue.put([early_item := delayed(new_items(1)[0])])
    (item,) = await rig.put(1)

    await rig.tell(done.id, "unknown", early_item.id, *[item.id] * 5, done.id)
    await until(lambda: rig.all_done([item]))
    await end(worker)

    assert early.status == "accepted"
    assert rig.fetched() == {done.payload["url"]: 1, item.payload["url"]: 1}
    assert (await row_of(rig.store, early_item.id))["state"] == "waiting"
    assert await rig.messages() == 0


async def test_a_message_that_nobody_can_read_is_put_with_the_dead(rig: Rig) -> None:
    worker = await rig.start_worker()
    (item,) = await rig.put(1)

    await asyncio.to_thread(send_rubbish, rig)
    await rig.tell(item.id)
    await until(lambda: rig.all_done([item]))
    await end(worker)

    assert await rig.messages() == 0
    assert await rig.messages(str(dead_queue(rig.broker).name)) == len(RUBBISH)


async def test_a_message_that_vanished_is_sent_again(rig: Rig, nudger: CeleryNudger) -> None:
    items = await rig.put(20)
    settings = rig.broker.model_copy(update={"resend_seconds": 0.5})
    resender = Resender(rig.store, nudger, SystemClock(), settings, [LANE])

    async def has_come() -> bool:
        return await resender.look() > 0 or await told()

    async def told() -> bool:
        return bool((await row_of(rig.store, items[-1].id))["nudged_at"])

    await until(has_come)
    await until(lambda: has_messages(rig))
    await rig.purge()
    await rig.start_worker(resend_seconds=0.5)
    await until(lambda: rig.all_done(items))

    assert rig.fetched() == {item.payload["url"]: 1 for item in items}


async def test_what_a_killed_worker_had_is_carried_by_another(
    rig: Rig, nudger: CeleryNudger
) -> None:
    for host in HOSTS:
        rig.site.reply(host, "/slow", Reply(200, "too late", delay=60.0))
    victim = await rig.start_worker()
    items = new_items(12, "/slow")
    await NudgingQueue(rig.queue, nudger).put(items)
    await until(lambda: has_fetched(rig, 12))
    for host in HOSTS:
        rig.site.reply(host, "/slow", Reply(200, "here"))

    victim.kill()
    await victim.wait()
    await until(lambda: has_messages(rig, 12))
    await rig.start_worker(resend_seconds=600)
    await until(lambda: rig.all_done(items))

    assert rig.fetched() == {item.payload["url"]: 2 for item in items}


async def test_a_worker_that_is_stopped_leaves_nothing_claimed_and_no_message(
    rig: Rig, nudger: CeleryNudger
) -> None:
    for host in HOSTS:
        rig.site.reply(host, "/quick", Reply(200, "here", delay=0.3))
        rig.site.reply(host, "/endless", Reply(200, "too late", delay=60.0))
    worker = await rig.start_worker(resend_seconds=600)
    quick, endless = new_items(10, "/quick"), new_items(3, "/endless")
    await NudgingQueue(rig.queue, nudger).put([*quick, *endless])
    await until(lambda: has_fetched(rig, 13))

    code = await end(worker)

    assert code == 0
    assert await rig.states() == {"done": 10, "waiting": 3}
    assert await rig.all_done(quick)
    assert await rig.messages() == 0
    assert {(await row_of(rig.store, item.id))["attempts"] for item in endless} == {0}


async def test_a_broker_that_is_killed_while_messages_are_sent_loses_no_item(
    rig: Rig, nudger: CeleryNudger, private_rabbitmq: PrivateRabbitMQ
) -> None:
    queue = NudgingQueue(rig.queue, nudger)
    items: list[Item] = []

    async def keep_putting(times: int) -> None:
        for _ in range(times):
            new = new_items(30)
            await queue.put(new)
            items.extend(new)
            await asyncio.sleep(0.02)

    await rig.start_worker(resend_seconds=3)
    putting = asyncio.create_task(keep_putting(20))
    await until(lambda: has_fetched(rig, 100))
    await asyncio.to_thread(private_rabbitmq.kill)
    await putting
    await keep_putting(3)
    await asyncio.to_thread(private_rabbitmq.start)
    await until(lambda: rig.all_done(items))

    assert rig.fetched() == {item.payload["url"]: 1 for item in items}
    await assert_many_are_carried_at_once(rig, queue)


async def test_a_nudger_without_a_broker_drops_and_reports_it_once() -> None:
    async with hanging_up() as (url, attempts):
        with capture_logs() as lines:
            async with CeleryNudger(BrokerSettings(url=url)) as nudger:
                await until(lambda: has_tried(attempts, 2))
                await nudger.send([Nudge(LANE, "item")])

    assert not nudger.is_ready
    assert [line["log_level"] for line in lines] == ["error"]
    assert "broker is away" in lines[0]["event"]
    assert "secret" not in str(lines)


async def test_a_consumer_without_a_broker_goes_on_trying_until_it_is_stopped() -> None:
    taken: list[str] = []

    async def take(item: str) -> None:
        taken.append(item)

    async with hanging_up() as (url, attempts):
        with capture_logs() as lines:
            async with CeleryConsumer(BrokerSettings(url=url), [LANE], take) as consumer:
                await until(lambda: has_tried(attempts, 3))
                was_ready = consumer.is_ready

    assert not was_ready
    assert taken == []
    assert len(lines) == 1
    assert "no connection" in lines[0]["said"]
    assert "secret" not in str(lines)


async def assert_many_are_carried_at_once(rig: Rig, queue: NudgingQueue) -> None:
    rig.site.peak.clear()
    for host in HOSTS:
        rig.site.reply(host, "/together", Reply(200, "here", delay=1.0))
    items = new_items(12, "/together")
    await queue.put(items)
    await until(lambda: rig.all_done(items))
    assert rig.site.peak == dict.fromkeys(HOSTS, 4)


@asynccontextmanager
async def hanging_up() -> AsyncIterator[tuple[str, list[str]]]:
    """The URL of a server that ends every connection, and a note of each."""
    attempts: list[str] = []

    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        attempts.append("one more")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"amqp://guest:secret@127.0.0.1:{port}//", attempts


async def has_tried(attempts: Sequence[str], times: int) -> bool:
    return len(attempts) >= times


async def has_messages(rig: Rig, number: int = 1) -> bool:
    return await rig.messages() >= number


async def has_fetched(rig: Rig, number: int) -> bool:
    return rig.fetched().total() >= number


def delayed(item: Item) -> Item:
    return Item(item.id, item.lane, item.payload, item.group, delay=600)


RUBBISH: list[tuple[bytes, dict[str, Any]]] = [
    (b"{", {"content_type": "application/json", "headers": {"task": NUDGE, "id": "1"}}),
    (b"[[7],{},{}]", {"content_type": "application/json", "headers": {"task": NUDGE, "id": "2"}}),
    (b"[]", {"content_type": "application/json", "headers": {"task": "no.such.task", "id": "3"}}),
    (b"\xff", {"content_type": "application/x-python-serialize"}),
]


def send_rubbish(rig: Rig) -> None:
    with Connection(rig.broker.url.get_secret_value()) as connection:
        channel = connection.default_channel
        for body, traits in RUBBISH:
            message = channel.prepare_message(body, content_encoding="utf-8", **traits)
            channel.basic_publish(message, "", rig.lane)
