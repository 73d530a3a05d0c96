"""What makes progress and what does not, in one screen."""

from penstock.console.pages import Ask, Console, View
from penstock.console.services import Services
from penstock.queue.health import judge, largest_backlogs, longest_held
from penstock.queue.upkeep import Upkeep

BACKLOGS = 5


def add(console: Console, services: Services) -> None:
    """Show how everything does."""

    @console.page("")
    async def show(_ask: Ask) -> View:
        store = services.store
        paused = await services.switches.paused()
        depths = await services.queue.depth()
        held = await longest_held(store, paused)
        health = judge(depths, await Upkeep(store).workers(), paused, held)
        return View(
            "overview.html",
            {
                "title": "Overview",
                "health": health,
                "backlogs": await largest_backlogs(store, BACKLOGS),
                "pool": services.browsers(),
            },
        )
