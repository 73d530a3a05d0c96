"""Proxies for people: added, imported, tested, enabled and removed; never shown with a password."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.core.errors import SettingsError
from penstock.core.log import get_logger
from penstock.core.secrets import SecretBox
from penstock.kernel.model import Proxy
from penstock.kernel.proxies import FORM, Address, Check, read_proxy
from penstock.store.proxies import (
    EVERY,
    Filter,
    Origin,
    Own,
    Rotation,
    Row,
    cost_of,
    delete_proxy,
    edit_proxy,
    enable_proxy,
    find_at,
    find_proxy,
    insert_proxy,
    list_proxies,
    proxy_of,
    rotate_passwords,
)
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Conflict, NotFound, invalid

T = TypeVar("T")
MOST_LINES = 10_000
LONGEST_USER, LONGEST_PASSWORD = 100, 255
IN_SETTINGS = "It stands in PENSTOCK_PROXIES__ENDPOINTS: change it there, or disable it"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line; the line itself is not shown, for it may have a password."""

    line: int
    problem: str


@dataclass(frozen=True, slots=True)
class Report:
    """What came of an import: all that is new was added, or nothing if anything is wrong."""

    lines: int
    added: int
    skipped: int
    dry_run: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Tested:
    """Whether a proxy accepts connections, and why it cannot be used if it does not."""

    id: str
    ok: bool
    problem: str | None = None


