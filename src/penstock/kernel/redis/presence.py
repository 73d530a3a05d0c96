"""Which processes are there, in Redis: what one that fell silent holds is free for the others."""

import contextlib

from penstock.core.clock import Clock
from penstock.core.errors import SharedStateLost
from penstock.kernel.redis.server import Script, Server, load_script, microseconds

#: A process tells every few seconds that it is there; after so many it is taken for lost.
BEAT, SILENCE = 4.0, 15.0
#: How its key begins; it is the last one of every script that asks who is there.
ALIVE = "alive:"
REMEMBERED = 600.0


def load_watchful(*names: str, **constants: str | float) -> Script:
    """A script that knows which processes are there."""
    times = {"SILENCE": microseconds(SILENCE), "REMEMBERED": microseconds(REMEMBERED)}
    return load_script("alive", *names, **times, **constants)


class Presence:
    """That this process is there; asking for anything shared says so, too."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._beat = load_watchful("beat")

    async def keep_beating(self) -> None:
        """Keep what we hold, for as long as we live."""
        while True:
            with contextlib.suppress(SharedStateLost):
                await self._server.run(self._beat, (ALIVE,), self._server.process)
            await self._clock.sleep(BEAT)
