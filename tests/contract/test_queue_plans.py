"""No step of an item costs more where there are many items."""

from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import event, text

from penstock.queue.ports import Bury, Done, Ending, Item, LaneLimit, Release, Retry
from penstock.queue.sql import SqlQueue
from penstock.store.store import Store
from tests.queues import FAILURE
from tests.stores import Stores, all_of, ids_of, make_items


def note_statements(store: Store) -> dict[str, Any]:
    """Fills with every statement that the store executes from now on, and its values."""
    seen: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, statement: str, *rest: Any) -> None:
        values, _context, is_many = rest
        if statement.lstrip().startswith(("SELECT", "UPDATE")):
            seen.setdefault(statement, values[0] if is_many else values)

    for engine in {store._dialect.writing, store._dialect.reading}:
        event.listen(engine, "before_cursor_execute", note)
    return seen


async def plan_of(store: Store, statement: str, values: Any) -> str:
    explain = "EXPLAIN QUERY PLAN" if store.engine == "sqlite" else "EXPLAIN"
    return await store.read(
        lambda unit: "\n".join(
            str(row[-1])
            for row in unit.connection.exec_driver_sql(f"{explain} {statement}", values)
        )
    )


@pytest.mark.parametrize("is_analyzed", [False, True])
async def test_no_step_of_an_item_looks_at_all_items(stores: Stores, is_analyzed: bool) -> None:
    store, worker = await stores.open(), await stores.open()
    many = [make_items(100, group=f"g{group:02}") for group in range(100)]
    await SqlQueue(store, {}).put([item for some in many for item in some])
    if is_analyzed:
        await store.write(lambda unit: unit.run(text("ANALYZE")) and None)
    queue, statements = SqlQueue(worker, {"fetch": LaneLimit(10**6)}), note_statements(worker)

    claims = await queue.claim("w", ["fetch"], 20, all_of)
    endings: list[Ending] = [Done(), Retry(0, FAILURE), Release(0, park=True), Bury(FAILURE)]
    await queue.settle(list(zip(claims, endings * 5, strict=True)))
    await queue.claim_ids("w", ids_of(claims))
    await queue.put([Item("new", "fetch", {}, key="k")])
    await queue.rescue()
    await queue.revive(ids_of(claims))

    for statement, values in statements.items():
        plan = await plan_of(store, statement, values)
        assert "Seq Scan on queue_items" not in plan, statement
        assert "SCAN queue_items\n" not in f"{plan}\n", statement
        for step, condition in pairwise([*plan.splitlines(), ""]):
            if "ix_queue_items_waiting" in step:
                assert "group_key" in step + condition, statement
