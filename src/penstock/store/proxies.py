"""The table of proxies: one pool for all processes of a store.

What each process saw is added to it; nobody overwrites what another one counted. Passwords are
kept encrypted. Who brought a proxy in says who may change it: those of the settings are changed
there, and one that left the settings is retired, not deleted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, cast

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    and_,
    case,
    delete,
    func,
    literal,
    select,
    update,
)
from sqlalchemy import cast as as_type

from penstock.core.errors import SecretLost, SettingsError
from penstock.core.ids import new_id
from penstock.core.secrets import SecretBox
from penstock.kernel.model import Proxy
from penstock.kernel.proxies import Address, Delta, Known
from penstock.kernel.settings import ProxySettings
from penstock.store.schema import Moment
from penstock.store.settings import StoreSettings
from penstock.store.tables import proxies
from penstock.store.unit import Unit, do_nothing

Row = dict[str, Any]
#: The proxies of the settings of a process.
Own = Mapping[Address, Proxy]
NOBODYS: Own = {}
SETTING = "PENSTOCK_PROXIES__ENCRYPTION_KEYS"
KEY_FILE = "proxy-key"
#: In place of a password that could not be kept: there was no key.
NOT_KEPT = ""
#: How much the latest answer counts in the average.
WEIGHT = 0.2
GIGABYTE = 10**9
C = proxies.c


class Origin(StrEnum):
    """Who brought a proxy in."""

    SETTINGS = "settings"
    ADMIN = "admin"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which proxies are wanted, newest first, behind a place."""

    active: bool | None = None
    healthy: bool | None = None
    before: str | None = None
    limit: int | None = None


EVERY = Filter()


@dataclass(frozen=True, slots=True)
class Rotation:
    """How many passwords are encrypted anew, and of which proxies they could not be opened."""

    rotated: int
    lost: tuple[str, ...]


def open_box(settings: ProxySettings, store: StoreSettings) -> SecretBox:
    """The keys of passwords; an embedded store has one of its own if none is set."""
    file = None if store.is_shared else store.keys / KEY_FILE
    return SecretBox(settings.encryption_keys, SETTING, file)


# ── reading


def list_proxies(unit: Unit, wanted: Filter = EVERY) -> list[Row]:
    """Proxies, newest first, one more than wanted if there are more."""
    query = select(proxies).order_by(C.id.desc())
    if wanted.active is not None:
        query = query.where(C.is_active == wanted.active)
    if wanted.healthy is not None:
        query = query.where(C.is_healthy == wanted.healthy)
    if wanted.before is not None:
        query = query.where(C.id < wanted.before)
    if wanted.limit is not None:
        query = query.limit(wanted.limit + 1)
    return list(unit.rows(query))


def find_proxy(unit: Unit, proxy_id: str) -> Row | None:
    """One proxy."""
    return next(unit.rows(select(proxies).where(C.id == proxy_id)), None)


def find_at(unit: Unit, address: Address) -> Row | None:
    """The proxy with an address."""
    return next(unit.rows(select(proxies).where(_is_at(address))), None)


def cost_of(row: Mapping[str, Any]) -> int | None:
    """What a proxy has cost so far, in millionths of a unit; None if nobody said its price."""
    rate: int | None = row["cost_per_gb_micros"]
    carried: int = row["bytes_carried"]
    return None if rate is None else carried * rate // GIGABYTE


def proxy_of(row: Mapping[str, Any], box: SecretBox, own: Own = NOBODYS) -> tuple[Proxy, str]:
    """The proxy of a row, and what is wrong with it, if its password cannot be opened.

    Who has it in the settings (`own`) needs no other password.
    """
    if row["origin"] == Origin.SETTINGS and (configured := own.get(address_of(row))):
        return configured, ""
    password, problem = "", ""
    if (sealed := row["proxy_password"]) is not None:
        try:
            password = box.open(sealed)
        except SecretLost as error:
            problem = f"its password cannot be used: {error}"
    protocol = cast(Literal["http", "https", "socks5"], row["proxy_protocol"])
    host, port, user = row["proxy_url"], row["proxy_port"], row["proxy_username"]
    return Proxy(protocol, host, port, user, password, row["region"]), problem


def address_of(row: Mapping[str, Any]) -> Address:
    """What makes the proxy of a row the same one."""
    return Address(
        row["proxy_protocol"], row["proxy_url"], row["proxy_port"], row["proxy_username"]
    )


def known_proxies(unit: Unit, box: SecretBox, own: Own) -> list[Known]:
    """All proxies, as a pool takes them."""
    return [_known(row, unit.now, box, own) for row in reversed(list_proxies(unit))]


def _known(row: Mapping[str, Any], now: int, box: SecretBox, own: Own) -> Known:
    proxy, problem = proxy_of(row, box, own)
    used = row["last_used_at"]
    return Known(
        proxy,
        active=row["is_active"],
        healthy=row["is_healthy"],
        failures_in_a_row=row["failure_count"],
        idle=None if used is None else max(0, now - used) / 1000,
        problem=problem,
    )


# ── changes by people


def insert_proxy(
    unit: Unit,
    proxy: Proxy,
    box: SecretBox,
    origin: Origin = Origin.ADMIN,
    cost_per_gb_micros: int | None = None,
) -> str | None:
    """Add a proxy; its id, or None if there is one at its address already.

    Raises `SettingsError` if it has a password and there is no key.
    """
    proxy_id = new_id()
    row = {
        "id": proxy_id,
        "proxy_url": proxy.host,
        "proxy_port": proxy.port,
        "proxy_protocol": proxy.protocol,
        "proxy_username": proxy.user,
        "proxy_password": _sealed(proxy.password, box, origin),
        "region": proxy.region,
        "origin": origin,
        "cost_per_gb_micros": cost_per_gb_micros,
        "created_at": unit.now,
        "updated_at": unit.now,
    }
    inserted = unit.run(do_nothing(unit.insert(proxies)), row).rowcount == 1
    return proxy_id if inserted else None


