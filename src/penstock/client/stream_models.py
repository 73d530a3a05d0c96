"""What the page fetcher tells a client: events, places, and how its queue stands."""

from datetime import datetime
from typing import Literal

from penstock.client.models import Model


class WebpageEvent(Model):
    """A page that was fetched; its body is in the cache under `cache_key`, for a while."""

    type: Literal["webpage_fetched"] = "webpage_fetched"
    url: str
    cache_key: str
    status_code: int
    content_type: str | None
    content_length: int
    content_hash: str
    fetched_at: datetime


class NumberedEvent(Model):
    """An event of a service, and its place in the log."""

    seq: int
    key: str
    event: WebpageEvent


class EventPart(Model):
    """Some events, oldest first, and behind which place the next ones are."""

    events: tuple[NumberedEvent, ...]
    next_after: int


class Consumer(Model):
    """Who reads, and the place of the last event it is done with; 0 if it never said so."""

    name: str
    seq: int
    updated_at: datetime | None


class Rejected(Model):
    """A URL that was not taken; `index` is where it stood among those pushed."""

    index: int
    url: str
    reason: str
    detail: str


class Pushed(Model):
    """What became of URLs that were pushed; what `queue_full` rejected may be pushed again."""

    accepted: int
    rejected: tuple[Rejected, ...]


class Standing(Model):
    """How many URLs could be begun now, wait for their time, are under way, and failed for good."""

    waiting: int
    parked: int
    under_way: int
    dead: int


class DeadLetter(Model):
    """A URL that failed for good, and why."""

    url: str
    type: Literal["site_wide", "url_specific"]
    kind: str
    reason: str
    detail: str
    status_code: int | None
    domain: str
    at: datetime | None
