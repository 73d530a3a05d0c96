"""The stream's queue: a list that anybody pushes URLs to, and nothing in it is ever only popped.

A claimed URL stands in the hash of its worker until it is over. URLs of a group that has to wait
stand in a line of its own, so that they are in nobody's way. All of it is in Redis, and whatever is
done in one step there is done by a script.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from penstock.core.ids import new_id
from penstock.kernel.redis.server import Server
from penstock.queue.ports import Claim, Ending, Record, Share
from penstock.queue.redis import claiming
from penstock.queue.redis.claiming import AT_ONCE, Turn, load
from penstock.queue.redis.dead import DeadLetters
from penstock.queue.redis.keys import Keys, raw, text_of
from penstock.queue.redis.settling import Settling


@dataclass(frozen=True, slots=True)
class Line:
    """URLs of a group that wait apart, and in how many seconds they are due."""

    waiting: int
    due: float


@dataclass(frozen=True, slots=True)
class RedisDepth:
    """How many URLs wait in the list, in lines by group, are claimed by worker, and are dead."""

    waiting: int
    parked: Mapping[str, Line]
    claimed: Mapping[str, int]
    dead: int

    @property
    def pending(self) -> int:
        """All that is not over."""
        parked = sum(line.waiting for line in self.parked.values())
        return self.waiting + parked + sum(self.claimed.values())


class RedisQueue:
    """URLs in lists of Redis; `group_of` says which domain a URL belongs to, whatever it is.

    A `StoreLost` says that the server is away; it is good again by itself when the server is.
    """

    def __init__(
        self,
        server: Server,
        name: str,
        dead: str,
        group_of: Callable[[str], str],
        new_id: Callable[[], str] = new_id,
    ) -> None:
        self._server = server
        self._group_of = group_of
        self._new_id = new_id
        self.keys = keys = Keys(name, dead)
        self.dead_letters = DeadLetters(server, keys)
        self._settling = Settling(server, keys)
        self._claiming = claiming.Scripts.load()
        self._rescue = load("known", "held", "rescue")
        self._lines = load("lines")
        # By worker, the ids of claims that it may have made without hearing of it.
        self._unheard: dict[str, list[str]] = {}

    async def put(self, urls: Sequence[str]) -> None:
        """Push URLs, as any producer may."""
        for first in range(0, len(urls), AT_ONCE):
            some = urls[first : first + AT_ONCE]
            await self._server.ask("RPUSH", raw(self.keys.name), *map(raw, some))

    async def claim(
        self, worker: str, lanes: Sequence[str], limit: int, share: Share
    ) -> list[Claim]:
        """Half from the lines that are due, half from the list, while both have something."""
        if limit <= 0 or not lanes:
            return []
        turn = Turn(
            self._server,
            self.keys,
            self._claiming,
            worker,
            share,
            group_of=self._group_of,
            new_id=self._new_id,
        )
        try:
            await turn.recover(self._unheard.get(worker, ()), limit)
            await turn.run(limit)
        except BaseException:
            self._unheard[worker] = turn.ids
            raise
        self._unheard.pop(worker, None)
        return turn.claims(lanes[0])

    async def note_trial(self, claims: Sequence[Claim]) -> set[str]:
        return await self._settling.note_trial(claims)

    async def settle(
        self, endings: Sequence[tuple[Claim, Ending]], record: Record | None = None
    ) -> set[str]:
        """End claims; there is no transaction here, so what else belongs to them is done before."""
        del record
        return await self._settling.settle(endings)

    async def rescue(self) -> int:
        """Take back what workers had claimed that were struck off; how many URLs."""
        gone = await self._server.ask("ZRANGEBYSCORE", raw(self.keys.workers), "-inf", 0)
        return sum([await self._rescue_from(text_of(worker)) for worker in gone])

    async def _rescue_from(self, worker: str) -> int:
        keys, total, is_more = self.keys, 0, 1
        names = (keys.name, keys.claimed(worker), keys.workers, keys.processes, keys.lost)
        while is_more:
            number, is_more = await self._server.run(self._rescue, names, raw(worker), AT_ONCE)
            total += number
        return total

    async def depth(self) -> RedisDepth:
        """What is where."""
        keys, ask = self.keys, self._server.ask
        workers = [text_of(worker) for worker in await ask("ZRANGE", raw(keys.workers), 0, -1)]
        claimed = {worker: await ask("HLEN", raw(keys.claimed(worker))) for worker in workers}
        return RedisDepth(
            waiting=await ask("LLEN", raw(keys.name)),
            parked=await self._parked(),
            claimed=claimed,
            dead=await ask("LLEN", raw(keys.dead)),
        )

    async def _parked(self) -> dict[str, Line]:
        lines: dict[str, Line] = {}
        first, number = 0, await self._server.ask("ZCARD", raw(self.keys.parked))
        while first < number:
            names, last = (self.keys.parked,), first + AT_ONCE - 1
            row = iter(await self._server.run(self._lines, names, first, last))
            for group, waiting, due in zip(row, row, row, strict=True):
                if waiting:
                    lines[text_of(group)] = Line(waiting, max(0.0, due / 1e6))
            first += AT_ONCE
        return lines
