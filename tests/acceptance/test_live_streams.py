"""Streams of feeds over a real server: server-sent events and WebSockets, to real clients."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from penstock.web.keys import Keys, Scope
from penstock.workloads.live import streaming
from penstock.workloads.live.feeds import complete_feed
from penstock.workloads.live.streaming import Message
from tests.live_rows import LiveRows, look, scraper, update
from tests.services import KEY, Service, listening, serving
from tests.shell import eventually
from tests.site import Site

SECRET = {"X-Service-Key": KEY}
ENDED, NOT_ALLOWED, TRY_LATER, NO_FEED = 1000, 1008, 1013, 4404


class Ground:
    """A service that listens, and a feed that somebody else watches."""

    def __init__(self, service: Service, address: str) -> None:
        self.service = service
        self.address = address
        self.rows = LiveRows(service.engine.store)
        self.written = 0

    async def score(self, number: int = 1, **more: Any) -> None:
        first, self.written = self.written + 1, self.written + number
        now = await self.rows.now()
        new = [update(each, scraped_at=now, **more) for each in range(first, self.written + 1)]
        assert await self.rows.write(*new) == []
        self.service.engine.living.waiters.wake(["m"])

    async def complete(self) -> None:
        await self.rows.do(lambda unit: complete_feed(unit, "m", scraper(1), "it has ended"))
        self.service.engine.living.waiters.wake(["m"])

    @asynccontextmanager
    async def events(self, path: str = "/m/events", **headers: str) -> AsyncIterator["Events"]:
        async with (
            httpx.AsyncClient(timeout=20) as http,
            http.stream(
                "GET", f"{self.address}/api/v1/live{path}", headers={**SECRET, **headers}
            ) as answer,
        ):
            assert answer.status_code == 200
            yield Events(answer)

    def socket(self, path: str = "/m/ws", *offered: str, **headers: str) -> connect:
        url = self.address.replace("http", "ws", 1) + f"/api/v1/live{path}"
        chosen = [Subprotocol(each) for each in offered] or None
        return connect(url, additional_headers=headers, subprotocols=chosen, proxy=None)


class Events:
    """Server-sent events, read one by one."""

    def __init__(self, answer: httpx.Response) -> None:
        self.headers = answer.headers
        self._lines = answer.aiter_lines()

    async def next(self) -> dict[str, Any]:
        """The next event; what is no event is passed over, the end of all is empty."""
        found: dict[str, Any] = {}
        async with asyncio.timeout(20):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name in ("event", "id"):
                    found[name] = value
                elif name == "data":
                    found["data"] = json.loads(value)
                elif "event" in found:
                    return found
        return found

    async def until(self, event: str) -> list[dict[str, Any]]:
        """All events up to one of a kind."""
        found = [await self.next()]
        while found[-1]["event"] != event:
            found.append(await self.next())
        return found


async def heard(connection: ClientConnection, event: str) -> list[dict[str, Any]]:
    """All messages up to one of a kind."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(20):
        while not found or found[-1]["event"] != event:
            found.append(json.loads(await connection.recv()))
    return found


async def closed(connection: ClientConnection) -> tuple[int, str]:
    """Code and reason of the end of a connection."""
    async with asyncio.timeout(20):
        await connection.wait_closed()
    assert connection.close_code is not None
    return connection.close_code, connection.close_reason or ""


@asynccontextmanager
async def grounds(site: Site, folder: Path, **live: Any) -> AsyncIterator[Ground]:
    async with (
        serving(site, folder, works=False, live=live) as service,
        listening(service) as address,
    ):
        ground = Ground(service, address)
        await ground.rows.watch("m")
        await ground.rows.note(look(at=await ground.rows.now()))
        yield ground


@pytest.fixture
async def ground(site: Site, tmp_path: Path) -> AsyncIterator[Ground]:
    async with grounds(site, tmp_path) as ground:
        yield ground


async def test_events_come_as_they_happen_and_end_with_the_feed(ground: Ground) -> None:
    await ground.score()
    async with ground.events() as events:
        first = await events.until("update")
        await ground.score()
        second = await events.next()
        await ground.complete()
        rest = await events.until("end")
        after_all = await events.next()

    assert events.headers["content-type"].startswith("text/event-stream")
    assert events.headers["cache-control"] == "no-store"
    assert [each["event"] for each in first] == ["status", "update"]
    assert (first[-1]["id"], first[-1]["data"]["payload"]) == ("1", {"score": 1})
    assert (second["event"], second["id"]) == ("update", "2")
    assert rest[-1]["data"]["status"] == "completed"
    assert after_all == {}


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/m/events?after=2", {}),
        ("/m/events", {"Last-Event-ID": "2"}),
        ("/m/events?after=0", {"Last-Event-ID": "2"}),
    ],
)
async def test_events_go_on_where_they_were_left(
    ground: Ground, path: str, headers: dict[str, str]
) -> None:
    await ground.score(4)
    await ground.complete()
    async with ground.events(path, **headers) as events:
        told = await events.until("end")

    assert [each["id"] for each in told if each["event"] == "update"] == ["3", "4"]


async def test_a_socket_says_the_same_as_events(ground: Ground) -> None:
    await ground.score(3)
    await ground.complete()
    async with ground.events("/m/events?after=1") as events:
        told = await events.until("end")
    async with ground.socket("/m/ws?after=1", **SECRET) as connection:
        said = await heard(connection, "end")
        code = await closed(connection)

    numbered = [{**each, "id": int(each["id"])} if "id" in each else each for each in told]
    assert said == numbered
    assert code == (ENDED, "the feed is completed")


