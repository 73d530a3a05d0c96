"""Pages are handed in, by URL or by sitemap, and watched until all of them are over."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from penstock.console.asking import an_id, cursor, filled, number, problems_of, word
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger
from penstock.web.asking import one_page
from penstock.web.errors import InvalidRequest
from penstock.workloads.catalog.bodies import NewTasks
from penstock.workloads.catalog.model import DEFAULT_PRIORITY
from penstock.workloads.catalog.submissions import TIMES_THE_LOOK, Progress, Submissions
from penstock.workloads.catalog.submitting import Tally

PART = 50
#: So many submissions of which it is remembered how far they have come.
MOST_REMEMBERED = 100
#: So many seconds the first who asks waits for what is counted; all others see what is known.
PATIENCE = 0.3
#: Of those that are refused, so many are named to whoever submits them.
MOST_NAMED = 3
TITLE = "Submit pages"
FIELDS = ("urls", "sitemap_url", "priority", "crawl_frequency", "max_retries", "parser", "recrawl")


def add(console: Console, services: Services) -> None:
    """Take pages on, and show how far they have come."""
    submissions = services.catalog.submissions
    _add_form(console, submissions)
    _add_lists(console, submissions, services.clock)


def _add_form(console: Console, submissions: Submissions) -> None:
    @console.page("/catalog/submit")
    async def ask_for(_ask: Ask) -> View:
        return _form({"priority": str(DEFAULT_PRIORITY)}, {})

    @console.action("/catalog/submit")
    async def submit(form: Form) -> Done | View:
        typed = {name: form.get(name) for name in FIELDS}
        tally = Tally()
        try:
            body = filled(NewTasks, _body(typed))
            options, who = body.as_options(), form.visitor.key.name
            if body.sitemap_url is not None:
                identity = await submissions.submit_sitemap(body.sitemap_url, options, who)
            else:
                identity, tally = await submissions.submit(body.urls, options, who)
        except InvalidRequest as error:
            return _form(typed, problems_of(error))
        subject = body.sitemap_url or f"{len(body.urls)} URLs"
        to = f"{ROOT}/catalog/submissions/{identity}"
        return Done(to, _says(tally), "catalog submit", subject, {"submission": identity})


def _form(typed: dict[str, str], errors: dict[str, str]) -> View:
    values = {"title": TITLE, "typed": typed, "errors": errors}
    return View("catalog_submit.html", values, 422 if errors else 200)


def _body(typed: dict[str, str]) -> dict[str, Any]:
    return {
        "urls": [line.strip() for line in typed["urls"].splitlines() if line.strip()],
        "sitemap_url": typed["sitemap_url"] or None,
        "priority": number(typed["priority"]),
        "crawl_frequency": number(typed["crawl_frequency"]),
        "max_retries": number(typed["max_retries"]),
        "parser": word(typed["parser"]),
        "recrawl": typed["recrawl"] == "yes",
    }


def _says(tally: Tally) -> str:
    if not tally.submitted:
        return "The sitemap is read now: its pages are added as they are found"
    counted = (
        f"{tally.accepted} pages were taken on, {tally.duplicates} were known already, "
        f"{tally.refused} were refused"
    )
    named = "; ".join(f"{each.url}: {each.reason}" for each in tally.refusals[:MOST_NAMED])
    return f"{counted} ({named})" if named else counted


def _add_lists(console: Console, submissions: Submissions, clock: Clock) -> None:
    looks = Looks(submissions, clock)

    @console.page("/catalog/submissions")
    async def show_all(ask: Ask) -> View:
        shown, meta = one_page(await submissions.list(cursor(ask), PART + 1), PART)
        values = {"title": "Submissions", "submissions": shown, "next": meta["next_cursor"]}
        return View("catalog_submissions.html", values)

    @console.page("/catalog/submissions/{id}")
    async def show(ask: Ask) -> View:
        row = await submissions.get(an_id(ask.path["id"], "submission"))
        title = f"Submission of {row['origin_name'] or row['origin']}"
        values = {"title": title, "row": row, "progress": await looks.at(row["id"])}
        return View("catalog_submission.html", values)


@dataclass(slots=True)
class Look:
    """What was last seen of a submission, until when that will do, and who is looking now."""

    progress: Progress | None = None
    good_until: float = 0.0
    counting: asyncio.Task[None] | None = None
    is_counted: asyncio.Event = field(default_factory=asyncio.Event)


class Looks:
    """Looks at submissions: nobody waits for long until all tasks of a large one are counted."""

    def __init__(self, submissions: Submissions, clock: Clock) -> None:
        self._submissions = submissions
        self._clock = clock
        self._known: dict[str, Look] = {}

    async def at(self, submission_id: str) -> Progress | None:
        """How far a submission has come, or had when it was last counted; None: not known yet."""
        look = self._known.pop(submission_id, None) or Look()
        self._known[submission_id] = look
        while len(self._known) > MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
        if look.counting is None and self._clock.monotonic() >= look.good_until:
            look.is_counted.clear()
            look.counting = asyncio.create_task(self._count(submission_id, look))
            await self._clock.wait_for(look.is_counted, PATIENCE)
        return look.progress

    async def _count(self, submission_id: str, look: Look) -> None:
        """Count anew; those that take long are counted less often."""
        began = self._clock.monotonic()
        try:
            look.progress = await self._submissions.progress(submission_id)
        except PenstockError as error:
            get_logger().warning("a submission cannot be counted", error=str(error))
        finally:
            now = self._clock.monotonic()
            look.good_until = now + (now - began) * TIMES_THE_LOOK
            look.counting = None
            look.is_counted.set()
