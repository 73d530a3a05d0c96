"""Live pages: the feeds that are watched, how fresh each of them is, and starting new ones."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from penstock.console import live_errors, live_feed
from penstock.console.asking import filled, number, one_of, problems_of, word
from penstock.console.charts import NOTHING, sparkline
from penstock.console.live_feed import feed_id, place_of
from penstock.console.pages import Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.core.clock import Clock
from penstock.web.asking import one_page
from penstock.web.errors import InvalidRequest, Unavailable, invalid
from penstock.workloads.live.bodies import NewFeed
from penstock.workloads.live.model import DEFAULT_PRIORITY, FeedStatus
from penstock.workloads.live.service import LiveService
from penstock.workloads.live.tables import Row

PART = 50
HOUR_MS = 3_600_000
#: Seconds for which the log of health need not be read again: it grows once a minute.
AGES_GOOD_FOR = 15.0
FIELDS = ("url", "match_id", "adapter", "options", "priority", "interval")


def add(console: Console, services: Services) -> None:
    """Show feeds and start them."""
    _add_list(console, services)
    _add_start(console, services.live)
    live_feed.add(console, services)
    live_errors.add(console, services)


class Ages:
    """How fresh feeds were in the last hour; remembered for a moment for whoever looks on."""

    def __init__(self, service: LiveService, clock: Clock) -> None:
        self._service = service
        self._clock = clock
        self._known: tuple[float, tuple[str, ...], dict[str, list[int | None]]] = (0.0, (), {})

    async def of(self, match_ids: Sequence[str]) -> dict[str, list[int | None]]:
        """Seconds since the last good look, from an hour ago until now."""
        wanted, now = tuple(match_ids), self._clock.monotonic()
        good_until, ids, found = self._known
        if wanted == ids and now < good_until:
            return found
        since = int(self._clock.now().timestamp() * 1000) - HOUR_MS
        found = await self._service.ages(wanted, since)
        self._known = (now + AGES_GOOD_FOR, wanted, found)
        return found


def _add_list(console: Console, services: Services) -> None:
    service, ages = services.live, Ages(services.live, services.clock)

    @console.page("/live")
    async def show(ask: Ask) -> View:
        status, after = one_of(FeedStatus, ask.get("status")), word(ask.get("after"))
        rows = await service.list_feeds(status, after=after, limit=PART + 1)
        shown, meta = one_page(rows, PART, "match_id")
        known = await ages.of([row["match_id"] for row in shown])
        return View(
            "live_feeds.html",
            {
                "title": "Live",
                "health": await services.live_health(),
                "feeds": [_shown(dict(row), service, known) for row in shown],
                "next": meta["next_cursor"],
                "typed": {"status": ask.get("status")},
                "is_filtered": status is not None,
                "statuses": [each.value for each in FeedStatus],
            },
        )


def _shown(row: Row, service: LiveService, ages: Mapping[str, list[int | None]]) -> Row:
    """A feed, how fresh it is, and how fresh it was."""
    fresh = service.freshness(row)
    found = ages.get(row["match_id"], [])
    return {**row, "fresh": fresh, "spark": _spark(found, fresh.age_seconds)}


def _spark(ages: Sequence[int | None], age: int | None) -> str:
    known = [each for each in (*ages, age) if each is not None]
    label = f"Seconds since the last look, over an hour: at most {max(known, default=0)}"
    return sparkline([*ages, age], label) if ages else NOTHING


def _add_start(console: Console, service: LiveService) -> None:
    @console.page("/live/start")
    async def ask_for(ask: Ask) -> View:
        if not ask.get("feed"):
            return _form(service, {"priority": str(DEFAULT_PRIORITY)}, {})
        return _form(service, _typed(await service.get(feed_id(ask.get("feed")))), {})

    @console.action("/live/start")
    async def start(form: Form) -> Done | View:
        typed = {name: form.get(name) for name in FIELDS}
        try:
            draft = filled(NewFeed, _body(typed)).as_feed()
            row = await service.start(draft)
        except InvalidRequest as error:
            return _form(service, typed, problems_of(error))
        except Unavailable as error:
            # It is kept, and begins by itself.
            said = str(error)
            return Done(place_of(""), said, "live start", draft.match_id or draft.url)
        match_id: str = row["match_id"]
        said = f"Feed {match_id} is watched from now on"
        return Done(place_of(match_id), said, "live start", match_id, {"url": draft.url})


def _form(service: LiveService, typed: Mapping[str, str], errors: Mapping[str, str]) -> View:
    values = {
        "title": "Watch a page",
        "typed": typed,
        "errors": errors,
        "adapters": service.registry.all,
    }
    return View("live_feed_form.html", values, 422 if errors else 200)


def _typed(row: Row) -> dict[str, str]:
    """A feed as it would be typed."""
    interval = row["interval_ms"]
    return {
        "url": row["source_url"],
        "match_id": row["match_id"],
        "adapter": row["adapter"],
        "options": orjson.dumps(row["options"], option=orjson.OPT_INDENT_2).decode(),
        "priority": str(row["priority"]),
        "interval": "" if interval is None else f"{interval / 1000:g}",
    }


def _body(typed: Mapping[str, str]) -> dict[str, Any]:
    return {
        "url": typed["url"],
        "match_id": word(typed["match_id"]),
        "adapter": word(typed["adapter"]),
        "options": _options(typed["options"]),
        "priority": number(typed["priority"]),
        "interval": number(typed["interval"]),
    }


def _options(text: str) -> Any:
    if not text:
        return {}
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise invalid("options", f"is no JSON: {error}") from error
