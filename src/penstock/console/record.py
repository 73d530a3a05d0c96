"""The book of changes."""

from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services

PART = 50


def add(console: Console, services: Services) -> None:
    """Show who changed what."""
    del services

    @console.page("/audit")
    async def show(ask: Ask) -> View:
        rows = await console.audit.list(ask.get("after") or None, PART + 1)
        more = rows[PART - 1]["id"] if len(rows) > PART else None
        return View("audit.html", {"title": "Audit", "rows": rows[:PART], "next": more})
