"""The calls of the page fetcher: what is sent for each, and how its answer is read."""

from collections.abc import Sequence
from typing import Any, TypeVar

from penstock.client.calls import (
    Call,
    Read,
    given,
    opened,
    page_of,
    part_of_path,
    plain,
    read_as,
    read_bytes,
)
from penstock.client.groups import Group, Many, One, W
from penstock.client.models import Page
from penstock.client.stream_models import (
    Consumer,
    DeadLetter,
    EventPart,
    NumberedEvent,
    Pushed,
    Standing,
)

T = TypeVar("T")
PREFIX = "/api/v1/stream"


def push(urls: Sequence[str]) -> Call[Pushed]:
    """Have URLs fetched; one that is pushed again is fetched again."""
    return Call("POST", f"{PREFIX}/urls", read_as(Pushed), {"urls": list(urls)})


def depth() -> Call[Standing]:
    """How the queue stands."""
    return Call("GET", f"{PREFIX}/depth", read_as(Standing))


def events(after: int = 0, *, limit: int | None = None, wait: float = 0.0) -> Call[EventPart]:
    """What is behind a place; if there is nothing yet, it is waited for up to 30 seconds."""
    query = given(after=after, limit=limit, wait=wait or None)
    return Call("GET", f"{PREFIX}/events", _read_events, query=query, patience=wait)


def body(key: str) -> Call[bytes]:
    """The body of a page, by the key of its event; `NotFound` if it is kept no more."""
    return Call("GET", f"{PREFIX}/pages/{part_of_path(key)}", read_bytes)


def consumer(name: str) -> Call[Consumer]:
    """How far somebody has come."""
    return Call("GET", _consumer(name), read_as(Consumer))


def commit(name: str, seq: int) -> Call[Consumer]:
    """Say how far somebody has come."""
    return Call("PUT", _consumer(name), read_as(Consumer), {"seq": seq})


def dead_letters(
    cursor: str | None,
    *,
    domain: str | None = None,
    reason: str | None = None,
    at_once: int | None = None,
) -> Call[Page[DeadLetter]]:
    """URLs that failed for good, oldest first."""
    query = given(domain=domain, reason=reason, cursor=cursor, limit=at_once)
    return Call("GET", f"{PREFIX}/dlq", page_of(DeadLetter.model_validate), query=query)


def revive(
    urls: Sequence[str] | None = None, *, domain: str | None = None, reason: str | None = None
) -> Call[int]:
    """Let dead letters wait again: those that fit all that is given, or all; how many."""
    chosen = given(urls=None if urls is None else list(urls), domain=domain, reason=reason)
    return Call("POST", f"{PREFIX}/dlq/revive", _number("revived"), chosen, repeats=False)


def discard(
    url: str | None = None, *, domain: str | None = None, reason: str | None = None
) -> Call[int]:
    """Forget dead letters for good: those that fit all that is given, or all; how many."""
    query: dict[str, Any] = given(url=url, domain=domain, reason=reason) or {"all": True}
    return Call("DELETE", f"{PREFIX}/dlq", _number("discarded"), query=query, repeats=False)


class Stream(Group[W]):
    """The page fetcher on the store: `client.stream.push(urls)`."""

    push = One(push)
    depth = One(depth)
    events = One(events)
    body = One(body)
    consumer = One(consumer)
    commit = One(commit)
    dead_letters = Many(dead_letters)
    revive = One(revive)
    discard = One(discard)


def _consumer(name: str) -> str:
    return f"{PREFIX}/consumers/{part_of_path(name)}"


def _read_events(content: bytes) -> EventPart:
    data, meta = opened(content)
    found = tuple(NumberedEvent.model_validate(each) for each in data)
    return EventPart(events=found, next_after=meta["next_after"])


def _number(name: str) -> Read[int]:
    return lambda content: int(plain(content)[name])
