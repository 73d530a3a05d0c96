"""What goes wrong with crawled pages: by pattern, one by one, and what failed for good."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from penstock.console.asking import cursor, filled, one_of, word
from penstock.console.charts import sparkline
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.asking import one_page
from penstock.web.errors import Conflict, invalid
from penstock.workloads.catalog.bodies import Revival
from penstock.workloads.catalog.errors import HOUR_MS
from penstock.workloads.catalog.model import DAY_MS, Category
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.catalog.tasks import Filter

PART, MOST_PATTERNS = 50, 50
SPANS = {"1 hour": HOUR_MS, "1 day": DAY_MS, "7 days": 7 * DAY_MS, "30 days": 30 * DAY_MS}
USUAL = "1 day"
#: Patterns are looked for in so many of the latest errors, and rates in so many attempts.
MOST_ERRORS, MOST_ATTEMPTS = 5_000, 20_000
#: Hours of a sparkline.
SHOWN_HOURS = 48
ASKED = ("domain", "category", "error_type")


def add(console: Console, services: Services) -> None:
    """Show errors and dead letters."""
    _add_patterns(console, services.catalog)
    _add_dead(console, services.catalog)
    _add_revival(console, services.catalog)


def _add_patterns(console: Console, catalog: CatalogService) -> None:
    @console.page("/catalog/errors")
    async def show(ask: Ask) -> View:
        span = ask.get("since") if ask.get("since") in SPANS else USUAL
        domain, now = word(ask.get("domain")), await catalog.now()
        since = now - SPANS[span]
        patterns = await catalog.errors.patterns(since, domain, MOST_PATTERNS, MOST_ERRORS)
        rows = await catalog.errors.list(
            domain=domain, since=since, after=cursor(ask), limit=PART + 1
        )
        shown, meta = one_page(rows, PART)
        return View(
            "catalog_errors.html",
            {
                "title": "Errors of the crawler",
                "typed": {"since": span, "domain": domain or ""},
                "spans": list(SPANS),
                "most": MOST_ERRORS,
                "patterns": [row | {"spark": _spark(row, since, now)} for row in patterns],
                "errors": shown,
                "next": meta["next_cursor"],
                "rates": await catalog.parsers.rates(since, domain, MOST_ATTEMPTS),
                "most_attempts": MOST_ATTEMPTS,
            },
        )


def _spark(row: Mapping[str, Any], since: int, now: int) -> str:
    """Errors by the hour; hours without one are none, and not gaps."""
    first = max(since, now - SHOWN_HOURS * HOUR_MS) // HOUR_MS
    hours = [row["by_hour"].get(hour * HOUR_MS, 0) for hour in range(first, now // HOUR_MS + 1)]
    return sparkline(hours, f"{row['errors']} errors, {max(hours)} in the worst hour shown")


def _add_dead(console: Console, catalog: CatalogService) -> None:
    @console.page("/catalog/dead")
    async def show(ask: Ask) -> View:
        typed = {name: ask.get(name) for name in ASKED if ask.get(name)}
        wanted = Filter(
            domain=word(ask.get("domain")),
            category=one_of(Category, ask.get("category")),
            error_type=word(ask.get("error_type")),
            dead=True,
            after=cursor(ask),
            limit=PART + 1,
        )
        shown, meta = one_page(await catalog.tasks.list(wanted), PART)
        return View(
            "catalog_dead.html",
            {
                "title": "Dead letters of the crawler",
                "typed": typed,
                "is_filtered": bool(typed),
                "tasks": shown,
                "next": meta["next_cursor"],
                "categories": [each.value for each in Category],
            },
        )


def _add_revival(console: Console, catalog: CatalogService) -> None:
    @console.action("/catalog/dead/revive")
    async def revive(form: Form) -> Done:
        typed = {name: text for name in ASKED if (text := word(form.get(name)))}
        if form.get("scope") == "all":
            body = filled(Revival, {**typed, "all": True})
        elif form.all("ids"):
            body = filled(Revival, {"ids": form.all("ids")})
        else:
            raise invalid("dead letters", "tick some, or revive all that fit")
        number = await catalog.tasks.retry(body.as_filter())
        if not number:
            raise Conflict("There was no such dead letter any more")
        said = "1 dead letter is" if number == 1 else f"{number} dead letters are"
        subject = ", ".join(f"{name}={text}" for name, text in typed.items()) or "all"
        return Done(
            f"{ROOT}/catalog/dead?{urlencode(typed)}",
            f"{said} crawled again",
            "catalog revive",
            subject if body.all else f"{len(body.ids)} dead letters",
            {"revived": number},
        )
