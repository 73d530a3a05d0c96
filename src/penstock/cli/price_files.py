"""Prices as files: CSV and Parquet, written part by part however many there are."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from penstock.cli.monitoring import open_to_write, write_texts
from penstock.products.export import ParquetParts
from penstock.products.history import Filter
from penstock.workloads.monitor.exporting import PriceExporter
from penstock.workloads.monitor.views import PriceView

COLUMNS = tuple(PriceView.model_fields)


@dataclass(frozen=True, slots=True)
class PriceFiles:
    """The files that somebody wants prices to be written to, if any."""

    csv: Path | None
    parquet: Path | None

    @property
    def are_wanted(self) -> bool:
        """Whether there are any."""
        return bool(self.csv or self.parquet)

    async def write(self, exporter: PriceExporter, wanted: Filter, most: int | None) -> None:
        """Write the prices to each of them; all that there are, if no number is said."""
        if self.csv:
            await write_texts(exporter.csv(wanted, COLUMNS, most), self.csv)
        if self.parquet:
            # Made before the file is: without the extra there is nothing to write.
            made = ParquetParts(COLUMNS)
            await _write_bytes(exporter.parquet(made, wanted, most), self.parquet)


async def _write_bytes(parts: AsyncIterator[bytes], file: Path) -> None:
    with open_to_write(file, "wb") as opened:
        async for part in parts:
            opened.write(part)
