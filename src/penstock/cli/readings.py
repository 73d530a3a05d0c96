"""What was made of a page: JSON for programs, a table for people."""

from typing import Any

from rich.text import Text

from penstock.cli.output import print_table, safe, stdout
from penstock.kernel.reading import OUTPUT_NAMES, Reading, record_json
from penstock.kernel.records import Accept, Drop, Evidence, Quarantine

MAX_CELL = 120
MAX_QUOTE = 60
MAX_LISTED = 3
#: What people look for first; the rest keeps its order.
FIRST = ("name", "price", "currency", "list_price", "availability")


def is_trusted(reading: Reading) -> bool:
    """Whether the adapter and the judge stand by the record."""
    return reading.extraction.ok and isinstance(reading.judgment.verdict, Accept)


def reading_json(reading: Reading, url: str, *, explain: bool) -> dict[str, Any]:
    """A reading as flat plain data; `url` is that of the page."""
    data = {**reading.as_json(), "url": url}
    if explain:
        data["evidence"] = {name: found._asdict() for name, found in _evidence(reading).items()}
    return data


def error_json(path: str | None, url: str | None, problem: str) -> dict[str, Any]:
    """A page that could not be read at all, as plain data."""
    return {"ok": False, "error": problem, "path": path, "url": url}


def print_reading(reading: Reading, url: str) -> None:
    """The record as a table of fields, with the verdict on top."""
    _print_head(reading, url)
    rows = [(name, value) for name, value, _ in _fields(reading)]
    print_table("", ("field", "value"), rows)


def print_explained(reading: Reading, url: str, why: str) -> None:
    """The record as a table with the evidence of each field, and why this adapter read it."""
    _print_head(reading, url)
    stdout().print(safe(f"  {reading.extraction.adapter}: {why}"), markup=False)
    rows = [
        (name, value, evidence.source, shortened(evidence.text, MAX_QUOTE))
        for name, value, evidence in _fields(reading)
    ]
    print_table("", ("field", "value", "from", "where it says"), rows)


def _print_head(reading: Reading, url: str) -> None:
    good = is_trusted(reading)
    mark, style = ("✓", "green") if good else ("✗", "red")
    head = Text().append(f"{mark} {_headline(reading)}", style).append(f"  {safe(url)}")
    for detail in _details(reading):
        head.append(f"\n  {safe(detail)}")
    stdout().print(head)


def _headline(reading: Reading) -> str:
    match reading.judgment.verdict:
        case Drop(reason) | Quarantine(reason) as verdict:
            return f"{verdict.name} {reason}"
        case _:
            return reading.extraction.reason or "accept"


def _details(reading: Reading) -> list[str]:
    said = (reading.extraction.detail, getattr(reading.judgment.verdict, "detail", ""))
    wrong = (f"left out: {name}: {why}" for name, why in reading.judgment.invalid.items())
    return [*dict.fromkeys(filter(None, said)), *wrong]


def _fields(reading: Reading) -> list[tuple[str, str, Evidence]]:
    evidence = _evidence(reading)
    record = record_json(reading.record)
    return [
        (name, words(record[name]), evidence.get(name, Evidence("", "")))
        for name in sorted(record, key=_rank)
        if record[name] not in (None, "", [], {})
    ]


def _rank(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _evidence(reading: Reading) -> dict[str, Evidence]:
    """The evidence by the names that fields have in output."""
    found = reading.extraction.evidence
    return {OUTPUT_NAMES.get(name, name): evidence for name, evidence in found.items()}


def words(value: Any) -> str:
    """A value of a record for people, cut where nobody would read on."""
    match value:
        case None:
            return "-"
        case list() | tuple():
            more = [f"… {len(value) - MAX_LISTED} more"] if len(value) > MAX_LISTED else []
            return ", ".join([*(words(item) for item in value[:MAX_LISTED]), *more])
        case dict():
            return ", ".join(f"{name} {words(item)}" for name, item in value.items() if item)
        case bool():
            return "yes" if value else "no"
    return shortened(str(value), MAX_CELL)


def shortened(text: str, limit: int) -> str:
    """A text, cut where it is too long to be shown."""
    return text if len(text) <= limit else f"{text[:limit]}…"
