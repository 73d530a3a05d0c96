"""Quarantined offers on both engines: decided once, by somebody, for a reason."""

import asyncio
from decimal import Decimal

import pytest

from penstock.web.errors import Conflict, InvalidRequest, NotFound
from penstock.workloads.monitor.model import QuarantineStatus
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
