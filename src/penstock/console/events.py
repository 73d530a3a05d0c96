"""The event log: what happened, newest first."""

from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.events.relay import Deliveries
from penstock.web.errors import NotFound

PART = 50
#: Topics that were seen are offered as choices; no more than so many.
MOST_TOPICS = 100
DIGITS = 15
#: More deliveries to one sink are not counted.
MOST_COUNTED = 10_000
DELIVERIES = "/events/deliveries"


def add(console: Console, services: Services) -> None:
    """Show the log, one event, and what is still to be delivered."""
    seen: set[str] = set()

    @console.page("/events")
    async def show(ask: Ask) -> View:
        topic = ask.get("topic")
        before = place_of(ask.get("after"))
        found, following = await services.log.before(before, PART, [topic] if topic else [])
        if len(seen) < MOST_TOPICS:
            seen.update(event.message.topic for event in found)
        values = {"events": found, "next": following, "topic": topic, "topics": sorted(seen)}
        return View("events.html", {"title": "Events", **values})

    _add_deliveries(console, Deliveries(services.store))

    @console.page("/events/{seq}")
    async def show_one(ask: Ask) -> View:
        seq = place_of(ask.path["seq"])
        event = await services.log.find(seq) if seq is not None else None
        if event is None:
            raise NotFound("There is no such event, or not any more")
        return View("events_one.html", {"title": f"Event {event.seq}", "event": event})


def _add_deliveries(console: Console, deliveries: Deliveries) -> None:
    @console.page(DELIVERIES)
    async def show(_ask: Ask) -> View:
        counts = await deliveries.counts(MOST_COUNTED)
        values = {"counts": counts, "counted_to": MOST_COUNTED}
        values |= {"parked": await deliveries.parked(PART)}
        return View("events_deliveries.html", {"title": "Deliveries", **values})

    @console.action(f"{DELIVERIES}/retry")
    async def retry(form: Form) -> Done:
        sink = form.get("sink")
        number = await deliveries.retry_parked(sink or None)
        says, subject = f"{number} events will be delivered again", sink or "all"
        return Done(ROOT + DELIVERIES, says, "retry deliveries", subject, {"number": number})


def place_of(text: str) -> int | None:
    """A place of the log that somebody asks for."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else None