class Proxies:
    """The proxies of a store; `check` connects to one, `own` are those of our settings."""

    def __init__(self, store: Store, box: SecretBox, check: Check, own: Own) -> None:
        self._store = store
        self._box = box
        self._check = check
        self._own = own

    async def list(self, wanted: Filter = EVERY) -> list[Row]:
        """Proxies, newest first, one more than wanted if there are more."""
        rows = await self._store.read(lambda unit: list_proxies(unit, wanted))
        return [self._shown(row) for row in rows]

    async def get(self, proxy_id: str) -> Row:
        """One proxy."""
        return self._shown(await self._store.read(lambda unit: _found(unit, proxy_id)))

    async def add(self, proxy: Proxy, who: str, cost_per_gb_micros: int | None = None) -> Row:
        """Add a proxy; it is used by every process within seconds."""
        if problem := _too_long(proxy):
            raise invalid("proxy", problem)

        def add(unit: Unit) -> Row:
            proxy_id = insert_proxy(unit, proxy, self._box, Origin.ADMIN, cost_per_gb_micros)
            if proxy_id is None:
                there = find_at(unit, Address.of(proxy))
                raise Conflict(f"There is such a proxy already: {there['id'] if there else ''}")
            return _found(unit, proxy_id)

        row = await self._write(add)
        get_logger().info("proxy added", proxy=str(proxy), by=who)
        return self._shown(row)

    async def load(self, text: str, who: str, *, dry_run: bool = False) -> Report:
        """Add one proxy a line, all that are not there yet, or none if a line is wrong."""
        entries = _entries(text)
        if len(entries) > MOST_LINES:
            raise invalid("text", f"more than {MOST_LINES} lines: split it")
        problems = [
            Problem(line, entry) for line, entry in entries.items() if isinstance(entry, str)
        ]
        wanted = {Address.of(each): each for each in entries.values() if isinstance(each, Proxy)}
        added = 0
        if not problems:
            added = await self._write(lambda unit: self._add_all(unit, wanted, dry_run))
        skipped = 0 if problems else len(entries) - added
        if added and not dry_run:
            get_logger().info("proxies imported", added=added, by=who)
        return Report(len(entries), added, skipped, dry_run, tuple(problems))

    def _add_all(self, unit: Unit, wanted: Own, dry_run: bool) -> int:
        new = [proxy for address, proxy in wanted.items() if find_at(unit, address) is None]
        if any(proxy.password for proxy in new):
            # A dry run is to say it, too.
            self._box.seal("")
        if dry_run:
            return len(new)
        return sum(insert_proxy(unit, proxy, self._box) is not None for proxy in new)

    async def edit(self, proxy_id: str, who: str, **changes: Any) -> Row:
        """Change password, region or price of a proxy."""

        def edit(unit: Unit) -> Row:
            row = _found(unit, proxy_id)
            if row["origin"] == Origin.SETTINGS and {"password", "region"} & set(changes):
                raise Conflict(IN_SETTINGS)
            values = dict(changes)
            if "password" in values:
                password = values.pop("password")
                values["proxy_password"] = self._box.seal(password) if password else None
            edit_proxy(unit, proxy_id, **values)
            return _found(unit, proxy_id)

        return await self._changed(edit, "proxy changed", who)

    async def enable(self, proxy_id: str, who: str) -> Row:
        """Let a proxy be chosen again, by every process within seconds."""
        return await self._changed(_then(enable_proxy, proxy_id), "proxy enabled", who)

    async def disable(self, proxy_id: str, who: str) -> Row:
        """Let a proxy be chosen no more, by any process, until it is enabled."""

        def disable(unit: Unit, proxy_id: str) -> None:
            edit_proxy(unit, proxy_id, is_active=False)

        return await self._changed(_then(disable, proxy_id), "proxy disabled", who)

    async def remove(self, proxy_id: str, who: str) -> Row:
        """Forget a proxy and what was counted of it; as it was."""

        def remove(unit: Unit) -> Row:
            row = _found(unit, proxy_id)
            if row["origin"] == Origin.SETTINGS:
                raise Conflict(IN_SETTINGS)
            delete_proxy(unit, proxy_id)
            return row

        return await self._changed(remove, "proxy removed", who)

    async def test(self, proxy_id: str) -> Tested:
        """Connect to a proxy once; whether that worked is what is known of its health then."""
        row = await self._store.read(lambda unit: _found(unit, proxy_id))
        proxy, problem = proxy_of(row, self._box, self._own)
        if problem:
            return Tested(proxy_id, ok=False, problem=problem)
        ok = await self._check(proxy)
        if ok != row["is_healthy"]:
            await self._store.write(lambda unit: edit_proxy(unit, proxy_id, is_healthy=ok))
        return Tested(proxy_id, ok, None if ok else f"{proxy} does not accept connections")

    async def rotate_keys(self) -> Rotation:
        """Encrypt every password with the first key."""
        return await self._write(lambda unit: rotate_passwords(unit, self._box))

    async def _changed(self, change: Callable[[Unit], Row], said: str, who: str) -> Row:
        row = self._shown(await self._write(change))
        get_logger().info(said, proxy=row["id"], by=who)
        return row

    async def _write(self, work: Callable[[Unit], T]) -> T:
        try:
            return await self._store.write(work)
        except SettingsError as error:
            raise invalid("proxy_password", str(error)) from None

    def _shown(self, row: Row) -> Row:
        """A row for people: whether there is a password, and what it costs."""
        proxy, problem = proxy_of(row, self._box, self._own)
        has_password = bool(proxy.password) or row["proxy_password"] is not None
        shown = {name: value for name, value in row.items() if name != "proxy_password"}
        return shown | {
            "has_password": has_password,
            "cost_micros": cost_of(row),
            "problem": problem or None,
        }


def _found(unit: Unit, proxy_id: str) -> Row:
    row = find_proxy(unit, proxy_id)
    if row is None:
        raise NotFound("Proxy not found")
    return row


def _then(change: Callable[[Unit, str], None], proxy_id: str) -> Callable[[Unit], Row]:
    """Make a change to a proxy that there is; it as it is then."""

    def work(unit: Unit) -> Row:
        _found(unit, proxy_id)
        change(unit, proxy_id)
        return _found(unit, proxy_id)

    return work


def _entries(text: str) -> dict[int, Proxy | str]:
    """By line a proxy, or what is wrong; empty lines and those that begin with # are none."""
    found: dict[int, Proxy | str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            proxy = read_proxy(line)
            found[number] = FORM if proxy is None else _too_long(proxy) or proxy
    return found


def _too_long(proxy: Proxy) -> str | None:
    if len(proxy.user) > LONGEST_USER:
        return f"the user's name is longer than {LONGEST_USER} characters"
    if len(proxy.password) > LONGEST_PASSWORD:
        return f"the password is longer than {LONGEST_PASSWORD} characters"
    return None
