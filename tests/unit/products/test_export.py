"""Tables for other programs."""

import csv
import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]

from penstock.products.export import to_csv, write_parquet

COLUMNS = ["price_id", "price", "tax_included", "observed_at", "title"]
AT = datetime(2026, 3, 4, 12, 0, 0, 250_000, tzinfo=UTC)
ROW = {
    "price_id": "p1",
    "price": Decimal("19.90"),
    "tax_included": True,
    "observed_at": int(AT.timestamp() * 1000),
    "title": 'A "box", of\n50',
}


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    "title",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "  =1",
        "\uff1d1+1",
        '=HYPERLINK("http://evil.example")',
    ],
)
def test_text_that_a_spreadsheet_would_run_is_marked_as_text(title: str) -> None:
    (row,) = read_csv("".join(to_csv([ROW | {"title": title}], COLUMNS)))

    assert row["title"] == f"'{title}"


def test_plain_text_is_left_alone() -> None:
    (row,) = read_csv("".join(to_csv([ROW], COLUMNS)))

    assert row["title"] == ROW["title"]


def test_numbers_stay_numbers() -> None:
    (row,) = read_csv("".join(to_csv([ROW | {"price": Decimal("-5.00")}], COLUMNS)))

    assert row["price"] == "-5.00"


def test_times_flags_and_gaps_are_readable() -> None:
    (row,) = read_csv("".join(to_csv([ROW | {"price_id": None}], COLUMNS)))

    assert row["observed_at"] == "2026-03-04T12:00:00.250+00:00"
    assert row["tax_included"] == "true"
    assert not row["price_id"]


def test_no_rows_give_the_names_of_the_columns() -> None:
    assert list(to_csv([], COLUMNS)) == [",".join(COLUMNS) + "\r\n"]


def test_parquet_keeps_amounts_exact_and_times_as_times() -> None:
    file = io.BytesIO()
    empty = dict.fromkeys(COLUMNS)

    assert write_parquet(iter([ROW, empty]), COLUMNS, file) == 2
    assert parquet.read_table(file).to_pylist() == [ROW | {"observed_at": AT}, empty]


def test_parquet_of_no_rows_has_its_columns() -> None:
    file = io.BytesIO()

    assert write_parquet([], COLUMNS, file) == 0
    assert parquet.read_table(file).column_names == COLUMNS
