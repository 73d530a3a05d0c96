"""The door of an API: the porter answers for a busy process, and everybody else gets in."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Receive, Scope, Send

from penstock.api import door, porter
from penstock.api.door import Said
from penstock.api.server import Server
from penstock.web.settings import ApiSettings
from tests.browsers import named, processes_below
from tests.shell import eventually

LARGE = "x" * 5_000_000
HEAD = b"GET /health HTTP/1.1\r\nHost: a\r\n"


@dataclass(slots=True)
class House:
    """A server whose application says who came in; what its porter says can be changed."""

    http: httpx.AsyncClient
    port: int = 0
    came_in: list[str] = field(default_factory=list)
    says: str = "well"
    fails: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.came_in.append(request.url.path)
        body = await request.body()
        await PlainTextResponse(f"in: {request.url.path} {len(body)}")(scope, receive, send)

    async def signs(self) -> Mapping[str, Said]:
        if self.fails:
            raise RuntimeError("no signs")
        silent = JSONResponse({"status": "down"}, 503)
        return {
            "/health": Said(JSONResponse({"status": self.says}), silent),
            "/large": Said(PlainTextResponse(LARGE), silent),
        }

    @property
    def porters(self) -> list[int]:
        return named(processes_below(os.getpid()), "porter.py")

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def get(self, path: str) -> httpx.Response:
        """Ask on a connection that is used once."""
        return await self.http.get(self.url(path), headers={"Connection": "close"})

    async def is_told(self) -> bool:
        """Whether the porter knows what to say."""
        return "age" in (await self.get("/health")).headers

    async def send(self, *parts: bytes) -> bytes:
        """Everything that is answered to some packets."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.05)
        async with asyncio.timeout(10):
            answer = await reader.read()
        writer.close()
        return answer


@pytest.fixture
async def empty() -> AsyncIterator[House]:
    async with httpx.AsyncClient() as http:
        yield House(http)


@pytest.fixture
async def house(empty: House, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    monkeypatch.setattr(door, "TELL_SECONDS", 0.1)
    monkeypatch.setattr(door, "AGAIN_SECONDS", 0.1)
    house, settings = empty, ApiSettings(port=0, drain_seconds=1)
    server = Server(house, settings, signs=house.signs)
    house.port = int(server.address.rpartition(":")[2])
    serving = asyncio.create_task(server.run())
    await eventually(house.is_told)
    house.came_in.clear()
    yield house
    server.stop()
    await serving
    server.close()
    assert house.porters == []


async def test_the_porter_says_how_the_process_does_and_everybody_else_gets_in(
    house: House,
) -> None:
    health = await house.get("/health?verbose=1")
    other = await house.get("/other")

    assert (health.status_code, health.json()) == (200, {"status": "well"})
    assert (health.headers["age"], health.headers["connection"]) == ("0", "close")
    assert health.headers["content-type"] == "application/json"
    assert len(health.headers["x-request-id"]) == 36
    assert other.text == "in: /other 0"
    assert house.came_in == ["/other"]


async def test_a_connection_that_is_inside_stays_there(house: House) -> None:
    for _ in range(3):
        await house.http.get(house.url("/other"))
    inside = await house.http.get(house.url("/health"))

    assert inside.text == "in: /health 0"


async def test_what_is_said_changes_with_what_is_so(house: House) -> None:
    house.says = "otherwise"

    async def is_otherwise() -> bool:
        return bool((await house.get("/health")).json()["status"] == "otherwise")

    await eventually(is_otherwise)


@pytest.mark.parametrize(
    "parts",
    [
        (b"GET /hea", b"lth HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        (HEAD, b"Connection: close\r\n\r\n"),
        (HEAD + b"\r\n" + b"GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",),
        (HEAD + b"Content-Length: 2\r\nConnection: close\r\n\r\n", b"ab"),
        (b"POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab",),
        (b"GET /healthy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",),
    ],
    ids=["in two parts", "head not over", "two at once", "with a body", "POST", "longer path"],
)
async def test_what_is_not_a_plain_question_is_for_the_process(
    house: House, parts: tuple[bytes, ...]
) -> None:
    answer = await house.send(*parts)

    assert b"in: /health" in answer
    assert house.came_in[0].startswith("/health")


async def test_nothing_of_a_long_upload_is_lost_on_the_way_in(house: House) -> None:
    answer = await house.http.post(house.url("/upload"), content=b"x" * 1_000_000)

    assert answer.text == "in: /upload 1000000"


async def test_who_says_nothing_gets_in_and_is_heard_later(house: House) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    await asyncio.sleep(porter.PATIENCE_SECONDS + 2 * porter.TICK_SECONDS)
    writer.write(HEAD + b"Connection: close\r\n\r\n")

    assert b"in: /health" in await reader.read()
    writer.close()


async def test_a_hundred_get_in_at_once(house: House) -> None:
    answers = await asyncio.gather(*(house.get(f"/{number}") for number in range(100)))

    assert [answer.text for answer in answers] == [f"in: /{number} 0" for number in range(100)]


async def test_a_long_answer_is_complete_and_holds_up_nobody(house: House) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port, limit=1024)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    first = await reader.readexactly(15)

    assert (await house.get("/health")).status_code == 200
    assert first == b"HTTP/1.1 200 OK"
    assert (await reader.read()).endswith(b"x" * 1000)
    assert len((await house.get("/large")).content) == len(LARGE)
    writer.close()


async def test_silence_is_told_and_so_is_its_end(house: House) -> None:
    house.fails = True
    aged = porter.SILENT_SECONDS + 1

    async def status() -> int:
        return (await house.get("/health")).status_code

    async def is_down() -> bool:
        return await status() == 503

    async def is_well() -> bool:
        return await status() == 200

    await eventually(is_down, aged + 5)
    down = await house.get("/health")
    house.fails = False
    await eventually(is_well)

    assert (down.json(), int(down.headers["age"]) >= 5) == ({"status": "down"}, True)


async def test_a_porter_that_dies_is_replaced_and_nobody_is_turned_away(house: House) -> None:
    [first] = house.porters
    os.kill(first, signal.SIGKILL)
    other = await house.get("/other")
    await eventually(house.is_told)

    assert other.text == "in: /other 0"
    assert house.porters != [first]


async def test_a_porter_heeds_no_signal_but_the_end_of_its_process(house: House) -> None:
    [first] = house.porters
    os.kill(first, signal.SIGINT)
    os.kill(first, signal.SIGTERM)

    assert (await house.get("/health")).status_code == 200
    assert house.porters == [first]


async def test_the_port_is_free_when_the_server_has_stopped(empty: House) -> None:
    server = Server(empty, ApiSettings(port=0, drain_seconds=1), signs=empty.signs)
    empty.port = int(server.address.rpartition(":")[2])
    serving = asyncio.create_task(server.run())
    assert (await empty.get("/other")).status_code == 200
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    server.close()

    socket.create_server(("127.0.0.1", empty.port)).close()


async def test_what_is_taken_over_is_not_left_to_browsers_that_are_started() -> None:
    ours, theirs = socket.socketpair()
    taken: list[socket.socket] = []
    with ours, theirs, socket.socket() as connection:
        ours.setblocking(False)
        socket.send_fds(theirs, [b"c"], [connection.fileno()])
        door._receive(ours, taken.append, lambda: None)

    [found] = taken
    with found:
        assert not found.get_inheritable()
