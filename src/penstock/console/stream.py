"""The page fetcher: how its queue stands, its outages, its dead letters, and new URLs."""

import re
from typing import Any

from penstock.console.charts import Point, line_chart
from penstock.console.filters import duration
from penstock.console.kept import Kept
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.recent import LANE, LOOK_EVERY, LOOKS_PER_POINT, Recent
from penstock.console.services import Services
from penstock.queue.glance import Crowds, largest_crowds
from penstock.web.errors import QueueFull, invalid
from penstock.workloads.stream.desk import Pushed, Standing
from penstock.workloads.stream.metrics import RULES
from penstock.workloads.stream.model import NAME
from penstock.workloads.stream.views import MOST_URLS

PART = 50
SHOWN = 10
#: Of a line.
MIN_POINTS = 2
#: More of what could begin now, and of what is dead, is not counted.
MOST_COUNTED = 10_000
#: The setting that names the topic of pages.
TOPIC = "PENSTOCK_STREAM__WEBPAGE_LOG_TOPIC"
HERE, LETTERS = "/stream", "/stream/dead"
#: As the API wants them.
CURSOR = re.compile(r"[0-9]{1,15}\.[0-9a-f]{32}")


def add(console: Console, services: Services) -> None:
    """Show the queue and its dead letters; push URLs, revive dead letters."""
    _add_queue(console, services)
    _add_dead_letters(console, services)


def _add_queue(console: Console, services: Services) -> None:
    desk, recent = services.stream, services.recent

    async def look() -> tuple[Standing, Crowds]:
        crowds = await largest_crowds(services.store, SHOWN, [NAME])
        return await desk.depth(MOST_COUNTED), crowds

    kept = Kept(look, services.clock)
    topic = next((each.value for each in services.settings() if each.name == TOPIC), "")

    async def view(said: str = "", problems: list[str] | None = None) -> View:
        standing, crowds = await kept.get()
        await services.outages.look()
        values: dict[str, Any] = {
            "standing": standing,
            "counted_to": MOST_COUNTED,
            "crowds": crowds,
            "per_minute": recent.per_minute(LANE, NAME),
            "chart": _chart(recent),
            "outages": await services.outages.open(RULES),
            "over": await services.outages.over(RULES, SHOWN),
            "said": said,
            "problems": problems or [],
            "most": MOST_URLS,
            "topic": topic,
        }
        status = 422 if problems else 200
        return View("stream.html", {"title": "Stream", **values}, status)

    @console.page(HERE)
    async def show(_ask: Ask) -> View:
        return await view()

    @console.action(f"{HERE}/push")
    async def push(form: Form) -> Done | View:
        urls = form.get("urls").split()
        if not urls or len(urls) > MOST_URLS:
            return await view(form.get("urls"), [f"give 1 to {MOST_URLS} URLs, one per line"])
        pushed = await desk.push(urls)
        if pushed.rejected:
            return await _say_rejected(console, form, urls, pushed, view)
        says = f"{pushed.accepted} URLs wait to be fetched"
        return Done(ROOT + HERE, says, "push URLs", urls[0], {"accepted": pushed.accepted})


async def _say_rejected(
    console: Console, form: Form, urls: list[str], pushed: Pushed, view: Any
) -> View:
    """The form again with what was not taken; what was taken is written down all the same."""
    if pushed.accepted:
        detail = {"accepted": pushed.accepted, "rejected": len(pushed.rejected)}
        await console.audit.note(form.visitor.key.name, "push URLs", urls[0], detail)
    elif pushed.retry_after is not None:
        raise QueueFull("The queue of URLs is full", retry_after=pushed.retry_after)
    taken = [f"{pushed.accepted} of {len(urls)} were taken; these were not:"]
    said = [f"{each.url[:200]}: {each.detail or each.reason}" for each in pushed.rejected]
    shown: View = await view("\n".join(each.url for each in pushed.rejected), taken + said)
    return shown


def _add_dead_letters(console: Console, services: Services) -> None:
    desk = services.stream

    @console.page(LETTERS)
    async def show(ask: Ask) -> View:
        after = ask.get("after")
        domain, reason = ask.get("domain"), ask.get("reason")
        cursor = after if CURSOR.fullmatch(after) else None
        found = await desk.dead(cursor, PART, domain=domain, reason=reason)
        values = {"letters": found.letters, "next": found.next_cursor}
        values |= {"domain": domain, "reason": reason}
        return View("stream_dead.html", {"title": "Dead letters", **values})

    @console.action(f"{LETTERS}/revive")
    async def revive(form: Form) -> Done:
        number = await desk.revive(_chosen(form))
        says = f"{number} wait again as if they were new"
        return Done(ROOT + LETTERS, says, "revive dead letters", *_subject(form, number))

    @console.action(f"{LETTERS}/revive-all")
    async def revive_all(form: Form) -> Done:
        domain, reason = form.get("domain"), form.get("reason")
        number = await desk.revive(domain=domain, reason=reason)
        subject = ", ".join(each for each in (domain, reason) if each) or "all"
        says = f"{number} wait again as if they were new"
        detail = {"number": number}
        return Done(ROOT + LETTERS, says, "revive dead letters", subject, detail)

    @console.action(f"{LETTERS}/forget")
    async def forget(form: Form) -> Done:
        number = await desk.discard(_chosen(form))
        says = f"{number} are forgotten"
        return Done(ROOT + LETTERS, says, "forget dead letters", *_subject(form, number))


def _chosen(form: Form) -> list[str]:
    urls = form.all("url")
    if not urls:
        raise invalid("url", "tick the dead letters that are meant")
    return urls


def _subject(form: Form, number: int) -> tuple[str, dict[str, int]]:
    return form.all("url")[0], {"number": number}


def _chart(recent: Recent) -> str:
    """URLs that were over per minute, in the last half hour."""
    values = recent.line(LANE, NAME)
    if len(values) < MIN_POINTS or not any(values):
        return ""
    points = [Point(place, round(value, 1)) for place, value in enumerate(values)]
    began = f"{duration(len(values) * LOOK_EVERY * LOOKS_PER_POINT)} ago"
    return line_chart(points, "URLs over per minute", (began, "now"))
