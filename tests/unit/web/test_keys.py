"""API keys: what is kept of them, what they are good for, and how often."""

import stat
from pathlib import Path

import pytest

from penstock.core.errors import SettingsError
from penstock.web.keys import Key, KeyRing, Keys, RateLimiter, Scope, hash_of, service_key
from penstock.web.settings import ApiSettings
from penstock.web.tables import api_keys
from tests.clocks import HandClock
from tests.stores import rows_of, sqlite_stores


async def test_only_the_hash_of_a_key_is_kept(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        store = await stores.open()
        key, secret = await Keys(store).create("ci", [Scope.READ], workspace_id="acme")
        (row,) = await rows_of(store, api_keys)

    assert secret not in str(row)
    assert row["hash"] == hash_of(secret) == key.hash
    assert row["workspace_id"] == "acme"


async def test_a_revoked_or_expired_key_is_found_no_more(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        store, clock = await stores.open(), HandClock()
        ring = KeyRing(Keys(store), "service", ApiSettings(), clock)
        key, revoked = await Keys(store).create("a", [Scope.READ])
        _, expiring = await Keys(store).create("b", [Scope.READ], lifetime=60)
        assert await ring.find(revoked)
        assert await ring.find(expiring)
        await Keys(store).revoke(key.id)
        clock.move(61)

        assert await ring.find(revoked) is None
        assert await ring.find(expiring) is None
        assert await ring.find("no key") is None


async def test_the_service_key_is_good_for_everything(tmp_path: Path) -> None:
    async with sqlite_stores(tmp_path) as stores:
        ring = KeyRing(Keys(await stores.open()), "service", ApiSettings(), HandClock())
        key = await ring.find("service")

    assert key is not None
    assert all(key.allows(scope) for scope in Scope)
    assert key.may_see("any workspace")


def test_admin_is_good_for_everything_and_read_for_reading_alone() -> None:
    admin = Key("1", "a", "", frozenset({Scope.ADMIN}))
    reader = Key("2", "r", "", frozenset({Scope.READ}))

    assert admin.allows(Scope.SCRAPE)
    assert reader.allows(Scope.READ)
    assert not reader.allows(Scope.SCRAPE)
    assert not reader.allows(Scope.ADMIN)


def test_a_minute_of_requests_may_come_at_once_and_then_one_by_one() -> None:
    clock = HandClock()
    clock.move(-clock.monotonic() + 1.0)  # the machine has just started
    limiter = RateLimiter(clock)
    key = Key("1", "a", "", frozenset(), rate_limit=30)

    assert [limiter.take(key) for _ in range(30)] == [None] * 30
    assert limiter.take(key) == pytest.approx(2.0)
    clock.move(2.0)
    assert limiter.take(key) is None
    assert limiter.take(key) is not None


def test_a_service_key_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    made, is_new = service_key(ApiSettings(), tmp_path / "keys")
    again = service_key(ApiSettings(), tmp_path / "keys")

    assert is_new
    assert again == (made, False)
    (file,) = (tmp_path / "keys").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(made) > 40


def test_a_configured_service_key_wins(tmp_path: Path) -> None:
    assert service_key(ApiSettings(service_key="mine"), tmp_path) == ("mine", False)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file")

    with pytest.raises(SettingsError, match="PENSTOCK_API__SERVICE_KEY"):
        service_key(ApiSettings(), tmp_path / "keys")
