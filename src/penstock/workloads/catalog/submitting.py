"""Submitting: URLs become crawl tasks, each once however often and by whom it is submitted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import select, update

from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.urls import Url, identity, parse
from penstock.kernel.admission import Admission
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import ApiError, InvalidRequest, NotFound
from penstock.workloads.catalog.domains import domains_by_name, make_domain
from penstock.workloads.catalog.model import DEFAULT_PRIORITY, OVER, Row, Status
from penstock.workloads.catalog.settings import CatalogSettings
from penstock.workloads.catalog.tables import (
    crawl_submission_tasks,
    crawl_submissions,
    crawl_tasks,
)

#: URLs that are written in one transaction.
AT_ONCE = 500
#: A sitemap is being read, what there was is taken on, or it could not be read.
READING, ACCEPTED, FAILED = "reading", "accepted", "failed"
#: Of those that are refused, so many are named.
MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Options:
    """How submitted pages are crawled; `scheduled_at` is ms since 1970, now if absent.

    `crawl_frequency` is seconds, 0 for once. `recrawl` has pages crawled now that are known.
    """

    priority: int = DEFAULT_PRIORITY
    crawl_frequency: int | None = None
    max_retries: int | None = None
    scheduled_at: int | None = None
    parser: str | None = None
    recrawl: bool = False


class Origin(NamedTuple):
    """Where the URLs of a submission come from: urls, a file or a sitemap; and which."""

    kind: str
    name: str | None = None


#: URLs that somebody wrote down.
BY_HAND = Origin("urls")


class Refusal(NamedTuple):
    """A URL that cannot be crawled, and why."""

    url: str
    reason: str


@dataclass(slots=True)
class Tally:
    """What became of the URLs of a submission."""

    submitted: int = 0
    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count on."""
        self.submitted += other.submitted
        self.accepted += other.accepted
        self.duplicates += other.duplicates
        self.refused += other.refused
        self.refusals += other.refusals[: MOST_NAMED - len(self.refusals)]

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self) | {"refusals": [each._asdict() for each in self.refusals]}


class _Wanted(NamedTuple):
    """A page, and how many of the URLs mean it."""

    url: Url
    url_hash: str
    times: int = 1


