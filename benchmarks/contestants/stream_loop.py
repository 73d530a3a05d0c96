"""The simplest honest loop: pop a URL, get it, keep the body, publish the event; no gate at all."""

import asyncio
import hashlib
import json
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import aiohttp
import redis.asyncio
import uvloop
from aiokafka import AIOKafkaProducer

from benchmarks.contestants.lap import Course, Lap, read_course

LIFETIME = 3600


class Loop:
    """Workers that all do the same until the queue is empty."""

    def __init__(self, course: Course, lap: Lap) -> None:
        address, self._kafka, self._topic = course.manner.split()
        self._redis: Any = redis.asyncio.Redis.from_url(address)
        self._lap = lap
        self._concurrency = course.concurrency

    async def run(self) -> None:
        producer = AIOKafkaProducer(bootstrap_servers=self._kafka, acks="all", linger_ms=5)
        connector = aiohttp.TCPConnector(limit=0)
        async with producer, aiohttp.ClientSession(connector=connector) as session:
            self._lap.restart()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self._concurrency):
                    tasks.create_task(self._work(session, producer))
        await self._redis.aclose()

    async def _work(self, session: aiohttp.ClientSession, producer: AIOKafkaProducer) -> None:
        while (url := await self._redis.lpop("crawler_queue")) is not None:
            async with session.get(url.decode()) as response:
                body = await response.read()
                kind = response.headers.get("Content-Type")
                status = response.status
            name = hashlib.sha256(url).hexdigest()
            await self._redis.set(f"webpage:{name}", body, ex=LIFETIME)
            event = {
                "type": "webpage_fetched",
                "url": url.decode(),
                "cache_key": f"webpage:{name}",
                "status_code": status,
                "content_type": kind,
                "content_length": len(body),
                "content_hash": hashlib.sha256(body).hexdigest(),
                "fetched_at": datetime.now(UTC).isoformat(),
            }
            await producer.send_and_wait(self._topic, json.dumps(event).encode(), name.encode())
            self._lap.pages += status == HTTPStatus.OK
            self._lap.errors += status != HTTPStatus.OK


def main() -> None:
    lap = Lap()
    uvloop.run(Loop(read_course(), lap).run())
    lap.report()


if __name__ == "__main__":
    main()
