"""How values are written for people."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import orjson
from markupsafe import Markup, escape

from penstock.core.money import to_decimal

NONE = "-"
MARK = Markup("<mark>{}</mark>")
KILO = 1024
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEPS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
#: Statuses by how they look: good, in between, bad. All others are plain.
GOOD = frozenset(
    [
        "ok",
        "active",
        "healthy",
        "completed",
        "closed",
        "watching",
        "accept",
        "accepted",
        "ready",
        "delivered",
        "enabled",
        "in_stock",
        "in_play",
        "succeeded",
        "success",
        "allowed",
        "eligible",
    ]
)
SLOW = frozenset(
    [
        "waiting",
        "pending",
        "queued",
        "running",
        "degraded",
        "half_open",
        "stale",
        "paused",
        "deferred",
        "quarantine",
        "quarantined",
        "parked",
        "crawling",
        "parsing",
        "downloaded",
        "break",
        "processing",
        "slowed",
        "starting",
    ]
)
BAD = frozenset(
    [
        "failed",
        "failing",
        "down",
        "open",
        "broken",
        "error",
        "dead",
        "disabled",
        "refused",
        "drop",
        "dropped",
        "blocked",
        "cancelled",
        "rejected",
        "problem",
        "lost",
    ]
)


def at(ms: int | None) -> str:
    """A time, in UTC."""
    return f"{EPOCH + timedelta(milliseconds=ms):%Y-%m-%d %H:%M:%S}" if ms else "never"


def ago(ms: int | None, now: int) -> str:
    """How long ago, or how soon."""
    if not ms:
        return "never"
    words = duration(abs(now - ms) / 1000)
    return f"{words} ago" if ms <= now else f"in {words}"


def duration(seconds: float | None) -> str:
    """A length of time in its two largest parts at most."""
    if seconds is None:
        return NONE
    left = int(seconds)
    parts: list[str] = []
    for size, name in STEPS:
        number, left = divmod(left, size)
        if number or parts:
            parts.append(f"{number} {name}")
    return " ".join(parts[:2]) or "0 s"


def money(minor: int | None, currency: str | None) -> str:
    """An amount of a currency."""
    if minor is None or not currency:
        return NONE
    return f"{to_decimal(minor, currency)} {currency}"


def number(value: float | None) -> str:
    """A number with its thousands apart."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def at_least(value: int, most: int) -> str:
    """A number that was counted up to a bound, and no further."""
    return f"{number(most)}+" if value > most else number(value)


def size(value: int | None) -> str:
    """Bytes."""
    if value is None:
        return NONE
    left = float(value)
    for unit in ("B", "KB", "MB", "GB"):
        if left < KILO or unit == "GB":
            return f"{left:,.0f} {unit}" if unit == "B" else f"{left:,.1f} {unit}"
        left /= KILO
    return ""


def percent(share: float | None) -> str:
    """A share of one."""
    return NONE if share is None else f"{share * 100:.1f} %"


def look(status: Any) -> str:
    """The class of the style sheet for a status."""
    word = str(status or "").lower()
    for looks, words in (("good", GOOD), ("slow", SLOW), ("bad", BAD)):
        if word in words:
            return looks
    return "plain"


def words(status: Any) -> str:
    """A status without what only programs need."""
    return str(status if status is not None else NONE).replace("_", " ").lower()


def marked(html: str) -> Markup:
    """What a search found, its words marked; all else that the HTML says stays text."""
    before, *found = html.split("<em>")
    pieces = [escape(unescape(before))]
    for each in found:
        word, _, after = each.partition("</em>")
        pieces += [MARK.format(unescape(word)), escape(unescape(after))]
    return Markup("").join(pieces)


def pretty(value: Any) -> str:
    """Plain data, indented."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()


FILTERS: Mapping[str, Callable[..., Any]] = {
    "at": at,
    "ago": ago,
    "duration": duration,
    "money": money,
    "number": number,
    "at_least": at_least,
    "size": size,
    "percent": percent,
    "look": look,
    "words": words,
    "marked": marked,
    "pretty": pretty,
}
