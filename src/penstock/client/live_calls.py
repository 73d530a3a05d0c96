"""The calls of live pages: what is sent for each, and how its answer is read."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from penstock.client.calls import (
    Call,
    given,
    list_of,
    opened,
    page_of,
    part_of_path,
    plain,
    read_as,
    read_bytes,
)
from penstock.client.live_models import (
    ErrorType,
    Feed,
    FeedDetail,
    FeedError,
    FeedStatus,
    HealthEntry,
    LiveEnd,
    LiveEvent,
    LiveGap,
    LiveReader,
    LiveStanding,
    LiveUpdate,
    Reading,
)
from penstock.client.models import JobEvent, Page
from penstock.client.streams import LAST_EVENT_ID

PREFIX = "/api/v1/live"
KINDS: Mapping[str, type[LiveEvent]] = {
    "update": LiveUpdate,
    "status": LiveStanding,
    "gap": LiveGap,
    "end": LiveEnd,
}


def start(
    url: str,
    *,
    match_id: str | None = None,
    adapter: str | None = None,
    options: Mapping[str, Any] | None = None,
    priority: int | None = None,
    interval: float | None = None,
) -> Call[Feed]:
    """Watch a page; one that is known is changed. `Unavailable` while memory is short: it is kept
    then, and started later by itself.
    """
    body = given(
        url=url,
        match_id=match_id,
        adapter=adapter,
        options=None if options is None else dict(options),
        priority=priority,
        interval=interval,
    )
    return Call("POST", f"{PREFIX}/feeds", read_as(Feed), body)


def feeds(
    cursor: str | None, *, status: FeedStatus | None = None, at_once: int | None = None
) -> Call[Page[Feed]]:
    """Feeds by id."""
    query = given(status=status, cursor=cursor, limit=at_once)
    return Call("GET", f"{PREFIX}/feeds", page_of(Feed.model_validate), query=query)


def feed(match_id: str) -> Call[FeedDetail]:
    """A feed, and how its scraper does."""
    return Call("GET", _feed(match_id), read_as(FeedDetail))


def switch(name: str, summary: str) -> Callable[[str], Call[Feed]]:
    """A call that puts a feed in a state; again and again is as once."""

    def put(match_id: str) -> Call[Feed]:
        return Call("POST", f"{_feed(match_id)}/{name}", read_as(Feed))

    put.__name__, put.__doc__ = name, summary
    return put


stop = switch("stop", "Watch a feed no longer; what is known of it stays.")
restart = switch("restart", "Let a new scraper watch a feed, whatever became of the last.")


def remove(match_id: str) -> Call[Feed]:
    """Forget a feed and all that was seen of it; what it was."""
    return Call("DELETE", _feed(match_id), read_as(Feed), repeats=False)


def read(match_id: str) -> Call[Reading]:
    """What a page says now, and how fresh that is; `NotFound` if nothing was seen of it yet."""
    return Call("GET", _consumed(match_id), _read_state)


def updates(
    cursor: str | None, match_id: str, *, after: int = 0, at_once: int | None = None
) -> Call[Page[LiveUpdate]]:
    """What was new on a page behind a number, oldest first, so far."""
    query = given(after=after if cursor is None else int(cursor), limit=at_once)
    return Call("GET", f"{_consumed(match_id)}/updates", _read_updates, query=query)


def events(match_id: str, *, after: int | None = None) -> Call[bytes]:
    """What happens on a page as it happens, behind a number or from the last update on.

    A stream that breaks is taken up where it broke, a few times in a row at most.
    """
    headers = {} if after is None else {LAST_EVENT_ID: str(after)}
    return Call("GET", f"{_consumed(match_id)}/events", read_bytes, headers=headers)


def read_event(event: JobEvent) -> LiveEvent | None:
    """What an event of a feed says; None for one that this client does not know."""
    kind = KINDS.get(event.name)
    return None if kind is None else kind.model_validate(event.data)


def errors(
    cursor: str | None,
    match_id: str | None = None,
    *,
    error_type: ErrorType | None = None,
    resolved: bool | None = None,
    at_once: int | None = None,
) -> Call[Page[FeedError]]:
    """What went wrong, of one feed or all, latest first."""
    path = f"{PREFIX}/errors" if match_id is None else f"{_feed(match_id)}/errors"
    query = given(type=error_type, resolved=resolved, cursor=cursor, limit=at_once)
    return Call("GET", path, page_of(FeedError.model_validate), query=query)


def resolve_error(error_id: str) -> Call[FeedError]:
    """Say that an error is dealt with."""
    return Call("POST", f"{PREFIX}/errors/{part_of_path(error_id)}/resolve", read_as(FeedError))


def snapshot(error_id: str) -> Call[bytes]:
    """The page that could not be read."""
    return Call("GET", f"{PREFIX}/errors/{part_of_path(error_id)}/snapshot", read_bytes)


def screenshot(error_id: str) -> Call[bytes]:
    """A picture of the page that could not be read."""
    return Call("GET", f"{PREFIX}/errors/{part_of_path(error_id)}/screenshot", read_bytes)


def health_log(
    match_id: str, *, since: datetime | None = None, limit: int | None = None
) -> Call[list[HealthEntry]]:
    """How the scrapers of a feed were, latest first."""
    query = given(since=since.isoformat() if since else None, limit=limit)
    path = f"{_feed(match_id)}/health-log"
    return Call("GET", path, list_of(HealthEntry.model_validate), query=query)


def health() -> Call[dict[str, Any]]:
    """How all live pages do."""
    return Call("GET", f"{PREFIX}/health", plain)


def adapters() -> Call[list[LiveReader]]:
    """Who reads live pages."""
    return Call("GET", f"{PREFIX}/adapters", list_of(LiveReader.model_validate))


def _feed(match_id: str) -> str:
    return f"{PREFIX}/feeds/{part_of_path(match_id)}"


def _consumed(match_id: str) -> str:
    return f"{PREFIX}/{part_of_path(match_id)}"


def _read_state(content: bytes) -> Reading:
    payload = dict(plain(content))
    return Reading.model_validate({**payload.pop("_metadata"), "payload": payload})


def _read_updates(content: bytes) -> Page[LiveUpdate]:
    data, meta = opened(content)
    items = tuple(LiveUpdate.model_validate(each) for each in data)
    is_more = bool(items) and meta["next_after"] < meta["last_sequence"]
    return Page[LiveUpdate](items=items, next_cursor=str(meta["next_after"]) if is_more else None)
