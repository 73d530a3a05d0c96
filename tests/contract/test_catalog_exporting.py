"""Exports send what changed since the last time, and miss nothing that is committed late."""

import asyncio
import errno
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]
from sqlalchemy import text

from penstock.core.errors import SettingsError
from penstock.products import exporting
from penstock.products.exporting import (
    MARGIN_MS,
    ExportLost,
    Row,
    Span,
    Subject,
    export,
)
from penstock.products.tables import price_corrections, source_products
from penstock.store.store import Store
from penstock.workloads.catalog import export_files
from penstock.workloads.catalog.export_files import ParquetFolder
from tests.catalog_rows import DAY, HOUR, CatalogRows, rows_in
from tests.stores import Stores

PRODUCTS, PRICES = Subject.PRODUCTS, Subject.PRICES


class Notebook:
    """A receiver that remembers."""

    def __init__(self) -> None:
        self.watermarks: dict[Subject, int] = {}
        self.received: list[list[Row]] = []

    async def watermark(self, subject: Subject) -> int:
        return self.watermarks.get(subject, 0)

    async def receive(
        self, subject: Subject, span: Span, pages: AsyncIterator[Sequence[Row]]
    ) -> int:
        rows = [row async for page in pages for row in page]
        self.received.append(rows)
        self.watermarks[subject] = span.watermark
        return len(rows)

    @property
    def last_ids(self) -> list[str]:
        return [row["id"] for row in self.received[-1]]


@pytest.fixture
async def rows(store: Store) -> CatalogRows:
    return await rows_in(store)


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


async def test_all_products_of_the_catalogue_are_sent_in_the_order_of_their_changes(
    store: Store, rows: CatalogRows, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 2)
    site = await rows.site()
    task = await rows.task(site)
    ids = [await rows.product(site, task, at=(9 - n) * HOUR) for n in range(5)]
    await rows.product(site, task, domain_id=None, crawl_task_id=None)

    done = await export(store, notebook, PRODUCTS)

    assert (done.rows, notebook.last_ids) == (5, ids)
    (first, *_) = notebook.received[0]
    assert (first["domain_name"], first["price"]) == ("shop.example", Decimal("19.90"))
    assert first["metadata"] == '{"gtin":"00012345678905"}'


