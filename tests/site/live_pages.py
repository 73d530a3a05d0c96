"""live.test and its like: matches as pages, as data and over a WebSocket.

/match/NUMBER            a page whose script asks for the data every second
/match/NUMBER/plain      the same without a script
/match/NUMBER/socket     a page that is told of changes over a WebSocket
/match/NUMBER/data.json  the data

A query may say how long the match takes (`minutes`), how fast its time passes (`speed`), and on
a host that gets into trouble how many seconds `after` the start; see `live_ground`.
"""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, replace

from tests.site.answers import Answer, Handler, Hit, Plan, Raw, Reply, encode_head
from tests.site.live_ground import Trouble
from tests.site.live_markup import (
    LISTEN,
    POLL,
    REDESIGNED,
    REFRESH,
    UNKNOWN,
    USUAL,
    plain_match,
    scripted_match,
)
from tests.site.live_match import DEFAULT_MINUTES, Match, match_at
from tests.site.pages import by_path, html, not_found

LIVE_HOSTS = tuple(f"live{number:02}.test" for number in range(1, 21))
NEVER_KEPT = {"Cache-Control": "no-store"}
JSON = {"Content-Type": "application/json", **NEVER_KEPT}
AFTER_SECONDS, SLOW_SECONDS, LEAK_MB = 20.0, 3.0, 20.0
#: Of RFC 6455: what a server answers a client's key with, and the limits of a short frame.
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT_FRAME, SHORT, TWO_BYTES = 0x81, 126, 126


@dataclass(frozen=True, slots=True)
class Scene:
    """A match at the moment of a request, and what is wrong with its pages."""

    match: Match
    trouble: Trouble | None

    @property
    def markup(self) -> str:
        match self.trouble:
            case "redesign":
                return REDESIGNED
            case "lost":
                return UNKNOWN
            case _:
                return USUAL

    @property
    def head(self) -> str:
        return REFRESH if self.trouble == "refresh" else ""

    def data(self, leak_mb: float) -> str:
        """The match as its data call answers it, with what the script of its page is to do."""
        told = self.match.as_json()
        if self.trouble == "lost":
            told["points"] = told.pop("score")
        return json.dumps({**told, "markup": self.markup, "order": self.trouble, "mb": leak_mb})


def scene_of(hit: Hit, number: int) -> Scene:
    ground = hit.ground
    start = ground.start_of(hit.host, number)
    strike = ground.strike_on(hit.host, start, hit.number("after", AFTER_SECONDS))
    until = min(strike.since, ground.now) if strike.trouble == "freeze" else ground.now
    seconds = (until - start).total_seconds() * hit.number("speed", 1)
    return Scene(match_at(number, seconds, hit.number("minutes", DEFAULT_MINUTES)), strike.trouble)


def _page(hit: Hit, scene: Scene) -> Answer:
    title = " v ".join(scene.match.teams)
    return Reply(200, scripted_match(title, POLL, scene.head), NEVER_KEPT)


def _socket_page(hit: Hit, scene: Scene) -> Answer:
    title = " v ".join(scene.match.teams)
    return Reply(200, scripted_match(title, LISTEN, scene.head), NEVER_KEPT)


def _plain(hit: Hit, scene: Scene) -> Answer:
    return Reply(200, plain_match(scene.match, scene.markup, scene.head), NEVER_KEPT)


def _data(hit: Hit, scene: Scene) -> Answer:
    return Reply(200, scene.data(hit.number("mb", LEAK_MB)), JSON)


def _stream(hit: Hit, scene: Scene) -> Answer:
    key = hit.headers.get("Sec-WebSocket-Key")
    if key is None:
        return Reply(426, headers={"Upgrade": "websocket", "Connection": "Upgrade"})
    accept = base64.b64encode(hashlib.sha1(f"{key}{WEBSOCKET}".encode()).digest()).decode()
    head = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept}

    async def chunks() -> AsyncGenerator[bytes, None]:
        yield encode_head(101, head)
        told = ""
        while not hit.ground.is_cut(hit.host):
            news = scene_of(hit, scene.match.number).data(hit.number("mb", LEAK_MB))
            if news != told:
                yield text_frame(news)
                told = news
            await asyncio.sleep(hit.number("every", 1))

    return Raw(chunks)


def text_frame(text: str) -> bytes:
    """A text as a server sends it over a WebSocket."""
    content = text.encode()
    if len(content) < SHORT:
        return bytes([TEXT_FRAME, len(content)]) + content
    return bytes([TEXT_FRAME, TWO_BYTES]) + len(content).to_bytes(2, "big") + content


VIEWS: Mapping[str, Callable[[Hit, Scene], Answer]] = {
    "": _page,
    "plain": _plain,
    "socket": _socket_page,
    "stream": _stream,
    "data.json": _data,
}


def show_match(hit: Hit) -> Answer:
    """What there is at /match/NUMBER and below."""
    number, _, name = hit.route.removeprefix("/match/").partition("/")
    view = VIEWS.get(name)
    if view is None or not (number.isascii() and number.isdecimal()):
        return not_found(hit)
    scene = scene_of(hit, int(number))
    match scene.trouble:
        case "vanish":
            return Reply(int(hit.number("status", 410)), html("Gone", ""))
        case "outage":
            return Reply(503, html("Service unavailable", ""))
        case "slow":
            return _late(view(hit, scene), hit.number("seconds", SLOW_SECONDS))
        case _:
            return view(hit, scene)


def _late(answer: Answer, seconds: float) -> Answer:
    return replace(answer, delay=seconds) if isinstance(answer, Reply) else answer


def match_pages(others: Mapping[str, Plan]) -> Handler:
    """The pages of a live host: any match, and others by path."""
    rest = by_path({"/match/1": show_match, **others})
    return lambda hit: show_match(hit) if hit.route.startswith("/match/") else rest(hit)
