"""API keys: kept as hashes, each with scopes, a workspace, an expiry and a rate limit."""

import hashlib
import hmac
import math
import os
import secrets
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update

from penstock.core.clock import Clock
from penstock.core.errors import SettingsError
from penstock.core.ids import new_id
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.settings import ApiSettings
from penstock.web.tables import api_keys

PREFIX = "pk_"
SERVICE = "service"
SERVICE_KEY_FILE = "service-key"


class Scope(StrEnum):
    """What a key is good for."""

    READ = "read"
    SCRAPE = "scrape"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Key:
    """A key, without what would let anybody use it."""

    id: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    workspace_id: str | None = None
    rate_limit: int | None = None
    created_at: int | None = None
    expires_at: int | None = None
    revoked_at: int | None = None

    def allows(self, scope: Scope) -> bool:
        """Whether the key is good for something."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    def may_see(self, workspace: str) -> bool:
        """Whether things of a workspace are the key's business."""
        return self.workspace_id in (None, workspace)

    def is_good_at(self, now: int) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def as_json(self) -> dict[str, Any]:
        """The key for people to look at."""
        return {
            "id": self.id,
            "name": self.name,
            "scopes": sorted(self.scopes),
            "workspace_id": self.workspace_id,
            "rate_limit": self.rate_limit,
            "created_at": self.created_at,
            "expires_at": self.expires_at,
            "revoked_at": self.revoked_at,
        }


def hash_of(secret: str) -> str:
    """What is kept of a key; keys have so much chance in them that a plain hash is enough."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


class Keys:
    """The keys in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def create(
        self,
        name: str,
        scopes: Collection[Scope],
        *,
        workspace_id: str | None = None,
        rate_limit: int | None = None,
        lifetime: float | None = None,
    ) -> tuple[Key, str]:
        """A new key and its secret, which cannot be had again."""
        secret = PREFIX + secrets.token_urlsafe(32)

        def add(unit: Unit) -> Key:
            key = Key(
                id=new_id(),
                name=name,
                hash=hash_of(secret),
                scopes=frozenset(scopes),
                workspace_id=workspace_id,
                rate_limit=rate_limit,
                created_at=unit.now,
                expires_at=None if lifetime is None else unit.now + int(lifetime * 1000),
            )
            unit.run(insert(api_keys), {**key.as_json(), "hash": key.hash})
            return key

        return await self._store.write(add), secret

    async def all(self) -> list[Key]:
        """Every key, oldest first."""
        query = select(api_keys).order_by(api_keys.c.id)
        return await self._store.read(lambda unit: [_as_key(row) for row in unit.rows(query)])

    async def revoke(self, key_id: str) -> bool:
        """Let a key be good for nothing any more; whether there was such a key."""

        def mark(unit: Unit) -> bool:
            statement = update(api_keys).where(api_keys.c.id == key_id)
            return unit.run(statement.values(revoked_at=unit.now)).rowcount == 1

        return await self._store.write(mark)


def _as_key(row: Mapping[str, Any]) -> Key:
    known = {scope.value for scope in Scope}
    names = ("id", "name", "hash", "workspace_id", "rate_limit", "created_at")
    return Key(
        **{name: row[name] for name in names},
        scopes=frozenset(Scope(name) for name in row["scopes"] if name in known),
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )


class KeyRing:
    """The keys that are good now; looked up in the store every few seconds, not every time."""

    def __init__(self, keys: Keys, service_key: str, settings: ApiSettings, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._lifetime = settings.keys_seconds
        self._service = Key(
            SERVICE,
            SERVICE,
            hash_of(service_key),
            frozenset(Scope),
            rate_limit=settings.service_rate_limit,
        )
        self._known: dict[str, Key] = {}
        self._look_again_at = -1.0

    async def find(self, secret: str) -> Key | None:
        """The key with this secret, if it is good."""
        return await self.find_by_hash(hash_of(secret))

    async def find_by_hash(self, digest: str) -> Key | None:
        """The key of which this is kept, if it is good."""
        if hmac.compare_digest(digest, self._service.hash):
            return self._service
        if self._clock.monotonic() >= self._look_again_at:
            self._known = {key.hash: key for key in await self._keys.all()}
            self._look_again_at = self._clock.monotonic() + self._lifetime
        key = self._known.get(digest)
        now = int(self._clock.now().timestamp() * 1000)
        if key is None or not hmac.compare_digest(digest, key.hash) or not key.is_good_at(now):
            return None
        return key


class RateLimiter:
    """Counts a key's requests: a minute's worth may come at once, then one by one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free_at: dict[str, float] = {}

    def take(self, key: Key) -> float | None:
        """None if a request may go ahead, else in how many seconds it may."""
        if key.rate_limit is None:
            return None
        now, step = self._clock.monotonic(), 60.0 / key.rate_limit
        # The time up to which the key's requests are spoken for, one step each.
        at = max(self._free_at.get(key.id, -math.inf), now - 60.0)
        if at + step > now + 1e-9:
            return at + step - now
        self._free_at[key.id] = at + step
        return None


def service_key(settings: ApiSettings, folder: Path) -> tuple[str, bool]:
    """The configured service key, else the one that was made earlier, else a new one.

    The flag says that it is new: then it has to be shown, once.
    """
    if configured := settings.service_key.get_secret_value():
        return configured, False
    path = folder / SERVICE_KEY_FILE
    try:
        is_new = not path.exists() and _write_new_key(path)
        return path.read_text(encoding="ascii").strip(), is_new
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} cannot be used: let Penstock write there, or set PENSTOCK_API__SERVICE_KEY"
        ) from error


def _write_new_key(path: Path) -> bool:
    """Write a key whole and at once, unless another process was faster; whether it is ours."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, (PREFIX + secrets.token_urlsafe(32)).encode())
        os.fsync(file)
        with suppress(FileExistsError):
            path.hardlink_to(draft)
            return True
        return False
    finally:
        os.close(file)
        draft.unlink()
