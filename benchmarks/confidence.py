"""`python -m benchmarks.confidence FOLDER`: how often values are right, by where they were read.

The folder of labelled pages has `html/<id>.html.gz` and `ground-truth.json`. A label is a list of
all that counts as right; where there is none, the page shows none, and a value is wrong.
"""

import gzip
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from json import loads
from pathlib import Path
from typing import Any

from benchmarks.extraction import IN_SAMPLE, SavedPage, labelled
from benchmarks.peers import ROOT
from benchmarks.report import render_table
from penstock.app import open_reader
from penstock.kernel.model import Page
from penstock.kernel.reading import OUTPUT_NAMES, Reading
from penstock.quality.confidence import CONFIDENCE, SourceKind, kinds_of
from penstock.settings import load_settings

#: Currencies are labelled by their signs, which may stand for several.
ATTRIBUTES = ("price", "availability", "sku", "brand", "gtin")
RAW_NAMES = {said: name for name, said in OUTPUT_NAMES.items()}
TITLE = "Confidence"
AGREED = "two that agree"


@dataclass(frozen=True, slots=True)
class Value:
    """A value that was read, where, and whether it is right."""

    attribute: str
    kind: str
    is_right: bool


def main() -> None:
    parser = ArgumentParser(prog="python -m benchmarks.confidence", description=__doc__)
    parser.add_argument("folder", type=Path, help="labelled pages")
    parser.add_argument("--write", action="store_true", help="write docs/figures/confidence.md")
    options = parser.parse_args()
    pages = list(labelled(options.folder))
    labels = loads((options.folder / "ground-truth.json").read_text())
    text = render(len(pages), list(read_all(pages, labels)))
    print(text)
    if options.write:
        target = ROOT / "docs" / "figures" / "confidence.md"
        target.write_text(f"# {TITLE}\n\n{text}\n")


def read_all(
    pages: Iterable[SavedPage], labels: Mapping[str, Mapping[str, Any]]
) -> Iterator[Value]:
    """Every labelled attribute that is read, page by page."""
    reader = open_reader(load_settings())
    headers = {"Content-Type": "text/html; charset=utf-8"}
    for saved in pages:
        body = gzip.decompress(saved.path.read_bytes())
        reading = reader.read(Page(saved.url, 200, headers, body, 0.0), "product")
        yield from judged(reading, labels[saved.id])


def judged(reading: Reading, labels: Mapping[str, Any]) -> Iterator[Value]:
    """What was read of the labelled attributes, each beside its label."""
    record, evidence = reading.as_json(), reading.extraction.evidence
    for name in ATTRIBUTES:
        found = evidence.get(RAW_NAMES.get(name, name))
        if found is None or record[name] is None:
            continue
        kinds = kinds_of(found.source)
        kind = next(iter(kinds)).value if len(kinds) == 1 else AGREED
        right = {same(name, label) for label in labels.get(name, ())}
        yield Value(name, kind, same(name, record[name]) in right)


def same(attribute: str, value: str) -> object:
    """A value in the form in which it is compared."""
    if attribute == "price":
        return Decimal(value)
    return value.lstrip("0") if attribute == "gtin" else value.casefold()


def render(pages: int, values: Sequence[Value]) -> str:
    """The shares by kind of source, and the numbers by attribute."""
    read = Counter((value.kind, value.attribute) for value in values)
    right = Counter((value.kind, value.attribute) for value in values if value.is_right)
    rows = []
    for kind in (*SourceKind, AGREED):
        if kind == SourceKind.GIVEN:
            continue
        by_attribute = [
            f"{right[kind, name]} of {read[kind, name]}" if read[kind, name] else "-"
            for name in ATTRIBUTES
        ]
        total, good = (sum(counts[kind, name] for name in ATTRIBUTES) for counts in (read, right))
        rows.append((kind, *by_attribute, *figures(kind, good, total)))
    headings = ("source", *ATTRIBUTES, "together", "share", "with 1 of 2 more", "in the code")
    return "\n\n".join((introduction(pages), render_table(headings, rows), EXPLANATION))


def figures(kind: str, good: int, total: int) -> tuple[str, str, str, str]:
    """How many are right, their share, the share that counts, and what the code has."""
    share = f"{good / total:.3f}" if total else "-"
    counts = f"{(good + 1) / (total + 2):.2f}"
    in_code = "see below" if kind == AGREED else f"{CONFIDENCE[SourceKind(kind)]:.2f}"
    return f"{good} of {total}", share, counts, in_code


def introduction(pages: int) -> str:
    return (
        f"{datetime.now(UTC):%Y-%m-%d}; {pages} labelled pages of real shops, each attribute "
        "that has labels, by where its value was read (`python -m benchmarks.confidence FOLDER`)."
    )


EXPLANATION = f"""A page without a label for an attribute shows none: a value there counts as wrong.
The confidence is the share with one right and one wrong value added, because a few pages prove
little: where nothing was measured it is 0.50. Where two sources agree, the value is wrong only if
both are: 1 - (1 - a)(1 - b), at most 0.99. The URL that was asked for is given and not read: 1.
Attributes without labels (name, description, category, rating …) have the share of their source.

{IN_SAMPLE}"""


if __name__ == "__main__":
    main()
