"""Rows as a table for other programs: CSV, or Parquet with the extra of that name."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from typing import IO, Any

from penstock.core.errors import SettingsError

Row = dict[str, Any]
#: What makes a spreadsheet take a text for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
AT_ONCE = 10_000
#: Columns by what stands in them; all others are texts. Times are milliseconds in rows.
AMOUNTS = {
    **dict.fromkeys(("price", "price_as_seen", "shipping", "correction_price"), (10, 2)),
    "cost_per_round": (12, 4),
}
FLAGS = frozenset({"tax_included"})
TIME = "_at"


def to_csv(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[str]:
    """A line of CSV for the names of the columns, then one for each row.

    Texts that a spreadsheet would take for a formula are marked as texts; numbers stay numbers.
    """
    yield _line(columns)
    for row in rows:
        yield _line([_cell(name, row.get(name)) for name in columns])


def _line(cells: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def _cell(name: str, value: Any) -> Any:
    match value:
        case None:
            return ""
        case int() if name.endswith(TIME):
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="milliseconds")
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case int() | float():
            return value
        case _:
            return _harmless(str(value))


def _harmless(text: str) -> str:
    """The text, with an apostrophe in front where it would be read as a formula."""
    # Some programs skip spaces in front, and take wide forms of the signs for the signs.
    first = unicodedata.normalize("NFKC", text.lstrip(" \u00a0\u3000\ufeff")[:1])
    is_formula = text.startswith(FORMULA) or first.startswith(FORMULA)
    return f"'{text}" if is_formula else text


def write_parquet(rows: Iterable[Row], columns: Sequence[str], file: IO[bytes]) -> int:
    """Write rows to a file: amounts as exact decimals, times as times; how many there were."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SettingsError("Parquet needs an extra: pip install 'penstock[parquet]'") from error
    schema = pa.schema([(name, _type_of(pa, name)) for name in columns])
    number, remaining = 0, iter(rows)
    with parquet.ParquetWriter(file, schema) as writer:
        while some := list(islice(remaining, AT_ONCE)):
            plain = [{name: row.get(name) for name in columns} for row in some]
            writer.write_table(pa.Table.from_pylist(plain, schema))
            number += len(some)
    return number


def _type_of(pa: Any, column: str) -> Any:
    if column in AMOUNTS:
        return pa.decimal128(*AMOUNTS[column])
    if column.endswith(TIME):
        return pa.timestamp("ms", tz="UTC")
    return pa.bool_() if column in FLAGS else pa.string()
