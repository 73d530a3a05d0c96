"""Whether the servers of the page fetcher are there, and fit for it."""

from typing import TYPE_CHECKING

from penstock.app.streaming import kafka_module, open_redis
from penstock.workloads.stream.settings import StreamSettings

if TYPE_CHECKING:
    from penstock.events.kafka import Standing


async def check_url_queue(stream: StreamSettings) -> list[str]:
    """What is wrong with the Redis of queue and cache; raises if it does not answer."""
    async with open_redis(stream) as server:
        # Only now: where the client of Redis is missing, opening has said what to install.
        from penstock.queue.redis import check  # noqa: PLC0415

        return await check(server)


async def check_page_events(stream: StreamSettings) -> "Standing":
    """What Kafka knows of the topic of page events; raises if no broker answers."""
    kafka = kafka_module()
    found: Standing = await kafka.check(
        stream.kafka_bootstrap_servers, stream.webpage_log_topic, **stream.kafka_options
    )
    return found
