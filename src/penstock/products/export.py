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
    "rating": (3, 2),
}
FLAGS = frozenset({"tax_included", "is_hidden"})
COUNTS = frozenset({"review_count"})
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
            # An apostrophe in front marks a text as one.
            return f"'{value}" if is_formula(str(value)) else str(value)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take a text for a formula."""
    # Some programs skip spaces in front, and take wide forms of the signs for the signs.
    first = unicodedata.normalize("NFKC", text.lstrip(" \u00a0\u3000\ufeff")[:1])
    return text.startswith(FORMULA) or first.startswith(FORMULA)


def write_parquet(rows: Iterable[Row], columns: Sequence[str], file: IO[bytes]) -> int:
    """Write rows to a file: amounts as exact decimals, times as times; how many there were."""
    made = ParquetParts(columns)
    number, remaining = 0, iter(rows)
    while some := list(islice(remaining, AT_ONCE)):
        file.write(made.add(some))
        number += len(some)
    file.write(made.end())
    return number


class ParquetParts:
    """A Parquet file that is made part by part; the parts in their order are the file."""

    def __init__(self, columns: Sequence[str]) -> None:
        try:
            import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
            from pyarrow import parquet  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise SettingsError(
                "Parquet needs an extra: pip install 'penstock[parquet]'"
            ) from error
        self._columns = tuple(columns)
        self._pa = pa
        self._schema = pa.schema([(name, _type_of(pa, name)) for name in columns])
        self._drain = _Drain()
        self._writer = parquet.ParquetWriter(pa.PythonFile(self._drain, "w"), self._schema)

    def add(self, rows: Sequence[Row]) -> bytes:
        """Some more rows, as what comes next in the file."""
        plain = [{name: row.get(name) for name in self._columns} for row in rows]
        self._writer.write_table(self._pa.Table.from_pylist(plain, self._schema))
        return self._drain.take()

    def end(self) -> bytes:
        """The end of the file."""
        self._writer.close()
        return self._drain.take()


class _Drain(io.RawIOBase):
    """A file that is written to at one end and taken from at the other."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._written += len(part)
        return len(part)

    def tell(self) -> int:
        return self._written

    def take(self) -> bytes:
        """What was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _type_of(pa: Any, column: str) -> Any:
    if column in AMOUNTS:
        return pa.decimal128(*AMOUNTS[column])
    if column.endswith(TIME):
        return pa.timestamp("ms", tz="UTC")
    if column in COUNTS:
        return pa.int64()
    return pa.bool_() if column in FLAGS else pa.string()
