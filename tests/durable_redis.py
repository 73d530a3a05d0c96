"""A Redis of the tests' own that loses nothing: what it answered survives its being killed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from penstock.core.errors import StoreLost
from penstock.kernel.redis.server import Server, Usage, open_server
from tests import private_server
from tools.provision.redis import REDIS, REDIS_SERVER, redis_arguments

#: As the stream opens its connections.
STREAM = Usage("PENSTOCK_STREAM__REDIS_URL", StoreLost, 10.0)


def _arguments(program: str, folder: Path, port: int) -> list[str]:
    # Of an option that is given twice, the last one counts.
    keep = ["--appendonly", "yes", "--appendfsync", "always"]
    return [*redis_arguments(program, folder, port), *keep]


class DurableRedis(private_server.PrivateServer):
    """Writes everything to its disk before it answers."""

    def __init__(self, program: str) -> None:
        super().__init__(replace(REDIS, arguments=_arguments), program)


def find_program() -> str:
    """The path of `redis-server`; without one the test is skipped, in CI it fails."""
    return private_server.find_program(REDIS_SERVER)


@asynccontextmanager
async def stream_server(
    url: str, clock_shift: Callable[[], float] = lambda: 0.0
) -> AsyncIterator[Server]:
    """A connection as the stream's queue and cache have it."""
    async with open_server(url, STREAM, clock_shift=clock_shift) as server:
        yield server
