"""What a client asks of the site, and what the site can answer."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import responses as reasons
from urllib.parse import parse_qsl

from multidict import CIMultiDict

from tests.site.live_ground import Ground
from tests.site.settings import SiteSettings

Headers = Mapping[str, str] | Sequence[tuple[str, str]]

HTML = "text/html; charset=utf-8"


class MalformedRequestError(Exception):
    """The client sent something that the site does not understand."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One request as it reached the site."""

    host: str
    method: str
    path: str
    headers: CIMultiDict[str]
    body: bytes
    started: float
    connection: int
    nth: int
    """Requests this host has had for anything but robots.txt, this one included."""
    canary_port: int = field(repr=False)
    settings: SiteSettings = field(repr=False)
    ground: Ground = field(repr=False)

    @property
    def route(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    @property
    def last_segment(self) -> str:
        return self.route.rpartition("/")[2]

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.path.partition("?")[2]))

    def number(self, name: str, default: float) -> float:
        """A number from the query, so that one URL can ask for another delay or size."""
        return as_number(self.query.get(name, str(default)))

    def knows(self, etag: str) -> bool:
        """Whether the client says that it has this version already."""
        known = self.headers.get("If-None-Match", "").split(",")
        return not {tag.strip().removeprefix("W/") for tag in known}.isdisjoint({etag, "*"})

    @property
    def last_number(self) -> int:
        """The number that the path ends in."""
        return int(as_number(self.last_segment))


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed answer; its length and, where none is given, its type are added."""

    status: int = 200
    body: str | bytes = b""
    headers: Headers = ()
    delay: float = 0.0

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body

    def encode(self, method: str) -> bytes:
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        headers = CIMultiDict(pairs)
        bodiless = self.status in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}
        if not bodiless:
            headers.setdefault("Content-Type", HTML)
            headers.setdefault("Content-Length", str(len(self.content)))
        head = encode_head(self.status, headers)
        return head if bodiless or method == "HEAD" else head + self.content


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes written as they are; the connection is closed after them."""

    chunks: Callable[[], AsyncGenerator[bytes, None]]

    @classmethod
    def of(cls, *pieces: bytes) -> "Raw":
        async def chunks() -> AsyncGenerator[bytes, None]:
            for piece in pieces:
                yield piece

        return cls(chunks)


@dataclass(frozen=True, slots=True)
class Reset:
    """No answer: the connection is cut by a TCP reset."""


Answer = Reply | Raw | Reset
Handler = Callable[[Hit], Answer]
Plan = Answer | Handler


def as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise MalformedRequestError(f"not a number: {text}") from error


def carry_out(plan: Plan, hit: Hit) -> Answer:
    return plan(hit) if callable(plan) else plan


def encode_head(status: int, headers: Headers) -> bytes:
    """Status line and headers, to the blank line; latin-1, so any byte can be sent."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    reason = reasons.get(status, "Unknown")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in pairs)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
