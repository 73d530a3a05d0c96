"""Targets that somebody wants, checked: what is wrong is said before anything is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from penstock.core.errors import SettingsError, UrlError
from penstock.core.ids import new_id
from penstock.core.urls import Url, canonical, parse, registrable_domain
from penstock.extract.registry import Registry
from penstock.kernel.admission import Admission
from penstock.products.tables import sources
from penstock.store.unit import Unit
from penstock.web.errors import ApiError, Conflict, NotFound, invalid
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.schedules import timing_of

#: What the monitor reads from pages.
KIND = "product"
MOST_PRIORITY = 1000
LONGEST_NOTE = 2000
#: A target may be born paused; other statuses are what became of it.
BORN = (TargetStatus.ACTIVE, TargetStatus.PAUSED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A target as somebody wrote it down."""

    url: str
    source: str | None = None
    adapter: str | None = None
    schedule: str | None = None
    priority: int = 0
    status: str = TargetStatus.ACTIVE
    enabled: bool = True
    robots_path_blocked: bool = False
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A target that can be added, unless it is there already."""

    id: str
    url: str
    canonical_url: str
    source_id: str
    adapter_id: str
    wanted: Wanted

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same as another."""
        return self.source_id, self.canonical_url

    @property
    def is_wanted_now(self) -> bool:
        """Whether it is to be read as soon as its source allows it."""
        wanted = self.wanted
        is_active = wanted.status == TargetStatus.ACTIVE
        return is_active and wanted.enabled and not wanted.robots_path_blocked

    def as_row(self, unit: Unit, who: str) -> dict[str, Any]:
        """The row of a new target: due at once, and then by its schedule."""
        wanted = self.wanted
        return {
            "id": self.id,
            "url": self.url,
            "canonical_url": self.canonical_url,
            "source_id": self.source_id,
            "adapter_id": self.adapter_id,
            "schedule": wanted.schedule,
            "priority": wanted.priority,
            "status": str(wanted.status),
            "enabled": wanted.enabled,
            "robots_path_blocked": wanted.robots_path_blocked,
            "consecutive_failures": 0,
            "next_due_at": unit.now if self.is_wanted_now else None,
            "created_at": unit.now,
            "updated_at": unit.now,
            "created_by": who,
            "notes": wanted.notes,
        }


class DraftRefused(Exception):
    """What is wrong with a wanted target, and in which field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message

    def as_api_error(self) -> ApiError:
        """What a caller of the API is told."""
        return invalid(self.field, self.message)


class SourceUnknown(DraftRefused):
    """The source that is named is not there."""

    def as_api_error(self) -> ApiError:
        return NotFound(self.message)


class SourceUnfit(DraftRefused):
    """The sources that there are do not fit the URL."""

    def as_api_error(self) -> ApiError:
        return Conflict(self.message)


class SourceBook:
    """The sources that targets can belong to."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._named: dict[str, Mapping[str, Any]] = {}
        self._at: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            self._named[row["name"]] = self._named[row["id"]] = row
            self._at.setdefault(row["domain"], []).append(row)

    def choose(self, url: Url, wanted: str | None) -> Mapping[str, Any]:
        """The source of a URL: the one that is named, else the only one of its domain."""
        if wanted:
            return self._checked(url, wanted)
        found = self._at.get(url.domain, [])
        if len(found) == 1:
            return found[0]
        if not found:
            raise SourceUnfit(
                "source", f"there is no source for {url.domain}: add one, or name another"
            )
        names = ", ".join(sorted(row["name"] for row in found))
        raise SourceUnfit("source", f"{url.domain} has several sources: name one of {names}")

    def _checked(self, url: Url, wanted: str) -> Mapping[str, Any]:
        source = self._named.get(wanted)
        if source is None:
            raise SourceUnknown("source", f"there is no source '{wanted}'")
        if source["domain"] != url.domain:
            raise SourceUnfit(
                "url",
                f"the URL is at {url.domain}, and source '{source['name']}' is for "
                f"{source['domain']}: what was approved there does not hold here",
            )
        return source


def read_sources(unit: Unit) -> SourceBook:
    """All sources."""
    columns = (sources.c.id, sources.c.name, sources.c.domain, sources.c.adapter_id)
    return SourceBook(unit.rows(select(*columns)))


class Drafter:
    """Makes drafts of what somebody wants, or says what is wrong."""

    def __init__(self, registry: Registry, admission: Admission) -> None:
        self._registry = registry
        self._admission = admission
        hosts = {host for adapter in registry.list() for host in adapter.domains}
        self._domains_with_rules = {registrable_domain(host) for host in hosts}
        self._elsewhere: str | None = None

    def draft(self, wanted: Wanted, book: SourceBook) -> Draft:
        """A draft; raise `DraftRefused` for what cannot be one."""
        url = self._admitted(wanted.url)
        source = book.choose(url, wanted.source)
        adapter = self.adapter_for(url, wanted.adapter or source["adapter_id"])
        check_schedule(wanted.schedule)
        check_priority(wanted.priority)
        check_notes(wanted.notes)
        if wanted.status not in BORN:
            raise DraftRefused("status", "a new target is ACTIVE or PAUSED")
        return Draft(new_id(), wanted.url.strip(), canonical(url), source["id"], adapter, wanted)

    def _admitted(self, text: str) -> Url:
        try:
            url = parse(text.strip())
        except UrlError as error:
            raise DraftRefused("url", str(error)) from None
        if refusal := self._admission.check(url):
            raise DraftRefused("url", refusal.detail)
        return url

    def adapter_for(self, url: Url, wanted: str | None) -> str:
        """The id of the adapter that is to read a URL; raise `DraftRefused` if there is none."""
        if not wanted:
            return self._by_rule(url)
        adapter = self._registry.get(wanted)
        if adapter is None or adapter.id != wanted or adapter.gives != KIND:
            known = ", ".join(self.adapters())
            raise DraftRefused("adapter", f"no adapter '{wanted}' reads {KIND}s; known: {known}")
        return adapter.id

    def adapters(self) -> tuple[str, ...]:
        """The ids of all adapters that a target may have."""
        return tuple(each.id for each in self._registry.list() if each.gives == KIND)

    def _by_rule(self, url: Url) -> str:
        if url.domain in self._domains_with_rules:
            return self._registry.choose(url, KIND).adapter.id
        # Where no adapter has a rule, the choice is the same for every URL.
        self._elsewhere = self._elsewhere or self._registry.choose(url, KIND).adapter.id
        return self._elsewhere


def check_schedule(schedule: str | None) -> None:
    """Raise `DraftRefused` if a target cannot be due by this."""
    if schedule is None:
        return
    try:
        timing_of(schedule)
    except SettingsError as error:
        raise DraftRefused("schedule", str(error)) from None


def check_priority(priority: int) -> None:
    """Raise `DraftRefused` for a number that says nothing any more."""
    if abs(priority) > MOST_PRIORITY:
        raise DraftRefused("priority", f"must be between -{MOST_PRIORITY} and {MOST_PRIORITY}")


def check_notes(notes: str | None) -> None:
    """Raise `DraftRefused` for a novel."""
    if notes is not None and len(notes) > LONGEST_NOTE:
        raise DraftRefused("notes", f"longer than {LONGEST_NOTE} characters")


def in_batches(things: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """Some at a time."""
    return (things[start : start + size] for start in range(0, len(things), size))
