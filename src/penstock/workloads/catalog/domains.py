"""Domains: the sites that are crawled, one for each source, and on what terms.

A site of which a page is submitted gets its domain, and a source if it has none. Whoever
activates a domain, or submits pages of a site that was not known, shows its products to readers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, select, update

from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.urls import bare_host, parse
from penstock.extract.registry import Registry
from penstock.kernel.policy import PolicyEntry
from penstock.products.announcing import Announce, source_message
from penstock.products.sources import (
    Visibility,
    create_retailer,
    create_source,
    get_source,
    list_retailers,
    list_sources,
    set_visibility,
)
from penstock.products.tables import domains
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Conflict, NotFound, invalid
from penstock.workloads.catalog.counting import count_tasks, count_up_to
from penstock.workloads.catalog.model import Row
from penstock.workloads.catalog.settings import CatalogSettings, pace_entry
from penstock.workloads.catalog.tables import crawl_tasks

LARGEST_DELAY, MOST_AT_ONCE = 3600, 1000
EDITABLE = frozenset(
    {"base_url", "crawl_delay_seconds", "max_concurrent_requests", "crawl_frequency", "parser"}
)


def find_domain(unit: Unit, name_or_id: str) -> Row:
    """A domain, by its id or its name."""
    wanted = (domains.c.id == name_or_id) | (domains.c.domain_name == name_or_id.lower())
    for row in unit.rows(select(domains).where(wanted)):
        return row
    raise NotFound("There is no such domain")


def domains_by_name(unit: Unit, names: Iterable[str]) -> dict[str, Row]:
    """Domains by their names; those that there are."""
    query = select(domains).where(unit.among(domains.c.domain_name, sorted(names)))
    return {row["domain_name"]: row for row in unit.rows(query)}


def make_domain(
    unit: Unit,
    name: str,
    base_url: str,
    settings: CatalogSettings,
    *,
    who: str,
    source: str | None = None,
) -> Row:
    """A domain for a site; its source is the one that the site has, a named one, or a new one.

    A new source is for readers at once; one that was there stays as visible as it was.
    """
    unit.take_turns("domains")
    if (known := domains_by_name(unit, [name]).get(name)) is not None:
        return known
    row: Row = {
        "id": new_id(),
        "source_id": _source_for(unit, name, base_url, who, source),
        "domain_name": name,
        "base_url": base_url,
        "crawl_delay_seconds": settings.crawl_delay_seconds,
        "max_concurrent_requests": settings.max_concurrent_requests,
        "is_active": True,
        "created_at": unit.now,
        "updated_at": unit.now,
        "updated_by": who,
    }
    unit.run(domains.insert().values(row))
    return find_domain(unit, row["id"])


def _source_for(unit: Unit, name: str, base_url: str, who: str, source: str | None) -> str:
    found = [get_source(unit, source)] if source else list_sources(unit, domain=name)
    taken = set(unit.run(select(domains.c.source_id)).scalars()) if found else set()
    free = [each for each in found if each["id"] not in taken]
    if source and (not free or free[0]["domain"] != name):
        raise Conflict(f"{source} is not a source of {name}, or another domain has it already")
    if len(free) > 1:
        names = ", ".join(each["name"] for each in free)
        raise Conflict(f"{name} has several sources ({names}): add the domain and say which")
    if free:
        source_id: str = free[0]["id"]
        return source_id
    known = {each["name"]: each["id"] for each in list_retailers(unit)}
    retailer = known.get(name) or create_retailer(unit, name, base_url, who=who)["id"]
    title = name if name not in {each["name"] for each in found} else f"{name} (catalogue)"
    made = create_source(unit, title, name, retailer, who=who)
    set_visibility(unit, made["id"], Visibility.ELIGIBLE, who=who)
    new: str = made["id"]
    return new


class Domains:
    """The domains of a store, for people."""

    def __init__(
        self, store: Store, settings: CatalogSettings, registry: Registry, announce: Announce
    ) -> None:
        self._store = store
        self._settings = settings
        self._registry = registry
        self._announce = announce

    async def add(self, name_or_url: str, who: str, source: str | None = None, **said: Any) -> Row:
        """Add a domain, before anything of it is submitted; it is active."""
        name, base = _read_name(name_or_url)

        def work(unit: Unit) -> Row:
            if name in domains_by_name(unit, [name]):
                raise Conflict(f"{name} is there already")
            row = make_domain(unit, name, base, self._settings, who=who, source=source)
            self._show(unit, row, who)
            return _edit(unit, row, self._checked(said), who)

        return await self._store.write(work)

    async def edit(self, name_or_id: str, who: str, **changes: Any) -> Row:
        """Change how a domain is crawled."""
        values = self._checked(changes)
        return await self._store.write(
            lambda unit: _edit(unit, find_domain(unit, name_or_id), values, who)
        )

    async def activate(self, name_or_id: str, who: str) -> Row:
        """Crawl a domain, and show its products to readers."""

        def work(unit: Unit) -> Row:
            row = find_domain(unit, name_or_id)
            self._show(unit, row, who)
            return _edit(unit, row, {"is_active": True}, who)

        return await self._store.write(work)

    def _show(self, unit: Unit, domain: Row, who: str) -> None:
        """Show the products of a domain to readers."""
        source_id, shown = domain["source_id"], Visibility.ELIGIBLE
        if get_source(unit, source_id)["visibility_status"] != shown:
            set_visibility(unit, source_id, shown, who=who)
            self._announce(unit, [source_message(source_id, shown)])

    async def deactivate(self, name_or_id: str, who: str) -> Row:
        """Crawl a domain no more; what is known of its products stays."""
        return await self._store.write(
            lambda unit: _edit(unit, find_domain(unit, name_or_id), {"is_active": False}, who)
        )

    async def get(self, name_or_id: str, most: int | None = None) -> Row:
        """A domain with its tasks in numbers, in each status up to `most` if that is said."""

        def look(unit: Unit) -> Row:
            row = find_domain(unit, name_or_id)
            mine = crawl_tasks.c.domain_id == row["id"]
            if most is None:
                return row | {"tasks": count_tasks(unit, mine)}
            return row | {"tasks": count_up_to(unit, most, mine)}

        return await self._store.read(look)

    async def list(
        self, *, active: bool | None = None, after: str | None = None, limit: int = 50
    ) -> list[Row]:
        """Domains by name."""
        wanted: list[ColumnElement[bool]] = []
        if active is not None:
            wanted.append(domains.c.is_active == active)
        if after is not None:
            wanted.append(domains.c.domain_name > after)
        query = select(domains).where(*wanted).order_by(domains.c.domain_name).limit(limit)
        return await self._store.read(lambda unit: list(unit.rows(query)))

    def _checked(self, changes: Mapping[str, Any]) -> Row:
        for name in changes.keys() - EDITABLE:
            raise invalid(name, "cannot be changed")
        values = dict(changes)
        _check_number(values, "crawl_delay_seconds", 0, LARGEST_DELAY)
        _check_number(values, "max_concurrent_requests", 1, MOST_AT_ONCE)
        if values.get("crawl_frequency") is not None:
            _check_number(values, "crawl_frequency", 0, 2**31 - 1)
        if values.get("parser") and self._registry.get(values["parser"]) is None:
            known = ", ".join(self._registry.names())
            raise invalid("parser", f"there is no adapter of that name; known: {known}")
        if "base_url" in values:
            try:
                values["base_url"] = parse(values["base_url"] or "").origin
            except UrlError as error:
                raise invalid("base_url", str(error)) from error
        return values


def _check_number(values: Mapping[str, Any], name: str, least: int, most: int) -> None:
    if name in values:
        number = values[name]
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise invalid(name, f"must be a whole number from {least} to {most}")


def _read_name(name_or_url: str) -> tuple[str, str]:
    """The registrable domain and the begin of its site."""
    try:
        if "://" in name_or_url:
            url = parse(name_or_url)
            return url.domain, url.origin
        name = bare_host(name_or_url)
        site = parse(f"https://{f'[{name}]' if ':' in name else name}/")
    except UrlError as error:
        raise invalid("domain", str(error)) from error
    return site.domain, site.origin


def _edit(unit: Unit, row: Row, values: Mapping[str, Any], who: str) -> Row:
    if values:
        changed = {**values, "updated_at": unit.now, "updated_by": who}
        unit.run(update(domains).where(domains.c.id == row["id"]).values(changed))
    return find_domain(unit, row["id"])


async def paces_of_domains(store: Store) -> dict[str, PolicyEntry]:
    """What domains say of the pace of the crawler."""
    query = select(
        domains.c.domain_name, domains.c.crawl_delay_seconds, domains.c.max_concurrent_requests
    )
    rows: Sequence[Any] = await store.read(lambda unit: unit.run(query).all())
    return {name: pace_entry(delay, concurrency) for name, delay, concurrency in rows}