class Submitter:
    """Takes URLs on."""

    def __init__(self, admission: Admission, settings: CatalogSettings) -> None:
        self._admission = admission
        self._settings = settings

    def begin(
        self, unit: Unit, origin: Origin, options: Options, who: str, status: str = ACCEPTED
    ) -> str:
        """A new submission; its id."""
        row: Row = {
            "id": new_id(),
            "origin": origin.kind,
            "origin_name": origin.name,
            "status": status,
            "options": asdict(options),
            "created_by": who,
            "created_at": unit.now,
            "updated_at": unit.now,
        }
        unit.insert_all(crawl_submissions, [row])
        submission_id: str = row["id"]
        return submission_id

    def add(self, unit: Unit, submission_id: str, urls: Sequence[str]) -> Tally:
        """Add URLs to a submission, at most `AT_ONCE`; no page becomes a second task.

        A sitemap may be read again from its start: what is part of it already does not count.
        """
        query = select(crawl_submissions).where(crawl_submissions.c.id == submission_id)
        row = next(unit.rows(query.with_for_update()), None)
        if row is None:
            raise NotFound("There is no such submission")
        tally = Tally(submitted=len(urls))
        wanted = self._read(urls, tally)
        options, who = Options(**row["options"]), row["created_by"]
        sites = self._sites(unit, wanted, who, tally)
        wanted = {key: each for key, each in wanted.items() if each.url.domain in sites}
        known = _known(unit, wanted)
        new = [each for key, each in wanted.items() if key not in known]
        rows = self._tasks(unit, new, sites, options, who)
        unit.insert_all(crawl_tasks, rows, do_nothing)
        # Somebody else may have been quicker with some: those are theirs.
        tasks = _known(unit, wanted) if rows else known
        if row["status"] == READING:
            again = _linked(unit, submission_id, tasks)
            tally.submitted -= sum(each.times for key, each in wanted.items() if key in again)
        tally.accepted = sum(tasks[each["url_hash"]] == each["id"] for each in rows)
        tally.duplicates = tally.submitted - tally.refused - tally.accepted
        if options.recrawl:
            crawl_now(unit, list(known.values()), options.priority)
        links = [{"submission_id": submission_id, "task_id": each} for each in tasks.values()]
        unit.insert_all(crawl_submission_tasks, links, do_nothing)
        _count(unit, row, tally)
        return tally

    def refuse_all_bad(self, urls: Sequence[str]) -> None:
        """Raise `InvalidRequest` if none of some URLs can be fetched."""
        problems = []
        for place, text in enumerate(urls):
            try:
                self._admitted(text)
            except UrlError as error:
                problems.append({"field": f"urls.{place}", "message": str(error)})
            else:
                return
        raise InvalidRequest(problems[:MOST_NAMED])

    def _read(self, urls: Sequence[str], tally: Tally) -> dict[str, _Wanted]:
        """URLs that may be fetched, by their hashes."""
        found: dict[str, _Wanted] = {}
        for text in urls:
            try:
                url = self._admitted(text)
            except UrlError as error:
                _refuse(tally, text, str(error))
            else:
                url_hash = identity(url)
                first = found.get(url_hash, _Wanted(url, url_hash, 0))
                found[url_hash] = first._replace(times=first.times + 1)
        return found

    def _admitted(self, text: str) -> Url:
        """A URL that may be fetched; `UrlError` says why it may not."""
        url = parse(text)
        if refusal := self._admission.check(url):
            raise UrlError(refusal.reason, refusal.detail or refusal.reason)
        return url

    def _sites(
        self, unit: Unit, wanted: Mapping[str, _Wanted], who: str, tally: Tally
    ) -> dict[str, Row]:
        """The domains of URLs; those that are new are made."""
        firsts = {each.url.domain: each.url for each in reversed(list(wanted.values()))}
        sites = domains_by_name(unit, firsts)
        for name in sorted(firsts.keys() - sites.keys()):
            try:
                sites[name] = make_domain(unit, name, firsts[name].origin, self._settings, who=who)
            except ApiError as error:
                for each in wanted.values():
                    if each.url.domain == name:
                        _refuse(tally, each.url.href, str(error))
        return sites

    def _tasks(
        self,
        unit: Unit,
        new: Sequence[_Wanted],
        sites: Mapping[str, Row],
        options: Options,
        who: str,
    ) -> list[Row]:
        """New tasks: their ids are in the order of the list.

        They are written in an order that all keep to: then nobody waits in a circle.
        """
        ids = sorted(new_id() for _ in new)
        rows = [
            self._task(unit, each, sites[each.url.domain], options, who) | {"id": task_id}
            for each, task_id in zip(new, ids, strict=True)
        ]
        return sorted(rows, key=lambda row: str(row["url_hash"]))

    def _task(self, unit: Unit, wanted: _Wanted, site: Row, options: Options, who: str) -> Row:
        retries = options.max_retries
        return {
            "domain_id": site["id"],
            "url": wanted.url.href,
            "url_hash": wanted.url_hash,
            "status": Status.PENDING.value,
            "priority": options.priority,
            "scheduled_at": options.scheduled_at or unit.now,
            "retry_count": 0,
            "max_retries": self._settings.max_retries if retries is None else retries,
            "crawl_frequency": options.crawl_frequency,
            "parser": options.parser,
            "created_by": who,
            "created_at": unit.now,
            "updated_at": unit.now,
        }


def _refuse(tally: Tally, url: str, reason: str) -> None:
    tally.refused += 1
    if len(tally.refusals) < MOST_NAMED:
        tally.refusals.append(Refusal(url[:2000], reason))


def _known(unit: Unit, wanted: Mapping[str, _Wanted]) -> dict[str, str]:
    """The tasks that there are, by the hash of their URL."""
    query = select(crawl_tasks.c.url_hash, crawl_tasks.c.id)
    found = unit.run(query.where(unit.among(crawl_tasks.c.url_hash, sorted(wanted))))
    return {row.url_hash: row.id for row in found}


def _linked(unit: Unit, submission_id: str, tasks: Mapping[str, str]) -> set[str]:
    """The hashes of tasks that are part of a submission already."""
    links = crawl_submission_tasks.c
    query = select(links.task_id).where(
        links.submission_id == submission_id, unit.among(links.task_id, sorted(tasks.values()))
    )
    found = set(unit.run(query).scalars())
    return {url_hash for url_hash, task_id in tasks.items() if task_id in found}


def crawl_now(unit: Unit, ids: Sequence[str], priority: int | None = None) -> int:
    """Have tasks crawled that are over, as soon as may be; how many.

    What went wrong the last time stays: a page that could not be read then is read again.
    """
    values: dict[str, Any] = {
        "status": Status.PENDING.value,
        "scheduled_at": unit.now,
        "next_crawl_at": None,
        "retry_count": 0,
        "updated_at": unit.now,
    }
    if priority is not None:
        values["priority"] = priority
    is_over = crawl_tasks.c.status.in_([status.value for status in OVER])
    statement = update(crawl_tasks).where(unit.among(crawl_tasks.c.id, ids), is_over)
    return unit.run(statement.values(values)).rowcount


def _count(unit: Unit, row: Row, tally: Tally) -> None:
    table = crawl_submissions
    counts = {
        name: row[name] + getattr(tally, name)
        for name in ("submitted", "accepted", "duplicates", "refused")
    }
    statement = update(table).where(table.c.id == row["id"])
    unit.run(statement.values(**counts, updated_at=unit.now))
