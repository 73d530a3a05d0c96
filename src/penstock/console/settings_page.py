"""The settings in force, and where each comes from."""

from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services

DEFAULT = "default"


def add(console: Console, services: Services) -> None:
    """Show the settings; secrets are masked."""

    @console.page("/settings")
    async def show(ask: Ask) -> View:
        words, is_changed = ask.get("q").lower().split(), bool(ask.get("changed"))
        found = [
            each
            for each in services.settings()
            if all(word in f"{each.name} {each.value} {each.source}".lower() for word in words)
            and not (is_changed and each.source == DEFAULT)
        ]
        values = {"settings": found, "q": ask.get("q"), "changed": is_changed}
        return View("settings.html", {"title": "Settings", **values})
