"""What receivers outside are told: which callbacks wait or were given up; send them again."""

from typing import Any

from penstock.console.events import place_of
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.events.log import MOST_LOOKED_THROUGH
from penstock.web.errors import NotFound

PART = 50
HERE = "/scrape/webhooks"
STATES = ("parked", "waiting", "sent")


def add(console: Console, services: Services) -> None:
    """Show callbacks, and send them again."""

    @console.page(HERE)
    async def show(ask: Ask) -> View:
        state = ask.get("state") if ask.get("state") in STATES else STATES[0]
        rows, following = await _look(services, state, ask)
        values = {"rows": rows, "next": following, "state": state, "states": STATES}
        return View("scrape_webhooks.html", {"title": "Webhooks", **values})

    @console.action(f"{HERE}/resend")
    async def resend(form: Form) -> Done:
        ids = form.all("id")
        number = await services.webhooks.resend(ids)
        if not number:
            raise NotFound("None of them is known, or not any more: choose some of the list")
        to, says = ROOT + HERE, f"{number} will be sent again"
        return Done(to, says, "resend webhooks", ", ".join(ids[:3]), {"number": number})

    @console.action(f"{HERE}/resend-parked")
    async def resend_parked(_form: Form) -> Done:
        number = await services.webhooks.resend_parked()
        says = f"{number} will be sent again"
        return Done(ROOT + HERE, says, "resend webhooks", "all parked", {"number": number})


async def _look(
    services: Services, state: str, ask: Ask
) -> tuple[list[dict[str, Any]], int | None]:
    """Callbacks of a state, newest first, and before which place there may be more."""
    if state == "sent":
        return await services.webhooks.entries("sent", PART, MOST_LOOKED_THROUGH), None
    before = place_of(ask.get("after"))
    rows = await services.webhooks.owed(state, before, PART + 1)
    return rows[:PART], rows[PART - 1]["seq"] if len(rows) > PART else None
