"""The table of proxies on both engines: two pools stand for two processes."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from pydantic import SecretStr

from penstock.core.errors import SettingsError, StoreError
from penstock.core.secrets import SecretBox
from penstock.kernel.model import Proxy, ProxyFailed
from penstock.kernel.proxies import Address, Carried, Delta, ProxyPool, parse_proxy
from penstock.kernel.settings import ProxySettings
from penstock.store.proxies import (
    Filter,
    Origin,
    add_deltas,
    cost_of,
    delete_proxy,
    edit_proxy,
    enable_proxy,
    insert_proxy,
    list_proxies,
    proxy_of,
    rotate_passwords,
)
from penstock.store.proxy_keeper import ProxyKeeper
from penstock.store.store import Store
from penstock.store.tables import proxies
from penstock.store.unit import Unit
from tests.clocks import HandClock
from tests.stores import Stores, rows_of

PASSWORD = "hunter2"
OLD, NEW = "the old passphrase", "the new passphrase"
A = parse_proxy(f"http://jo:{PASSWORD}@a.test:1#de")
B = parse_proxy("socks5://b.test:2")


def box_of(*keys: str) -> SecretBox:
    return SecretBox([SecretStr(key) for key in keys], "PENSTOCK_PROXIES__ENCRYPTION_KEYS")


class Process:
    """A pool and its keeper, on a clock of its own."""

    def __init__(
        self, store: Store, *endpoints: str, keys: Sequence[str] = (NEW,), seeds: bool = True
    ) -> None:
        settings = ProxySettings.model_validate(
            {"endpoints": endpoints, "domain_cooldown_seconds": 0}
        )
        self.clock = HandClock()
        self.pool = ProxyPool(settings, self.clock)
        self.keeper = ProxyKeeper(
            store, self.pool, settings, box_of(*keys), self.clock, seeds=seeds
        )

    async def exchange(self) -> None:
        assert await self.keeper.exchange()

    def states(self) -> dict[str, tuple[bool, bool]]:
        """Of each proxy, whether it is active and healthy."""
        return {member.proxy.host: (member.active, member.healthy) for member in self.pool.members}


@pytest.fixture
async def other_store(stores: Stores) -> Store:
    return await stores.open()


async def add(store: Store, proxy: Proxy = A, **more: Any) -> str:
    proxy_id = await store.write(lambda unit: insert_proxy(unit, proxy, box_of(NEW), **more))
    assert proxy_id
    return proxy_id


async def row_at(store: Store, host: str = "a.test") -> dict[str, Any]:
    (row,) = [row for row in await rows_of(store, proxies) if row["proxy_url"] == host]
    return row


async def test_settings_seed_the_table_with_encrypted_passwords(store: Store) -> None:
    await Process(store, f"http://jo:{PASSWORD}@a.test:1#de", "socks5://b.test:2").exchange()
    await Process(store, f"http://jo:{PASSWORD}@a.test:1#de", "socks5://b.test:2").exchange()

    a, b = await row_at(store), await row_at(store, "b.test")
    assert (a["origin"], a["is_active"], a["region"]) == ("settings", True, "de")
    assert PASSWORD not in str(a)
    assert proxy_of(a, box_of(NEW)) == (A, "")
    assert b["proxy_password"] is None
    assert len(await rows_of(store, proxies)) == 2


async def test_one_that_left_the_settings_is_inactive_and_comes_back_with_them(
    store: Store,
) -> None:
    first = Process(store, "http://a.test:1", "http://b.test:2")
    await first.exchange()

    await Process(store, "http://b.test:2").exchange()
    await first.exchange()

    assert first.states() == {"a.test": (False, True), "b.test": (True, True)}
    assert (await row_at(store))["origin"] == Origin.RETIRED
    await Process(store, "http://a.test:1#fr", "http://b.test:2").exchange()
    await first.exchange()
    assert first.states() == {"a.test": (True, True), "b.test": (True, True)}
    assert first.pool.lease("shop.test", "fr")


async def test_who_does_not_fetch_brings_nothing_in_and_takes_nothing_out(store: Store) -> None:
    await Process(store, "http://a.test:1").exchange()

    await Process(store, "http://b.test:2", seeds=False).exchange()

    (row,) = await rows_of(store, proxies)
    assert (row["proxy_url"], row["is_active"]) == ("a.test", True)


async def test_what_somebody_disabled_is_not_enabled_by_a_restart(store: Store) -> None:
    await Process(store, "http://a.test:1").exchange()
    row = await row_at(store)
    await store.write(lambda unit: edit_proxy(unit, row["id"], is_active=False))

    process = Process(store, "http://a.test:1")
    await process.exchange()

    assert process.states() == {"a.test": (False, True)}


async def test_an_admin_s_proxy_is_not_changed_by_the_settings(store: Store) -> None:
    await add(store)
    process = Process(store, "http://jo:another@a.test:1")

    await process.exchange()
    assert process.pool.lease("shop.test") == A
    await Process(store).exchange()

    row = await row_at(store)
    assert (row["origin"], row["is_active"]) == ("admin", True)


async def test_without_a_key_settings_work_where_they_are_known(store: Store) -> None:
    endpoint = f"http://jo:{PASSWORD}@a.test:1#de"
    knowing, other = Process(store, endpoint, keys=()), Process(store, keys=(), seeds=False)

    await knowing.exchange()
    await other.exchange()

    assert knowing.pool.lease("shop.test") == A
    assert isinstance(other.pool.lease("shop.test"), ProxyFailed)
    assert PASSWORD not in str(await row_at(store))
    assert "PENSTOCK_PROXIES__ENCRYPTION_KEYS" in other.pool.members[0].problem


async def test_without_a_key_no_password_of_an_admin_is_kept(store: Store) -> None:
    with pytest.raises(SettingsError, match="PENSTOCK_PROXIES__ENCRYPTION_KEYS is not set"):
        await store.write(lambda unit: insert_proxy(unit, A, box_of()))

    assert await store.write(lambda unit: insert_proxy(unit, B, box_of()))


async def test_an_address_is_taken_once(store: Store) -> None:
    await add(store)

    again = await store.write(lambda unit: insert_proxy(unit, A, box_of(NEW)))

    assert again is None


async def test_what_others_change_is_taken_over(store: Store, other_store: Store) -> None:
    process = Process(store)
    proxy_id = await add(other_store)
    await process.exchange()
    assert process.states() == {"a.test": (True, True)}

    await other_store.write(lambda unit: edit_proxy(unit, proxy_id, is_active=False))
    await process.exchange()
    assert process.states() == {"a.test": (False, True)}

    await other_store.write(lambda unit: enable_proxy(unit, proxy_id))
    await process.exchange()
    assert process.states() == {"a.test": (True, True)}

    await other_store.write(lambda unit: delete_proxy(unit, proxy_id))
    await process.exchange()
    assert process.states() == {}


async def test_a_failure_is_one_for_all_until_a_check_passes(
    store: Store, other_store: Store
) -> None:
    await add(store)
    one, other = Process(store), Process(other_store)
    await one.exchange()
    one.pool.failed(A)
    await one.exchange()
    await other.exchange()
    assert other.states() == {"a.test": (True, False)}

    async def passes(proxy: Proxy) -> bool:
        return True

    await other.pool.check_unhealthy(passes)
    await other.exchange()
    await one.exchange()
    assert one.states() == {"a.test": (True, True)}
    assert (await row_at(store))["failure_count"] == 1


async def test_failures_in_a_row_of_all_processes_make_it_inactive(
    store: Store, other_store: Store
) -> None:
    proxy_id = await add(store)
    one, other = Process(store), Process(other_store)
    for process, failures in ((one, 6), (other, 4)):
        await process.exchange()
        for _ in range(failures):
            process.pool.failed(A)
        await process.exchange()
    assert (await row_at(store))["is_active"]

    other.pool.failed(A)
    await other.exchange()
    await one.exchange()

    row = await row_at(store)
    assert (row["is_active"], row["failure_count"], row["total_failures"]) == (False, 11, 11)
    assert one.states() == other.states() == {"a.test": (False, False)}
    await store.write(lambda unit: enable_proxy(unit, proxy_id))
    for process in (one, other):
        await process.exchange()
        assert process.pool.lease("shop.test") == A


async def test_a_success_anywhere_breaks_the_row(store: Store, other_store: Store) -> None:
    await add(store)
    one, other = Process(store), Process(other_store)
    await one.exchange()
    await other.exchange()
    for _ in range(9):
        one.pool.failed(A)
    await one.exchange()
    other.pool.succeeded(A)
    other.pool.failed(A)
    other.pool.failed(A)
    await other.exchange()

    row = await row_at(store)
    assert (row["failure_count"], row["total_failures"], row["is_active"]) == (2, 11, True)


async def test_a_crowd_of_processes_counts_exactly(stores: Stores) -> None:
    """Six processes on three connections, each telling whenever it likes."""
    opened = [await stores.open() for _ in range(3)]
    store = opened[0]
    for proxy in (A, B):
        await add(store, proxy)
    processes = [Process(opened[number % 3], seeds=False) for number in range(6)]
    await asyncio.gather(*(process.exchange() for process in processes))

    async def work(process: Process, chance: Random) -> None:
        for _ in range(40):
            proxy = chance.choice((A, B))
            if chance.random() < 0.8:
                process.pool.succeeded(proxy, Carried(0.1, 10))
            else:
                process.pool.failed(proxy)
            if chance.random() < 0.3:
                await process.exchange()
        await process.exchange()

    await asyncio.gather(*(work(each, Random(n)) for n, each in enumerate(processes)))

    for proxy in (A, B):
        row = await row_at(store, proxy.host)
        members = [
            member
            for process in processes
            for member in process.pool.members
            if member.proxy == proxy
        ]
        successes = sum(member.successes for member in members)
        assert row["success_count"] == successes
        assert row["total_failures"] == sum(member.failures for member in members)
        assert row["bytes_carried"] == 10 * successes


async def test_moments_are_the_store_s_and_never_go_back(store: Store) -> None:
    await add(store)
    delta = Delta(successes=1, used=990.0, succeeded=995.0)

    def tell(unit: Unit, delta: Delta) -> int:
        add_deltas(unit, {Address.of(A): delta}, 1000.0, 10)
        return unit.now

    now = await store.write(lambda unit: tell(unit, delta))
    late = Delta(successes=1, used=900.0, succeeded=900.0)
    await store.write(lambda unit: tell(unit, late))

    row = await row_at(store)
    assert (row["last_used_at"], row["last_success_at"]) == (now - 10_000, now - 5_000)
    assert row["last_failure_at"] is None


async def test_the_least_recently_used_of_all_processes_is_taken(
    store: Store, other_store: Store
) -> None:
    await add(store, A)
    await add(store, B)
    one, other = Process(store), Process(other_store)
    await one.exchange()
    assert one.pool.lease("shop.test") == A
    await one.exchange()

    await other.exchange()

    assert other.pool.lease("shop.test") == B


async def test_the_average_moves_with_the_answers(store: Store) -> None:
    await add(store)
    process = Process(store)
    await process.exchange()
    averages = []
    for seconds, answers in ((0.1, 1), (0.2, 1), (0.2, 50)):
        for _ in range(answers):
            process.pool.succeeded(A, Carried(seconds, 1_000_000))
        await process.exchange()
        averages.append((await row_at(store))["avg_response_time_ms"])

    assert averages == [100, 120, 200]


async def test_cost_is_bytes_times_price(store: Store) -> None:
    await add(store, A, cost_per_gb_micros=4_500_000)
    await add(store, B)
    process = Process(store)
    await process.exchange()
    for proxy in (A, B):
        process.pool.succeeded(proxy, Carried(0.1, 2_000_000))
    await process.exchange()

    assert cost_of(await row_at(store)) == 9_000
    assert cost_of(await row_at(store, "b.test")) is None


async def test_keys_are_rotated_and_the_old_one_is_needed_no_more(store: Store) -> None:
    box = box_of(NEW, OLD)
    old = await store.write(lambda unit: insert_proxy(unit, A, box_of(OLD)))
    await store.write(lambda unit: insert_proxy(unit, B, box_of(OLD)))
    lost = await store.write(
        lambda unit: insert_proxy(unit, parse_proxy("http://x:y@c.test:1"), box_of("a third key"))
    )

    rotation = await store.write(lambda unit: rotate_passwords(unit, box))

    assert old
    assert (rotation.rotated, rotation.lost) == (1, (lost,))
    assert proxy_of(await row_at(store), box_of(NEW)) == (A, "")


async def test_a_password_that_no_key_opens_makes_its_proxy_unusable_and_no_other(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    await add(store, A)
    await add(store, B)
    process = Process(store, keys=(OLD,))

    await process.exchange()
    await process.exchange()

    problems = {member.proxy.host: member.problem for member in process.pool.members}
    assert "PENSTOCK_PROXIES__ENCRYPTION_KEYS" in problems["a.test"]
    assert problems["b.test"] == ""
    assert process.pool.lease("shop.test") == B
    assert isinstance(process.pool.lease("shop.test", avoid=[B]), ProxyFailed)
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("proxy unusable") == 1
    assert PASSWORD not in printed.out + printed.err


async def test_while_the_store_is_away_the_pool_goes_on_and_forgets_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await add(store)
    process = Process(store)
    await process.exchange()

    async def away(*_: Any) -> Any:
        raise StoreError("away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "write", away)
        patch.setattr(store, "read", away)
        process.pool.succeeded(A)
        assert not await process.keeper.exchange()
        process.pool.succeeded(A)
        assert not await process.keeper.exchange()
        assert process.pool.lease("shop.test") == A

    await process.exchange()
    assert (await row_at(store))["success_count"] == 2
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("proxies of others unknown") == 1


async def test_lists_are_filtered_and_walked(store: Store) -> None:
    ids = [await add(store, parse_proxy(f"http://p{number}.test:1")) for number in range(5)]
    await store.write(lambda unit: edit_proxy(unit, ids[0], is_active=False))
    await store.write(lambda unit: edit_proxy(unit, ids[1], is_healthy=False))

    async def listed(**wanted: Any) -> list[str]:
        rows = await store.read(lambda unit: list_proxies(unit, Filter(**wanted)))
        return [row["id"] for row in rows]

    newest_first = sorted(ids, reverse=True)
    assert await listed() == newest_first
    assert await listed(active=False) == [ids[0]]
    assert await listed(healthy=False) == [ids[1]]
    assert await listed(before=newest_first[1], limit=2) == newest_first[2:5]
