"""What went wrong with feeds, and the pages that could not be read, as downloads."""

from fastapi import Response

from penstock.console.asking import an_id, cursor, one_of, truth
from penstock.console.live_feed import place_of
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.web.asking import one_page
from penstock.web.files import foreign_page
from penstock.workloads.live.model import ErrorType
from penstock.workloads.live.service import LiveService

PART = 50
ENDINGS = {"snapshot": "html", "screenshot": "png"}


def add(console: Console, services: Services) -> None:
    """Show errors, and let them be settled."""
    _add_list(console, services.live)
    for kind in ENDINGS:
        _add_evidence(console, services.live, kind)

    @console.action("/live/errors/{id}/resolve")
    async def resolve(form: Form) -> Done:
        row = await services.live.resolve_error(an_id(form.path["id"], "error"))
        is_of_feed = form.get("back") == "feed" and row["match_id"]
        to = place_of(row["match_id"]) if is_of_feed else f"{ROOT}/live/errors"
        return Done(to, "The error is settled", "live resolve", row["id"])


def _add_list(console: Console, service: LiveService) -> None:
    @console.page("/live/errors")
    async def show(ask: Ask) -> View:
        rows = await service.errors(
            error_type=one_of(ErrorType, ask.get("type")),
            resolved=truth(ask.get("resolved")),
            before=cursor(ask),
            limit=PART + 1,
        )
        shown, meta = one_page(rows, PART)
        return View(
            "live_feed_errors.html",
            {
                "title": "Errors of live pages",
                "problems": shown,
                "next": meta["next_cursor"],
                "typed": {"type": ask.get("type"), "resolved": ask.get("resolved")},
                "types": [each.value for each in ErrorType],
                "back": "",
            },
        )


def _add_evidence(console: Console, service: LiveService, kind: str) -> None:
    @console.page(f"/live/errors/{{id}}/{kind}")
    async def evidence(ask: Ask) -> Response:
        error_id = an_id(ask.path["id"], "error")
        data = await service.evidence(error_id, kind)
        return foreign_page(data, f"{error_id}.{ENDINGS[kind]}")
