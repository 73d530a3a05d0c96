"""The connection to Redis: commands and scripts in batches that are bounded, for any use."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import uuid4

import pytest
import redis
from redis import exceptions

from penstock.core.errors import SettingsError, SharedStateLost, StoreLost
from penstock.kernel.redis.server import MAX_BYTES, Server, Usage, compose, open_server
from tests.durable_redis import STREAM, stream_server

#: What the connection turns into a trouble of ours.
CAUGHT = (exceptions.RedisError, OSError, TimeoutError)
#: Of clusters, pipelines and locks: a connection of ours raises none of them.
NOT_OF_A_CONNECTION = {
    "ChildDeadlockedError",
    "RedisClusterException",
    "SlotNotCoveredError",
    "CrossSlotTransactionError",
    "InvalidPipelineStack",
    "IncorrectPolicyType",
}


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Server]:
    async with stream_server(redis_url) as server:
        yield server


@pytest.fixture
def key() -> str:
    return f"test:{uuid4().hex}"


def batches_of(server: Server) -> list[int]:
    """The bytes of every batch from now on."""
    sizes: list[int] = []
    exchange = server._exchange

    async def measure(commands: Sequence[tuple[Any, ...]]) -> list[Any]:
        sizes.append(
            sum(
                len(part)
                for command in commands
                for part in command
                if isinstance(part, str | bytes)
            )
        )
        return await exchange(commands)

    server._exchange = measure  # type: ignore[method-assign]
    return sizes


async def test_plain_commands_are_answered_as_they_are(server: Server, key: str) -> None:
    answers = [
        await server.ask("RPUSH", key, b"\x00\xff", "b"),
        await server.ask("LRANGE", key, 0, -1),
        await server.ask("DEL", key),
        await server.ask("GET", key),
    ]

    assert answers == [2, [b"\x00\xff", b"b"], 1, None]


async def test_commands_that_are_asked_together_travel_together_in_their_order(
    server: Server, key: str
) -> None:
    sizes = batches_of(server)

    await asyncio.gather(*(server.ask("RPUSH", key, f"{n}") for n in range(100)))

    assert len(sizes) < 5
    assert await server.ask("LRANGE", key, 0, -1) == [b"%d" % n for n in range(100)]
    await server.ask("DEL", key)


async def test_batch_of_large_bodies_is_bounded_and_one_larger_still_goes(
    server: Server, key: str
) -> None:
    sizes = batches_of(server)
    bodies = [b"x" * size for size in (*[3_000_000] * 5, MAX_BYTES + 1, 1, 1)]

    await asyncio.gather(
        *(server.ask("SET", f"{key}:{n}", body, "PX", 60_000) for n, body in enumerate(bodies))
    )

    assert [await server.ask("STRLEN", f"{key}:{n}") for n in range(len(bodies))] == list(
        map(len, bodies)
    )
    assert max(sizes) < MAX_BYTES + 1000
    assert len([size for size in sizes if size > 1_000_000]) == 4
    await server.ask("DEL", *(f"{key}:{n}" for n in range(len(bodies))))


async def test_refused_command_is_what_its_use_calls_it_and_harms_no_other(
    server: Server, key: str
) -> None:
    await server.ask("SET", key, "text", "PX", 60_000)

    pushing = asyncio.ensure_future(server.ask("RPUSH", key, "item"))
    answered = await server.ask("GET", key)

    with pytest.raises(StoreLost, match="WRONGTYPE"):
        await pushing
    assert answered == b"text"


async def test_address_that_is_none_names_the_setting_of_its_use() -> None:
    with pytest.raises(SettingsError, match=STREAM.setting):
        async with open_server("http://127.0.0.1", STREAM):
            pass


async def test_answer_may_take_as_long_as_its_use_allows(redis_url: str, key: str) -> None:
    hasty = Usage("PENSTOCK_HASTY__URL", SharedStateLost, 0.01)
    async with open_server(redis_url, hasty) as server:
        with pytest.raises(SharedStateLost, match=r"PENSTOCK_HASTY__URL.*timed out"):
            await server.ask("BLPOP", key, 1)

        with redis.Redis.from_url(redis_url) as client:
            client.set(key, "there", ex=60)
        assert await server.ask("GET", key) == b"there"


async def test_script_of_another_package_knows_the_time(server: Server, key: str) -> None:
    script = compose("penstock.queue.redis", ["register"], {})

    await server.run(script, (key, f"{key}:processes"), "worker", "process")

    (seconds, _), beat = await server.ask("TIME"), await server.ask("ZSCORE", key, "worker")
    assert float(beat) / 1e6 == pytest.approx(float(seconds), abs=5)
    await server.ask("DEL", key, f"{key}:processes")


def test_every_exception_of_the_client_is_known() -> None:
    foreign = {
        kind
        for kind in vars(exceptions).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }

    unknown = {kind for kind in foreign if not issubclass(kind, CAUGHT)}

    assert len(foreign) > 25
    assert {kind.__name__ for kind in unknown} <= NOT_OF_A_CONNECTION


@pytest.mark.parametrize("kind", [exceptions.ConnectionError, exceptions.DataError, OSError])
async def test_trouble_with_the_connection_is_what_its_use_calls_it_and_passes(
    server: Server, kind: type[Exception]
) -> None:
    exchange = server._exchange

    async def fail(commands: object) -> list[Any]:
        raise kind("broken")

    server._exchange = fail  # type: ignore[method-assign]
    with pytest.raises(StoreLost, match="broken"):
        await server.ask("PING")
    server._exchange = exchange  # type: ignore[method-assign]

    assert await server.ask("PING") == b"PONG"