async def test_what_changed_since_is_sent_and_nothing_else(
    store: Store, rows: CatalogRows, notebook: Notebook
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    first, second = [await rows.product(site, task) for _ in range(2)]
    await export(store, notebook, PRODUCTS)
    await export(store, notebook, PRODUCTS)
    assert notebook.last_ids == []

    await rows.change(source_products, second, category="Lamps", updated_at=rows.now)
    await export(store, notebook, PRODUCTS)
    assert notebook.last_ids == [second]

    again = await export(store, notebook, PRODUCTS, since=rows.now - DAY)
    assert again.rows == 2
    assert first in notebook.last_ids


async def test_prices_are_sent_by_when_they_came_to_be_known(
    store: Store, rows: CatalogRows, notebook: Notebook
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task)
    await export(store, notebook, PRICES)

    released = await rows.price(site, product, task, at=0, observed_at=rows.now - 30 * DAY)
    await export(store, notebook, PRICES)

    assert notebook.last_ids == [released]


async def test_corrections_send_old_prices_again_as_they_count_now(
    store: Store, rows: CatalogRows, notebook: Notebook
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task, price=None, currency=None)
    hidden, other, plain = [
        await rows.price(site, product, task, at=days * DAY) for days in (9, 8, 7)
    ]
    await export(store, notebook, PRICES)
    assert notebook.last_ids == [hidden, other, plain]

    hiding = await rows.correct(hidden, "HIDE")
    await rows.correct(other, "OVERRIDE", price=Decimal("5.00"))
    await export(store, notebook, PRICES)

    found = {row["id"]: row for row in notebook.received[-1]}
    assert found.keys() == {hidden, other}
    assert found[hidden]["is_hidden"]
    assert (found[other]["price"], found[other]["price_as_seen"]) == (
        Decimal("5.00"),
        Decimal("19.90"),
    )
    assert found[other]["updated_at"] == rows.now

    await rows.change(price_corrections, hiding, revoked_at=rows.now + 1, revoked_by="ann")
    later = await store.read(lambda unit: unit.now)
    span = Span(rows.now + 1, later + 1000, later)
    back = [row async for page in exporting.pages_of(store, PRICES, span) for row in page]
    assert [(row["id"], bool(row["is_hidden"])) for row in back] == [(hidden, False)]
    assert back[0]["updated_at"] == rows.now + 1


async def test_the_watermark_leaves_room_for_what_is_being_written(
    store: Store, rows: CatalogRows, notebook: Notebook
) -> None:
    done = await export(store, notebook, PRODUCTS)
    now = await store.read(lambda unit: unit.now)

    assert rows.now - MARGIN_MS <= done.watermark <= now - MARGIN_MS


async def test_a_watermark_never_goes_back(
    store: Store, rows: CatalogRows, notebook: Notebook
) -> None:
    notebook.watermarks[PRODUCTS] = rows.now + DAY

    assert (await export(store, notebook, PRODUCTS)).watermark == rows.now + DAY


async def test_a_row_that_is_committed_late_is_not_missed(
    in_postgres: Stores, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MARGIN_MS", 0)
    store, writer = await in_postgres.open(), await in_postgres.open()
    rows = await rows_in(store)
    site = await rows.site()
    task = await rows.task(site)
    template = await rows.product(site, task)
    is_stamped, may_commit = asyncio.Event(), asyncio.Event()

    async def write_slowly() -> None:
        """Stamp a row, and commit it when others have been exported."""
        copy = text(
            "INSERT INTO source_products (id, identity_key, source_id, url, title,"
            " adapter_version, domain_id, created_at, updated_at)"
            " SELECT 'late', 'late', source_id, url, title, adapter_version, domain_id, at, at"
            " FROM source_products, (SELECT (extract(epoch FROM now()) * 1000)::bigint AS at) AS t"
            " WHERE id = :id"
        )
        async with writer._dialect._engine.begin() as connection:  # type: ignore[attr-defined]
            await connection.execute(copy, {"id": template})
            is_stamped.set()
            await may_commit.wait()

    writing = asyncio.create_task(write_slowly())
    await is_stamped.wait()
    done = await export(store, notebook, PRODUCTS)
    may_commit.set()
    await writing
    await export(store, notebook, PRODUCTS)

    assert (done.rows, notebook.received[0][0]["id"]) == (1, template)
    assert "late" in notebook.last_ids


async def test_an_open_transaction_holds_the_watermark_back(
    in_postgres: Stores, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MARGIN_MS", 0)
    store, other = await in_postgres.open(), await in_postgres.open()
    async with other._dialect._engine.begin() as connection:  # type: ignore[attr-defined]
        began = text("SELECT ceil(extract(epoch FROM now()) * 1000)::bigint")
        start = (await connection.execute(began)).scalar_one()
        done = await export(store, notebook, PRODUCTS)

    assert done.watermark <= start


# ── files


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_all(folder: Path, subject: Subject) -> list[Row]:
    found: list[Row] = []
    for path in sorted(folder.glob(f"{subject}-*.parquet")):
        found += parquet.read_table(path).to_pylist()
    return found


async def test_files_keep_amounts_and_times_exact(
    store: Store, rows: CatalogRows, out: Path
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task)
    folder = ParquetFolder(out)

    await export(store, folder, PRODUCTS)
    await export(store, folder, PRICES)

    (found,) = read_all(out, PRODUCTS)
    at = datetime.fromtimestamp((rows.now - HOUR) / 1000, UTC)
    assert found["id"] == product
    assert (found["price"], found["rating"], found["review_count"]) == (
        Decimal("19.90"),
        Decimal("4.50"),
        7,
    )
    assert (found["updated_at"], found["archived_at"]) == (at, None)
    (price,) = read_all(out, PRICES)
    assert (price["source_product_id"], price["observed_at"]) == (product, at)
    assert price["is_hidden"] is False


async def test_the_next_files_have_only_what_changed(
    store: Store, rows: CatalogRows, out: Path
) -> None:
    site = await rows.site()
    task = await rows.task(site)
    product = await rows.product(site, task)
    folder = ParquetFolder(out)
    await export(store, folder, PRODUCTS)
    await export(store, folder, PRODUCTS)
    assert len(files_in(out)) == 2

    await rows.change(source_products, product, category="Lamps", updated_at=rows.now)
    await export(store, ParquetFolder(out), PRODUCTS)

    assert [row["category"] for row in read_all(out, PRODUCTS)] == [None, "Lamps"]


async def test_a_long_export_is_split(
    store: Store, rows: CatalogRows, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "AT_ONCE", 2)
    site = await rows.site()
    task = await rows.task(site)
    ids = {await rows.product(site, task) for _ in range(5)}

    await export(store, ParquetFolder(out, rows_of_a_file=2), PRODUCTS)

    assert len(files_in(out)) == 3 + 1
    assert {row["id"] for row in read_all(out, PRODUCTS)} == ids


async def test_an_export_that_breaks_off_leaves_no_half_file_and_no_watermark(
    store: Store, rows: CatalogRows, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = await rows.site()
    await rows.product(site, await rows.task(site))
    folder = ParquetFolder(out)

    def no_room(_file: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(export_files, "_sync", no_room)
        with pytest.raises(ExportLost, match="No space"):
            await export(store, folder, PRODUCTS)

    assert files_in(out) == []
    assert (await export(store, folder, PRODUCTS)).rows == 1


async def test_a_damaged_watermark_is_no_reason_to_guess(store: Store, out: Path) -> None:
    await export(store, ParquetFolder(out), PRODUCTS)
    (out / export_files.STATE).write_text("{")

    with pytest.raises(SettingsError, match="--since"):
        await export(store, ParquetFolder(out), PRODUCTS)
