"""Text in files of targets: harmless to spreadsheets, and nothing lost on the way."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from penstock.workloads.monitor.exporting import as_written, csv_lines, harmless

TEXTS = st.text() | st.builds(
    "{}{}".format, st.text(alphabet="'=+-@ \t\r\n\uff1d\u00a0", max_size=4), st.text(max_size=10)
)


@given(TEXTS)
def test_what_was_made_harmless_comes_back(text: str) -> None:
    assert as_written(harmless(text)) == text


@given(TEXTS)
def test_nothing_harmless_begins_as_a_formula_does(text: str) -> None:
    written = harmless(text)
    assert written.lstrip(" ")[:1] not in ("=", "+", "-", "@", "\t", "\r")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_cell_of_csv_comes_back(text: str) -> None:
    [[cell, _]] = list(csv.reader(io.StringIO(csv_lines([[harmless(text), "x"]]), newline="")))
    assert as_written(cell) == text