async def test_a_socket_tells_news_and_does_not_mind_what_it_hears(ground: Ground) -> None:
    await ground.score()
    async with ground.socket("/m/ws", **SECRET) as connection:
        first = await heard(connection, "update")
        await connection.send("hello")
        await connection.send(b"\x00")
        await ground.score()
        second = await heard(connection, "update")

    assert (first[-1]["id"], second[-1]["id"]) == (1, 2)


async def test_a_browser_brings_its_key_as_a_protocol(ground: Ground) -> None:
    await ground.score()
    async with ground.socket("/m/ws", "penstock", f"key.{KEY}") as connection:
        chosen, said = connection.subprotocol, await heard(connection, "update")
    async with ground.socket("/m/ws", "penstock", "key.wrong") as connection:
        code, _ = await closed(connection)

    assert (chosen, said[-1]["id"]) == ("penstock", 1)
    assert code == NOT_ALLOWED


@pytest.mark.parametrize(
    ("path", "headers", "ended"),
    [
        ("/m/ws", {}, (NOT_ALLOWED, "Invalid or missing service key")),
        ("/m/ws", {"X-Service-Key": "wrong"}, (NOT_ALLOWED, "Invalid or missing service key")),
        ("/nobody/ws", SECRET, (NO_FEED, "There is no feed 'nobody'")),
        ("/m/ws?after=x", SECRET, (NOT_ALLOWED, "after: must be the number of an update")),
    ],
)
async def test_a_socket_that_is_refused_says_why(
    ground: Ground, path: str, headers: dict[str, str], ended: tuple[int, str]
) -> None:
    async with ground.socket(path, **headers) as connection:
        assert await closed(connection) == ended


async def test_sockets_and_events_count_for_the_rate_of_a_key(ground: Ground) -> None:
    keys = Keys(ground.service.engine.store)
    _, secret = await keys.create("slow", [Scope.READ], rate_limit=1)
    _, other = await keys.create("scraper", [Scope.SCRAPE])
    async with ground.events("/m/events", **{"X-Service-Key": secret}) as events:
        await events.until("status")
    async with ground.socket("/m/ws", **{"X-Service-Key": secret}) as connection:
        too_often = await closed(connection)
    async with ground.socket("/m/ws", **{"X-Service-Key": other}) as connection:
        not_for_that = await closed(connection)

    assert too_often == (TRY_LATER, "Too many requests with this key")
    assert not_for_that == (NOT_ALLOWED, "This key has no scope 'read'")


async def test_streams_need_no_key_where_none_is_needed(site: Site, tmp_path: Path) -> None:
    async with grounds(site, tmp_path, keys_required=False) as ground:
        await ground.score()
        async with ground.socket("/m/ws") as connection:
            assert (await heard(connection, "update"))[-1]["id"] == 1
        async with ground.socket("/m/ws", **{"X-Service-Key": "wrong"}) as connection:
            assert (await closed(connection))[0] == NOT_ALLOWED


async def test_streams_end_at_once_when_the_service_stops(ground: Ground) -> None:
    await ground.score()
    async with ground.events() as events, ground.socket("/m/ws", **SECRET) as connection:
        await events.until("update")
        await heard(connection, "update")
        ground.service.api.stop()
        async with asyncio.timeout(2):
            ends = await events.next(), await closed(connection)
    async with ground.socket("/m/ws", **SECRET) as connection:
        later = await closed(connection)

    assert ends == ({}, (TRY_LATER, "the service is shutting down"))
    assert later == (TRY_LATER, "The service is shutting down")
    refused = await ground.service.get("/live/m/events")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


async def test_who_leaves_is_forgotten(ground: Ground) -> None:
    await ground.score()
    waiters = ground.service.engine.living.waiters
    async with ground.events() as events, ground.socket("/m/ws", **SECRET) as connection:
        await events.until("update")
        await heard(connection, "update")
        assert len(waiters._events["m"]) == 2
    await eventually(lambda: not waiters._events)


@pytest.mark.parametrize("kind", ["events", "ws"])
async def test_nothing_piles_up_for_who_does_not_read(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for _ in range(10):
        await ground.score(20, payload={"text": "x" * 200_000})
    await ground.complete()
    in_hand: dict[int, int] = {}
    tell = streaming._Stream.tell

    def count(stream: Any, match_id: str, row: Any, updates: list[Any]) -> Iterator[Message]:
        in_hand[id(stream)] = in_hand.get(id(stream), 0) + len(updates)
        return tell(stream, match_id, row, updates)

    monkeypatch.setattr(streaming._Stream, "tell", count)
    place = urlsplit(ground.address)
    with socket.create_connection((place.hostname, place.port)) as idle:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        idle.sendall(_request(kind, place.netloc))
        await eventually(lambda: in_hand)
        async with ground.events("/m/events?after=0") as events:
            told = await events.until("end")
    patient, quick = in_hand.values()

    assert sum(each["event"] == "update" for each in told) == quick == 200
    assert patient <= 60


def _request(kind: str, host: str) -> bytes:
    upgrade = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    )
    line = f"GET /api/v1/live/m/{kind}?after=0 HTTP/1.1\r\nHost: {host}\r\n"
    more = upgrade if kind == "ws" else ""
    return f"{line}X-Service-Key: {KEY}\r\n{more}\r\n".encode()
