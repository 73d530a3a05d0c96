"""Quarantined offers on both engines: decided once, by somebody, for a reason."""

import asyncio
from decimal import Decimal

import pytest
from sqlalchemy import update

from penstock.products.history import find
from penstock.web.errors import Conflict, InvalidRequest, NotFound
from penstock.workloads.monitor.model import QuarantineStatus
from penstock.workloads.monitor.tables import quarantined_offers
from tests.monitors import Monitor, open_monitor
from tests.stores import Stores, lose_next_commit


async def with_a_jump(stores: Stores) -> tuple[Monitor, str]:
    """A monitor, and an offer that was set aside because its price jumped."""
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)
    await monitor.run(monitor.good)
    await monitor.make_due()
    await monitor.run(monitor.showing(price="199.99"))
    [offer] = await monitor.set_aside()
    return monitor, offer["id"]


async def test_a_release_writes_the_price_with_where_it_is_from(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    released = await monitor.quarantine.release(offer_id, who="ann", why="they really ask that")
    run = (await monitor.all_runs())[-1]
    price = next(row for row in await monitor.all_prices() if row["id"] == released["price_id"])
    assert (price["price"], price["ingestion_run_id"]) == (Decimal("199.99"), run["id"])
    assert (price["ingestion_run_type"], price["target_id"]) == ("SCRAPE", released["target_id"])
    assert price["observed_at"] == released["observed_at"]
    row = await monitor.quarantine.get(offer_id)
    assert (row["status"], row["decided_by"]) == ("RELEASED", "ann")
    assert row["decision_note"] == "they really ask that"
    # What was released is what the next price is compared with.
    await monitor.make_due()
    run = await monitor.run(monitor.showing(price="189.99"))
    assert run["offers_valid"] == 1


async def test_a_discarded_offer_leaves_no_price(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    await monitor.quarantine.discard(offer_id, who="ann", why="a mistake of the shop")
    assert len(await monitor.all_prices()) == 1
    assert await monitor.quarantine.list() == []
    [row] = await monitor.quarantine.list(status=QuarantineStatus.DISCARDED)
    assert row["id"] == offer_id


async def test_an_offer_is_decided_on_once_however_many_try(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    answers = await asyncio.gather(
        *(monitor.quarantine.release(offer_id, who=name, why="fine") for name in "abc"),
        monitor.quarantine.discard(offer_id, who="d", why="not fine"),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, Conflict) for answer in answers) == 3
    assert len(await monitor.all_prices()) <= 2


async def test_a_release_whose_commit_was_not_heard_of_is_no_conflict(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    lose_next_commit(monitor.store)
    released = await monitor.quarantine.release(offer_id, who="ann", why="fine")
    assert released["status"] == "RELEASED"
    assert len(await monitor.all_prices()) == 2


async def test_who_and_why_are_asked_for(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    with pytest.raises(InvalidRequest, match="why"):
        await monitor.quarantine.release(offer_id, who="ann", why=" ")
    with pytest.raises(InvalidRequest, match="who"):
        await monitor.quarantine.discard(offer_id, who="", why="x")
    with pytest.raises(NotFound):
        await monitor.quarantine.discard("nonsense", who="ann", why="x")


async def test_an_offer_without_a_price_needs_one_to_be_released(stores: Stores) -> None:
    monitor = await open_monitor(stores)
    await monitor.targets(await monitor.source(), 1)
    await monitor.run(monitor.showing(shown="24.99"))
    [offer] = await monitor.set_aside()
    assert offer["reason"] == "AMBIGUOUS_PRICE"
    with pytest.raises(InvalidRequest, match="name the right price"):
        await monitor.quarantine.release(offer["id"], who="ann", why="I looked")
    await monitor.quarantine.release(
        offer["id"], who="ann", why="I looked", price=Decimal("24.99"), currency="USD"
    )
    [price] = await monitor.all_prices()
    assert price["price"] == Decimal("24.99")


async def test_results_are_forgotten_but_not_the_last_good_one_nor_what_waits(
    stores: Stores,
) -> None:
    monitor, _ = await with_a_jump(stores)
    await monitor.make_due()
    await monitor.run(monitor.changed_markup)
    assert len(await monitor.results()) == 3
    assert await monitor.upkeep.forget_results(-1) == 1
    reasons = {row["reason"] for row in await monitor.results()}
    assert reasons == {None, "VALIDATION_FAILED"}


async def test_a_release_of_the_newest_price_is_announced_and_shows_who_did_it(
    stores: Stores,
) -> None:
    monitor, offer_id = await with_a_jump(stores)
    monitor.changes.clear()
    released = await monitor.quarantine.release(offer_id, who="ann", why="they ask that")
    [change] = monitor.changes
    assert (change.price_id, str(change.after.price)) == (released["price_id"], "199.99")
    assert "price.changed" in await monitor.topics()
    row = await monitor.store.read(lambda unit: find(unit, released["price_id"]))
    assert row is not None
    assert row["released_by"] == "ann"


async def test_a_release_of_an_older_price_is_no_news(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    await monitor.make_due()
    await monitor.run(monitor.good)
    monitor.changes.clear()
    await monitor.quarantine.release(offer_id, who="ann", why="they asked that")
    assert monitor.changes == []
    assert "price.changed" not in await monitor.topics()


async def test_another_currency_needs_a_price_and_must_exist(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    release = monitor.quarantine.release
    with pytest.raises(InvalidRequest, match="price"):
        await release(offer_id, who="ann", why="x", currency="EUR")
    with pytest.raises(InvalidRequest, match="currency"):
        await release(offer_id, who="ann", why="x", currency="QQQ", price=Decimal("5"))
    assert len(await monitor.all_prices()) == 1


async def test_a_corrected_price_has_a_cost_per_round_of_its_own(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    [row] = await monitor.set_aside()
    offer = {**row["offer"], "cost_per_round_minor": "399.98", "round_count": 50}
    changed = update(quarantined_offers).values(offer=offer)
    await monitor.store.write(lambda unit: unit.run(changed) and None)
    released = await monitor.quarantine.release(
        offer_id, who="ann", why="a digit too many", price=Decimal("20.00")
    )
    [price] = [row for row in await monitor.all_prices() if row["id"] == released["price_id"]]
    assert price["cost_per_round"] == Decimal("0.4")


async def test_old_runs_are_forgotten_when_nothing_of_them_is_needed(stores: Stores) -> None:
    monitor, offer_id = await with_a_jump(stores)
    await monitor.make_due()
    await monitor.run(monitor.changed_markup)
    await monitor.upkeep.forget_results(-1)
    assert await monitor.upkeep.forget_runs(1) == 0
    # One has the last good result, and one an offer that waits.
    assert await monitor.upkeep.forget_runs(-1) == 1
    await monitor.quarantine.discard(offer_id, who="ann", why="a mistake")
    assert await monitor.upkeep.forget_results(-1) == 1
    assert await monitor.upkeep.forget_runs(-1) == 1
    assert await monitor.set_aside() == []
    assert len(await monitor.all_runs()) == 1
