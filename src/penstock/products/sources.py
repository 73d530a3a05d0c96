"""Sources and retailers: who sells, on what terms we look, and who may see it.

A new source is INELIGIBLE, its UPCs are not trusted, and nobody has approved its terms of service.
Every change names who made it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from sqlalchemy import ColumnElement, Table, select, update

from penstock.core.errors import UrlError
from penstock.core.ids import new_id
from penstock.core.urls import bare_host, parse, registrable_domain
from penstock.kernel.headers import problem_with, reserved
from penstock.products.resolving import resolve_again
from penstock.products.tables import retailers, source_trust_config, sources
from penstock.store.unit import Unit, do_nothing
from penstock.web.errors import Conflict, InvalidRequest, NotFound, invalid

Row = dict[str, Any]
EDITABLE = frozenset({"name", "domain", "adapter_id", "scrape_config", "robots_compliant"})


class Visibility(StrEnum):
    """Whether consumers see what a source costs."""

    ELIGIBLE = "ELIGIBLE"
    INELIGIBLE = "INELIGIBLE"


class RateLimit(BaseModel):
    """How often a source may be asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requestsPerSecond: float = Field(gt=0, le=100, allow_inf_nan=False)  # noqa: N815 - the spec's


class ScrapeConfig(BaseModel):
    """How a source is fetched; the names are those of the stored JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rateLimit: RateLimit | None = None  # noqa: N815
    fetcherType: Literal["http", "playwright", "browser"] | None = None  # noqa: N815
    customHeaders: dict[str, str] = Field(default_factory=dict)  # noqa: N815

    @field_validator("customHeaders")
    @classmethod
    def _can_be_sent(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if problem := problem_with(name, value) or reserved(name):
                raise ValueError(problem)
        return headers


def read_config(data: Mapping[str, Any]) -> ScrapeConfig:
    """A scrape config; raise `InvalidRequest` with what is wrong in it."""
    try:
        return ScrapeConfig.model_validate(data, strict=False)
    except ValidationError as error:
        raise InvalidRequest(
            [
                {
                    "field": ".".join(("scrape_config", *map(str, each["loc"]))),
                    "message": each["msg"],
                }
                for each in error.errors(include_url=False)
            ]
        ) from error


# ── retailers


def create_retailer(unit: Unit, name: str, website_url: str | None = None, *, who: str) -> Row:
    """Add a retailer."""
    row = _new(unit, _named(name), who) | {"website_url": website_url and _read_url(website_url)}
    _insert(unit, retailers, row)
    return get_retailer(unit, row["id"])


def edit_retailer(unit: Unit, retailer_id: str, *, who: str, **changes: str | None) -> Row:
    """Change the name or the address of a retailer."""
    _refuse_unknown(changes, frozenset({"name", "website_url"}))
    if "name" in changes:
        changes |= _named(changes["name"])
    if changes.get("website_url"):
        changes["website_url"] = _read_url(changes["website_url"] or "")
    before = get_retailer(unit, retailer_id)
    _change(unit, retailers, before, changes, who)
    return get_retailer(unit, retailer_id)


def get_retailer(unit: Unit, name_or_id: str) -> Row:
    """A retailer, by its id or its name."""
    return _find(unit, retailers, name_or_id, "retailer")


def list_retailers(unit: Unit) -> list[Row]:
    """All retailers, by name."""
    return list(unit.rows(select(retailers).order_by(retailers.c.name)))


# ── sources


def create_source(
    unit: Unit,
    name: str,
    domain: str,
    retailer_id: str,
    *,
    who: str,
    adapter_id: str | None = None,
    scrape_config: Mapping[str, Any] | None = None,
) -> Row:
    """Add a source; nobody sees its prices, and nothing is fetched, until that is decided."""
    row = _new(unit, _named(name), who) | {
        "domain": _read_domain(domain),
        "retailer_id": get_retailer(unit, retailer_id)["id"],
        "adapter_id": adapter_id,
        "scrape_config": _stored(read_config(scrape_config or {})),
        "visibility_status": Visibility.INELIGIBLE,
    }
    _insert(unit, sources, row)
    trust = {"source_id": row["id"], "upc_trusted": False, "updated_at": unit.now}
    unit.run(unit.insert(source_trust_config).values(trust | {"updated_by": who}))
    return get_source(unit, row["id"])


def edit_source(unit: Unit, source_id: str, *, who: str, **changes: Any) -> Row:
    """Change a source's name, domain, adapter, scrape config or compliance with robots."""
    _refuse_unknown(changes, EDITABLE)
    if "name" in changes:
        changes |= _named(changes["name"])
    if "domain" in changes:
        changes["domain"] = _read_domain(changes["domain"])
    if "scrape_config" in changes:
        changes["scrape_config"] = _stored(read_config(changes["scrape_config"]))
    before = get_source(unit, source_id)
    if changes.get("domain", before["domain"]) != before["domain"]:
        # What was approved were the terms of another site.
        changes |= {"tos_reviewed_at": None, "tos_approved_by": None}
    _change(unit, sources, before, changes, who)
    return get_source(unit, before["id"])