def edit_proxy(unit: Unit, proxy_id: str, **changes: Any) -> None:
    """Change columns of a proxy."""
    statement = update(proxies).where(C.id == proxy_id)
    unit.run(statement.values(**changes, updated_at=unit.now))


def enable_proxy(unit: Unit, proxy_id: str) -> None:
    """Let a proxy be chosen again; its failures in a row are forgotten."""
    edit_proxy(unit, proxy_id, is_active=True, is_healthy=True, failure_count=0)


def delete_proxy(unit: Unit, proxy_id: str) -> None:
    """Forget a proxy with all that was counted of it."""
    unit.run(delete(proxies).where(C.id == proxy_id))


def rotate_passwords(unit: Unit, box: SecretBox) -> Rotation:
    """Encrypt every password with the first key; those that no key opens stay as they are."""
    rotated, lost = 0, []
    for row in unit.rows(select(proxies).where(C.proxy_password.is_not(None)).order_by(C.id)):
        proxy, problem = proxy_of(row, box)
        if problem:
            lost.append(row["id"])
            continue
        statement = update(proxies).where(C.id == row["id"])
        unit.run(statement.values(proxy_password=box.seal(proxy.password)))
        rotated += 1
    return Rotation(rotated, tuple(lost))


# ── the settings


def seed_proxies(unit: Unit, endpoints: Own, box: SecretBox) -> list[Proxy]:
    """Let the table have the proxies of the settings; those that were retired now."""
    # Processes start together; two of them must not insert the same address.
    unit.take_turns("proxies of the settings")
    rows = {address_of(row): row for row in list_proxies(unit)}
    for address, proxy in endpoints.items():
        if row := rows.get(address):
            _take_up(unit, row, proxy, box)
        else:
            insert_proxy(unit, proxy, box, Origin.SETTINGS)
    retired = []
    for address, row in rows.items():
        if row["origin"] == Origin.SETTINGS and address not in endpoints:
            edit_proxy(unit, row["id"], origin=Origin.RETIRED, is_active=False)
            retired.append(proxy_of(row, box)[0])
    return retired


def _take_up(unit: Unit, row: Row, proxy: Proxy, box: SecretBox) -> None:
    """Bring a row up to date with the settings, unless it is an admin's."""
    if row["origin"] == Origin.ADMIN:
        return
    changes: Row = {}
    if row["origin"] == Origin.RETIRED:
        changes |= {"origin": Origin.SETTINGS, "is_active": True}
        changes |= {"is_healthy": True, "failure_count": 0}
    if row["region"] != proxy.region:
        changes["region"] = proxy.region
    kept, problem = proxy_of(row, box)
    if problem or kept.password != proxy.password:
        sealed = _sealed(proxy.password, box, Origin.SETTINGS)
        if sealed != row["proxy_password"]:
            changes["proxy_password"] = sealed
    if changes:
        edit_proxy(unit, row["id"], **changes)


def _sealed(password: str, box: SecretBox, origin: Origin) -> str | None:
    if not password:
        return None
    try:
        return box.seal(password)
    except SettingsError:
        # Who has the settings has the password, too.
        if origin is Origin.SETTINGS:
            return NOT_KEPT
        raise


# ── what processes saw


def add_deltas(
    unit: Unit, deltas: Mapping[Address, Delta], monotonic: float, max_failures: int
) -> None:
    """Add what a process saw; `monotonic` is what its clock shows now."""
    # In one order: then nobody waits in a circle.
    for address, delta in sorted(deltas.items()):
        values = _counts(delta, max_failures)
        moments = {"used": delta.used, "success": delta.succeeded, "failure": delta.failed}
        for name, moment in moments.items():
            if moment is not None:
                at = unit.now - round((monotonic - moment) * 1000)
                column = C[f"last_{name}_at"]
                values[column.name] = case((column > at, column), else_=literal(at, Moment))
        if delta.healthy is not None:
            values |= {"is_healthy": delta.healthy, "updated_at": unit.now}
        unit.run(update(proxies).where(_is_at(address)).values(values))


def _counts(delta: Delta, max_failures: int) -> dict[str, Any]:
    in_a_row: ColumnElement[int] = C.failure_count + delta.in_a_row
    if delta.successes:
        in_a_row = literal(delta.in_a_row)
    values: dict[str, Any] = {
        "success_count": C.success_count + delta.successes,
        "total_failures": C.total_failures + delta.failures,
        "bytes_carried": C.bytes_carried + delta.bytes,
        "failure_count": in_a_row,
    }
    if delta.failures:
        values["is_active"] = and_(C.is_active, in_a_row <= literal(max_failures))
    if delta.answers:
        values["avg_response_time_ms"] = _average(delta)
    return values


def _average(delta: Delta) -> ColumnElement[int]:
    """The moving average after some answers, each taken to be of their mean."""
    average, mean = C.avg_response_time_ms, delta.seconds / delta.answers * 1000
    weight = literal(1 - math.pow(1 - WEIGHT, delta.answers), Float)
    moved = average + (literal(mean, Float) - average) * weight
    return case((average.is_(None), round(mean)), else_=as_type(func.round(moved), Integer))


def _is_at(address: Address) -> ColumnElement[bool]:
    return and_(
        C.proxy_protocol == address.protocol,
        C.proxy_url == address.host,
        C.proxy_port == address.port,
        C.proxy_username == address.user,
    )
