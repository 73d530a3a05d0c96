"""The form of messages and queues: what sender and receiver agree on.

A message is a call of the Celery task `penstock.nudge` with the id of an item. Each lane has a
quorum queue of its own. A message that cannot be read, or that was given back too often, ends in
the queue of dead ones, where somebody may look at it: its item waits in the store as before.
"""

from typing import Any

import orjson
from celery import Celery
from kombu import Exchange, Queue
from kombu.transport.pyamqp import Channel

from penstock.queue.broker import BrokerSettings, Nudge

NUDGE = "penstock.nudge"
#: How often a message may come back, from workers that died or were stopped.
DELIVERY_LIMIT = 20
#: A queue that is full refuses; what was refused is sent again later.
MOST_IN_LANE, MOST_DEAD = 1_000_000, 10_000
HEARTBEAT_SECONDS = 20
CONNECT_SECONDS = 5


def lane_queue(settings: BrokerSettings, lane: str) -> Queue:
    """The queue of a lane; its messages are on the disks of most nodes of a cluster."""
    name = f"{settings.prefix}.{lane}"
    return Queue(
        name,
        exchange=Exchange(""),
        routing_key=name,
        queue_arguments={
            "x-queue-type": "quorum",
            "x-delivery-limit": DELIVERY_LIMIT,
            "x-dead-letter-exchange": _dead(settings),
            "x-max-length": MOST_IN_LANE,
            "x-overflow": "reject-publish",
        },
    )


def dead_queue(settings: BrokerSettings) -> Queue:
    """Where messages end that nobody can use; the oldest make room."""
    name = _dead(settings)
    return Queue(
        name,
        exchange=Exchange(name, type="fanout", durable=True),
        queue_arguments={"x-queue-type": "quorum", "x-max-length": MOST_DEAD},
    )


def _dead(settings: BrokerSettings) -> str:
    return f"{settings.prefix}.dead"


def declare(settings: BrokerSettings, lane: str, channel: Channel) -> None:
    """Make sure that the queue of a lane is there, and the one for its dead messages."""
    for queue in (dead_queue(settings), lane_queue(settings, lane)):
        queue(channel).declare()


def write_message(nudge: Nudge, channel: Channel) -> Any:
    """A nudge as a call of the task, as Celery writes it (version 2 of its protocol)."""
    return channel.prepare_message(
        orjson.dumps([[nudge.item], {}, {}]),
        content_type="application/json",
        content_encoding="utf-8",
        headers={
            "lang": "py",
            "task": NUDGE,
            "id": nudge.item,
            "argsrepr": f"({nudge.item!r},)",
            "kwargsrepr": "{}",
            "ignore_result": True,
            "traceparent": nudge.traceparent,
        },
        properties={"delivery_mode": 2, "correlation_id": nudge.item},
    )


def read_message(body: bytes) -> str:
    """The item that a message names; raises `ValueError` if it names none."""
    match orjson.loads(body):
        case [[str() as item], {}, {}] if item:
            return item
    raise ValueError("no call of the task with the id of an item")


def make_app(settings: BrokerSettings, lanes: list[str], strategy: Any) -> Celery:
    """A Celery application of our own, that knows one task and touches nothing of the process."""
    app = Celery("penstock", set_as_current=False, fixups=())
    url = settings.url.get_secret_value()
    app.conf.update(
        # Not `broker_url`: the environment would come before it.
        broker_read_url=url,
        broker_write_url=url,
        broker_heartbeat=HEARTBEAT_SECONDS,
        broker_connection_timeout=CONNECT_SECONDS,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_queues=[lane_queue(settings, lane) for lane in lanes],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        accept_content=["json"],
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        worker_cancel_long_running_tasks_on_connection_loss=True,
        # After a loss it would go on with one message at a time.
        worker_enable_prefetch_count_reduction=False,
    )
    app.task(_nudge, name=NUDGE, Strategy=strategy)
    return app


def _nudge(item: str) -> None:
    """What a message calls; its strategy carries it out, so this is never run."""
    raise NotImplementedError(item)
