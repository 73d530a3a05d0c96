"""The site itself: one loopback port, routed by Host header, that remembers who asked what."""

import asyncio
from collections import Counter, deque
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.site import wire
from tests.site.answers import Answer, Hit, MalformedRequestError, Plan, Reply, Reset, carry_out
from tests.site.canary import Canary
from tests.site.hosts import entry_of
from tests.site.live_ground import Ground
from tests.site.robots_files import robots_reply
from tests.site.settings import DEFAULT_SETTINGS, SiteSettings
from tests.site.tags import echo

UNAVAILABLE = Reply(503, "<title>503</title><h1>Down for a while</h1>")


class Site:
    """`async with Site() as site:` serves every host of `tests.site.hosts` on `site.address`.

    `site.canary` listens beside it: `moved.test/to-private` points there, and
    `site.canary.connections` must stay 0 for a client that refuses private addresses.
    """

    def __init__(
        self, *, port: int = 0, canary_port: int = 0, settings: SiteSettings = DEFAULT_SETTINGS
    ) -> None:
        self.settings = settings
        self.hits: list[Hit] = []
        self.robots: dict[str, str | Plan] = {}
        self.peak: Counter[str] = Counter()
        """The most requests each host has had in hand at once."""
        self.canary = Canary(canary_port)
        self.ground = Ground(settings.now)
        """Steers the live pages."""
        self._port = port
        self._down: dict[str, Answer] = {}
        self._planted: dict[tuple[str, str], deque[Plan]] = {}
        self._pages_asked: Counter[str] = Counter()
        self._in_hand: Counter[str] = Counter()
        self._connections = 0
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._bugs: list[BaseException] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def known_hosts(self) -> dict[str, str]:
        return {"*.test": self.address}

    def hits_of(self, host: str, path: str | None = None) -> list[Hit]:
        """Requests to a host, in order; a path without a query stands for all of its queries."""
        return [
            hit
            for hit in self.hits
            if hit.host == host and (path is None or path in {hit.path, hit.route})
        ]

    def reply(self, host: str, path: str, *plans: Plan) -> None:
        """Answer a path with these one after another, the last one from then on.

        A path without a query stands for all of its queries. Each plan is a Reply, Raw,
        Reset, or a function from the Hit to one of them.
        """
        self._planted[host, path] = deque(plans)

    def take_down(self, host: str, answer: Answer = UNAVAILABLE) -> None:
        """Answer everything on a host, robots.txt too, by a 503 or by what is given: Reset()."""
        self._down[host] = answer

    def bring_up(self, host: str) -> None:
        self._down.pop(host, None)

    @property
    def open_connections(self) -> int:
        return len(self._serving)

    async def left_alone(self) -> None:
        """Return when every client has gone and nothing is written any more."""
        if self._serving:
            await asyncio.wait(self._serving)

    async def __aenter__(self) -> Self:
        await self.canary.__aenter__()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: wire.Connection(self._supervise), "127.0.0.1", self._port
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task, writer in self._serving.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()
        await self.canary.__aexit__(kind, error, traceback)
        if self._bugs and error is None:
            raise self._bugs[0]

    def _supervise(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> asyncio.Task[None]:
        self._connections += 1
        task = asyncio.create_task(self._serve(reader, writer, self._connections))
        self._serving[task] = writer
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        writer = self._serving.pop(task)
        if not task.cancelled() and (bug := task.exception()):
            self._bugs.append(bug)
            writer.transport.abort()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while not writer.is_closing():
                    await self._exchange(await wire.read_request(reader), writer, connection)
            except MalformedRequestError as error:
                await wire.send(writer, Reply(400, str(error)), "GET", self.settings)
        writer.close()

    async def _exchange(
        self, received: wire.Received, writer: asyncio.StreamWriter, connection: int
    ) -> None:
        hit = self._record(received, connection)
        self._in_hand[hit.host] += 1
        self.peak[hit.host] = max(self.peak[hit.host], self._in_hand[hit.host])
        try:
            await wire.send(writer, self._answer(hit), hit.method, self.settings)
        finally:
            self._in_hand[hit.host] -= 1
        if not received.keeps_alive:
            writer.close()

    def _record(self, received: wire.Received, connection: int) -> Hit:
        self._pages_asked[received.host] += received.path != "/robots.txt"
        hit = Hit(
            host=received.host,
            method=received.method,
            path=received.path,
            headers=received.headers,
            body=received.body,
            started=asyncio.get_running_loop().time(),
            connection=connection,
            nth=self._pages_asked[received.host],
            canary_port=self.canary.port,
            settings=self.settings,
            ground=self.ground,
        )
        self.hits.append(hit)
        if len(self.hits) > 2 * self.settings.keep_hits:
            del self.hits[: -self.settings.keep_hits]
        return hit

    def _answer(self, hit: Hit) -> Answer:
        if self.ground.is_cut(hit.host):
            return Reset()
        return self._down.get(hit.host) or carry_out(self._plan(hit), hit)

    def _plan(self, hit: Hit) -> Plan:
        for path in (hit.path, hit.route):
            if planted := self._planted.get((hit.host, path)):
                return planted.popleft() if len(planted) > 1 else planted[0]
        entry = entry_of(hit.host)
        match hit.route:
            case "/robots.txt":
                return robots_reply(self.robots.get(hit.host, entry.robots))
            case "/_echo":
                return echo
            case _:
                return entry.pages
