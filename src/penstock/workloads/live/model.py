"""The nouns of live pages: feeds, what was seen of them, and how their scrapers do."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

WORKLOAD = "live"
#: The way of an update, first to last.
HIGHEST, LOWEST, DEFAULT_PRIORITY = 1, 10, 5


class FeedStatus(StrEnum):
    """Where a feed stands in its life."""

    WAITING = "waiting"
    WATCHING = "watching"
    COMPLETED = "completed"
    STOPPED = "stopped"
    REFUSED = "refused"
    FAILED = "failed"


class ScraperStatus(StrEnum):
    """What consumers are told of the scraper behind a feed."""

    UNKNOWN = "unknown"
    ACTIVE = "active"
    STALE = "stale"
    STOPPED = "stopped"
    ERROR = "error"


class ErrorType(StrEnum):
    """What went wrong."""

    NETWORK = "network"
    PARSING = "parsing"
    BROWSER = "browser"
    DATABASE = "database"
    AUTH = "auth"


class Resolution(StrEnum):
    """What made an error go away."""

    AUTO_RETRY = "auto_retry"
    CIRCUIT_BREAKER = "circuit_breaker"
    MANUAL = "manual"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Feed:
    """A page to watch: where it is, who reads it, and how often it is looked at.

    `interval` is the baseline in seconds, None for that of the settings. `options` are for the
    adapter.
    """

    match_id: str
    url: str
    adapter: str
    options: Mapping[str, Any] = field(default_factory=dict)
    priority: int = DEFAULT_PRIORITY
    interval: float | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """Where a feed stood when its last update was stored: a new scraper goes on from there."""

    sequence: int = 0
    hash: str = ""
    payload: Mapping[str, Any] | None = None
    state: str | None = None
    #: What the rules of the last scraper remember; see `Scraper`.
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Update:
    """What a page said, where that was news; `scraped_at` is in milliseconds since 1970."""

    match_id: str
    source_url: str
    sequence: int
    state: str
    payload: Mapping[str, Any]
    hash: str
    scraped_at: int
    scraper_id: str
    latency_ms: int
    critical: bool = False
    final: bool = False
    data_source: str = "scraper"

    def as_json(self) -> bytes:
        """The update as it stands in the journal."""
        return orjson.dumps(self)

    @classmethod
    def from_json(cls, text: bytes) -> "Update":
        """An update out of the journal."""
        return cls(**orjson.loads(text))


def hash_of(payload: Mapping[str, Any], state: str) -> str:
    """The same for the same content, whatever the order of its fields."""
    text = orjson.dumps([state, payload], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()