def get_source(unit: Unit, name_or_id: str) -> Row:
    """A source with `upc_trusted` and its retailer's name, by its id or its name."""
    wanted = (sources.c.id == name_or_id) | (sources.c.name == name_or_id)
    for row in _select_sources(unit, wanted):
        return row
    raise NotFound("There is no such source")


def list_sources(unit: Unit, *, domain: str | None = None) -> list[Row]:
    """All sources, or those of a domain, by name; of what is no domain there are none."""
    if domain is None:
        return _select_sources(unit)
    try:
        wanted = _read_domain(domain)
    except InvalidRequest:
        return []
    return _select_sources(unit, sources.c.domain == wanted)


def _select_sources(unit: Unit, *wanted: ColumnElement[bool]) -> list[Row]:
    query = (
        select(sources, source_trust_config.c.upc_trusted, retailers.c.name.label("retailer"))
        .select_from(
            sources.join(retailers).outerjoin(
                source_trust_config, source_trust_config.c.source_id == sources.c.id
            )
        )
        .where(*wanted)
        .order_by(sources.c.name)
    )
    return [row | {"upc_trusted": bool(row["upc_trusted"])} for row in unit.rows(query)]


# ── decisions about a source


def approve_terms(unit: Unit, source_id: str, *, who: str) -> Row:
    """Say that the terms of service were read and allow what we do."""
    approval = {"tos_reviewed_at": unit.now, "tos_approved_by": _person(who)}
    return _decide(unit, source_id, approval, who)


def revoke_terms(unit: Unit, source_id: str, *, who: str) -> Row:
    """Take the approval back: nothing is fetched from the source any more."""
    return _decide(unit, source_id, {"tos_reviewed_at": None, "tos_approved_by": None}, who)


def set_visibility(unit: Unit, source_id: str, visibility: Visibility, *, who: str) -> Row:
    """Show the prices of a source to consumers, or hide all of them."""
    return _decide(unit, source_id, {"visibility_status": Visibility(visibility)}, who)


def set_trust(unit: Unit, source_id: str, *, upc_trusted: bool, who: str) -> Row:
    """Believe the UPCs of a source or not; its source products are linked anew."""
    source = get_source(unit, source_id)
    values = {"upc_trusted": upc_trusted, "updated_at": unit.now, "updated_by": _person(who)}
    insert = unit.insert(source_trust_config).values(source_id=source["id"], **values)
    unit.run(insert.on_conflict_do_update(index_elements=["source_id"], set_=values))
    if source["upc_trusted"] != upc_trusted:
        resolve_again(unit, source["id"])
    return get_source(unit, source["id"])


def _decide(unit: Unit, source_id: str, values: Row, who: str) -> Row:
    before = get_source(unit, source_id)
    _change(unit, sources, before, values, who)
    return get_source(unit, before["id"])


# ── what both share


def _new(unit: Unit, values: Row, who: str) -> Row:
    made = {"id": new_id(), "created_at": unit.now, "updated_at": unit.now}
    return made | values | {"updated_by": _person(who)}


def _insert(unit: Unit, table: Table, row: Row) -> None:
    if not unit.run(do_nothing(unit.insert(table)).values(row)).rowcount:
        raise Conflict(f"There is one of that name in {table.name} already")


def _change(unit: Unit, table: Table, before: Row, values: Mapping[str, Any], who: str) -> None:
    name = values.get("name", before["name"])
    taken = select(table.c.id).where(table.c.name == name, table.c.id != before["id"])
    if unit.run(taken).first():
        raise Conflict(f"There is one of that name in {table.name} already")
    changed = {**values, "updated_at": unit.now, "updated_by": _person(who)}
    unit.run(update(table).where(table.c.id == before["id"]).values(changed))


def _find(unit: Unit, table: Table, name_or_id: str, what: str) -> Row:
    wanted = (table.c.id == name_or_id) | (table.c.name == name_or_id)
    for row in unit.rows(select(table).where(wanted)):
        return row
    raise NotFound(f"There is no such {what}")


def _named(name: str | None) -> Row:
    if not (name or "").strip():
        raise invalid("name", "must not be empty")
    return {"name": (name or "").strip()}


def _person(who: str) -> str:
    if not who.strip():
        raise invalid("who", "must be said")
    return who


def _read_domain(text: str) -> str:
    try:
        return registrable_domain(bare_host(text))
    except UrlError as error:
        raise invalid("domain", str(error)) from error


def _read_url(text: str) -> str:
    try:
        return parse(text).href
    except UrlError as error:
        raise invalid("website_url", str(error)) from error


def _stored(config: ScrapeConfig) -> Row:
    return config.model_dump(exclude_none=True, exclude_defaults=True)


def _refuse_unknown(changes: Mapping[str, Any], allowed: frozenset[str]) -> None:
    for name in changes.keys() - allowed:
        raise invalid(name, "cannot be changed")
