"""A feed: what its page says now, what was news, what went wrong, and how its scraper does."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import quote

from fastapi import Response

from penstock.console.charts import Point, line_chart
from penstock.console.filters import at, look, pretty
from penstock.console.live_data import MOST_FIELDS, changes, leaves
from penstock.console.pages import DIGITS, ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.errors import NotFound
from penstock.web.files import foreign_page
from penstock.workloads.live.service import ID_PATTERN, LiveService
from penstock.workloads.live.tables import Row

UPDATES, ERRORS = 20, 10
#: Of the log of health, so much is drawn.
SHOWN_MS, MOST_POINTS = 3 * 3_600_000, 180
Act = Callable[[str], Awaitable[Row]]


def add(console: Console, services: Services) -> None:
    """Show a feed and steer it."""
    service = services.live
    _add_page(console, service)
    _add_switch(console, "stop", service.stop, "is watched no longer")
    _add_switch(console, "restart", service.restart, "is watched by a new scraper")

    @console.action("/live/feeds/{id}/remove")
    async def remove(form: Form) -> Done:
        match_id = feed_id(form.path["id"])
        await service.remove(match_id)
        said = f"Feed {match_id} and all that was seen of it are forgotten"
        return Done(place_of(""), said, "live remove", match_id)


def feed_id(text: str) -> str:
    """The id of a feed; there is none with any other."""
    if not re.fullmatch(ID_PATTERN, text):
        raise NotFound("There is no such feed")
    return text


def place_of(match_id: str) -> str:
    """Where a feed is shown; without one, where all are."""
    return f"{ROOT}/live/feeds/{quote(match_id, safe='')}" if match_id else f"{ROOT}/live"


def _add_switch(console: Console, action: str, act: Act, says: str) -> None:
    @console.action(f"/live/feeds/{{id}}/{action}")
    async def switch(form: Form) -> Done:
        match_id = feed_id(form.path["id"])
        await act(match_id)
        return Done(place_of(match_id), f"Feed {match_id} {says}", f"live {action}", match_id)


def _add_page(console: Console, service: LiveService) -> None:
    @console.page("/live/feeds/{id}")
    async def show(ask: Ask) -> View:
        row = await service.get(feed_id(ask.path["id"]))
        return View("live_feed.html", await _values(service, row, _before(ask)))

    @console.page("/live/feeds/{id}/data")
    async def data(ask: Ask) -> Response:
        reading = await service.read(feed_id(ask.path["id"]))
        return foreign_page(pretty(reading.payload).encode(), f"{reading.feed['match_id']}.json")


def _before(ask: Ask) -> int | None:
    """Behind which update the list goes on."""
    text = ask.get("after")
    return int(text) if text.isdecimal() and len(text) <= DIGITS else None


async def _values(service: LiveService, row: Row, before: int | None) -> dict[str, Any]:
    match_id = row["match_id"]
    scraper = service.scraper_of(match_id)
    updates = await service.history(match_id, before, UPDATES + 1)
    found = leaves(row["payload"], MOST_FIELDS) if row["payload"] is not None else {}
    since = int(service.clock.now().timestamp() * 1000) - SHOWN_MS
    log = await service.health_log(match_id, since, MOST_POINTS)
    return {
        "title": f"Feed {match_id}",
        "feed": row,
        "fresh": service.freshness(row),
        "scraper": scraper,
        "breaker": scraper["circuit_breaker"] if scraper else None,
        "fields": found,
        "is_cut": len(found) == MOST_FIELDS,
        "updates": _news(updates),
        "next": updates[UPDATES - 1]["sequence"] if len(updates) > UPDATES else None,
        "problems": await service.errors(match_id=match_id, limit=ERRORS),
        "chart": _chart(log),
    }


def _news(updates: Sequence[Row]) -> list[Row]:
    """Updates, latest first, each with what it changed; the oldest is only compared with."""
    found = []
    for place, row in enumerate(updates[:UPDATES]):
        former = updates[place + 1]["payload"] if place + 1 < len(updates) else {}
        changed, more = changes(former, row["payload"])
        found.append({**row, "changes": changed, "more": more})
    return found


def _chart(log: Sequence[Row]) -> str | None:
    """How old the last good look was, over time, marked by how the scraper did."""
    points = [
        Point(
            row["timestamp"],
            row["last_update_age_seconds"],
            look(row["health_status"]),
            f"{row['health_status']}, {row['last_update_age_seconds']} s: {at(row['timestamp'])}",
        )
        for row in reversed(log)
        if row["last_update_age_seconds"] is not None
    ]
    if not points:
        return None
    ends = at(int(points[0].x)), at(int(points[-1].x))
    return line_chart(points, "Seconds since the last good look", ends)
