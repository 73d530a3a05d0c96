"""Pages are handed in, by URL or by sitemap, and watched until all of them are over."""

from functools import partial
from typing import Any

from penstock.console.asking import an_id, cursor, filled, number, problems_of, word
from penstock.console.kept import Kept
from penstock.console.pages import ROOT, Ask, Console, Done, Form, View
from penstock.console.services import Services
from penstock.core.clock import Clock
from penstock.web.asking import one_page
from penstock.web.errors import InvalidRequest
from penstock.workloads.catalog.bodies import NewTasks
from penstock.workloads.catalog.model import DEFAULT_PRIORITY
from penstock.workloads.catalog.submissions import Progress, Submissions
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


class Looks:
    """Looks at submissions: nobody waits for long until all tasks of a large one are counted."""

    def __init__(self, submissions: Submissions, clock: Clock) -> None:
        self._submissions = submissions
        self._clock = clock
        self._kept: dict[str, Kept[Progress]] = {}

    async def at(self, submission_id: str) -> Progress | None:
        """How far a submission has come, or had when it was last counted; None: not known yet."""
        count = partial(self._submissions.progress, submission_id)
        kept = self._kept.pop(submission_id, None) or Kept(count, self._clock)
        self._kept[submission_id] = kept
        while len(self._kept) > MOST_REMEMBERED:
            del self._kept[next(iter(self._kept))]
        return await kept.soon(PATIENCE)
