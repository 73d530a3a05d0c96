"""Targets from a file: CSV, JSON, or a feed of which one column has the URLs.

All of a file or nothing: what is wrong is reported by line, with the URL, and then nothing was
written. Nor is anything in a dry run.
"""

import asyncio
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

import orjson

from penstock.core.ids import new_id
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.monitor.drafting import (
    Draft,
    Drafter,
    DraftRefused,
    SourceBook,
    Wanted,
    in_batches,
    read_sources,
)
from penstock.workloads.monitor.exporting import as_written
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.targets import CHANGED, describe_known, insert_drafts, known_keys

#: Entries by line; a text says what is wrong with one.
Entries = Iterator[tuple[int, Mapping[str, Any] | str]]

BATCH = 5000
MOST_PROBLEMS = 10_000
MOST_LINES = 500_000
LONGEST_URL_SHOWN = 300
DELIMITERS = ",;\t|"
YES, NO = ("true", "yes", "1", "y"), ("false", "no", "0", "n")
#: Columns by the names under which they may stand in a file.
COLUMNS = {
    "url": "url",
    "source": "source",
    "source_id": "source",
    "adapter": "adapter",
    "adapter_id": "adapter",
    "schedule": "schedule",
    "priority": "priority",
    "status": "status",
    "enabled": "enabled",
    "robots_path_blocked": "robots_path_blocked",
    "notes": "notes",
}


NOTHING_SAID = Wanted("")


class Format(StrEnum):
    """How a file is written."""

    CSV = "csv"
    JSON = "json"


class Existing(StrEnum):
    """What is done about targets that are there already."""

    REFUSE = "refuse"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one line, or one entry of a JSON array."""

    line: int
    url: str
    problem: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How a file is to be read; `defaults` holds for what its lines do not say."""

    format: Format = Format.CSV
    defaults: Wanted = NOTHING_SAID
    #: For feeds: the column that has the shop's own URL. Other columns are not looked at.
    url_column: str | None = None
    delimiter: str | None = None
    existing: Existing = Existing.REFUSE
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What came of an import."""

    lines: int
    added: int
    skipped: int
    dry_run: bool
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


class Importer:
    """Takes files in."""

    def __init__(
        self, store: Store, drafter: Drafter, log: EventLog, most_lines: int = MOST_LINES
    ) -> None:
        self._store = store
        self._drafter = drafter
        self._log = log
        self._most_lines = most_lines

    async def load(
        self,
        text: str,
        plan: Plan,
        who: str,
        moved: Callable[[int], None] = lambda _lines: None,
    ) -> Report:
        """Take all of a file in, or say what is wrong with which line; `moved` tells how far."""
        book = await self._store.read(read_sources)
        # Much to think about, and nothing to wait for: others go on meanwhile.
        read = await asyncio.to_thread(self._read, text, plan, book, moved)
        if read.is_full:
            return read.report(plan)
        if plan.dry_run or read.problems:
            return await self._store.read(lambda unit: self._compare(unit, read, plan))
        event = new_id()
        return await self._store.write(lambda unit: self._write(unit, read, plan, who, event))

    def _read(
        self, text: str, plan: Plan, book: SourceBook, moved: Callable[[int], None]
    ) -> "_Read":
        read = _Read()
        for line, entry in _entries(text, plan):
            read.lines += 1
            if read.lines > self._most_lines:
                read.add_problem(line, "", f"more than {self._most_lines} lines: split the file")
                break
            self._take(read, line, entry, plan, book)
            if read.lines % BATCH == 0:
                moved(read.lines)
        moved(read.lines)
        return read

    def _take(
        self,
        read: "_Read",
        line: int,
        entry: Mapping[str, Any] | str,
        plan: Plan,
        book: SourceBook,
    ) -> None:
        if isinstance(entry, str):
            read.add_problem(line, "", entry)
            return
        url = str(entry.get("url") or "")
        try:
            draft = self._drafter.draft(_wanted(entry, plan.defaults), book)
        except DraftRefused as refused:
            read.add_problem(line, url, f"{refused.field}: {refused.message}")
            return
        first = read.first_lines.setdefault(draft.key, line)
        if first != line:
            read.repeat(line, url, first, plan.existing)
            return
        read.drafts.append((line, draft))

    def _compare(self, unit: Unit, read: "_Read", plan: Plan) -> Report:
        """The report of an import of which nothing is written."""
        new = [draft for batch in self._new(unit, read, plan) for draft in batch]
        return read.report(plan, added=len(new))

    def _write(self, unit: Unit, read: "_Read", plan: Plan, who: str, event: str) -> Report:
        unit.take_turns("monitor targets")
        # It may be run again: what it says of the first time does not count.
        read = read.copy()
        batches = list(self._new(unit, read, plan))
        if read.problems:
            return read.report(plan)
        for batch in batches:
            insert_drafts(unit, batch, who)
        added = sum(len(batch) for batch in batches)
        if added:
            data = {"who": who, "imported": added}
            self._log.append(unit, [Message(event, CHANGED, "import", data)])
        return read.report(plan, added=added)

    def _new(self, unit: Unit, read: "_Read", plan: Plan) -> Iterator[list[Draft]]:
        """The drafts that are no targets yet; those that are, are skipped or reported."""
        for batch in in_batches(read.drafts, BATCH):
            known = known_keys(unit, [draft for _, draft in batch])
            for line, draft in batch:
                if (row := known.get(draft.key)) is None:
                    continue
                if plan.existing is Existing.SKIP:
                    read.skipped += 1
                else:
                    read.add_problem(line, draft.url, describe_known(row))
            yield [draft for _, draft in batch if draft.key not in known]


class _Read:
    """What was read of a file so far."""

    def __init__(self) -> None:
        self.lines = 0
        self.skipped = 0
        self.drafts: list[tuple[int, Draft]] = []
        self.problems: list[Problem] = []
        self.first_lines: dict[tuple[str, str], int] = {}

    @property
    def is_full(self) -> bool:
        """Whether no more problems are noted."""
        return len(self.problems) >= MOST_PROBLEMS

    def add_problem(self, line: int, url: str, problem: str) -> None:
        if not self.is_full:
            self.problems.append(Problem(line, url[:LONGEST_URL_SHOWN], problem))

    def repeat(self, line: int, url: str, first: int, existing: Existing) -> None:
        if existing is Existing.SKIP:
            self.skipped += 1
        else:
            self.add_problem(line, url, f"the same page as in line {first}")

    def copy(self) -> "_Read":
        """The same, to go on with."""
        other = _Read()
        other.lines, other.skipped, other.drafts = self.lines, self.skipped, self.drafts
        other.problems = list(self.problems)
        return other

    def report(self, plan: Plan, added: int = 0) -> Report:
        """The report; of a file with problems nothing was added."""
        problems = sorted(self.problems, key=lambda problem: problem.line)
        is_good = not problems
        return Report(self.lines, added if is_good else 0, self.skipped, plan.dry_run, problems)


def _wanted(entry: Mapping[str, Any], defaults: Wanted) -> Wanted:
    """A line as a wanted target."""
    values = {name: value for name, value in entry.items() if value not in (None, "")}
    for name in ("enabled", "robots_path_blocked"):
        if name in values:
            values[name] = _flag(name, values[name])
    if "priority" in values:
        values["priority"] = _number(values["priority"])
    for name, value in values.items():
        if name not in ("enabled", "robots_path_blocked", "priority") and not isinstance(
            value, str
        ):
            raise DraftRefused(name, "must be text")
    if "status" in values:
        values["status"] = _status(values["status"])
    return replace(defaults, **values)


def _status(text: str) -> TargetStatus:
    """What became of a target elsewhere is not carried over; that somebody paused it is."""
    if text not in set(TargetStatus):
        raise DraftRefused("status", f"must be one of {', '.join(TargetStatus)}")
    return TargetStatus.PAUSED if text == TargetStatus.PAUSED else TargetStatus.ACTIVE


def _flag(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in YES + NO:
        raise DraftRefused(name, "must be true or false")
    return text in YES


def _number(value: Any) -> int:
    try:
        if isinstance(value, bool | float):
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise DraftRefused("priority", "must be a whole number") from None


def _entries(text: str, plan: Plan) -> Entries:
    text = text.removeprefix("\ufeff")
    return _json_entries(text, plan) if plan.format is Format.JSON else _csv_entries(text, plan)


# ── CSV


def _csv_entries(text: str, plan: Plan) -> Entries:
    """Lines by name of column; lines without anything are passed over."""
    # Not `splitlines`: it knows ends of lines that are text in a cell.
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=plan.delimiter or _delimiter(text))
    line = 1
    try:
        header = next(rows, [])
        columns = _columns([name.strip() for name in header], plan)
        line = rows.line_num + 1
        for cells in rows:
            if any(cell.strip() for cell in cells):
                if len(cells) > len(header):
                    yield line, f"{len(cells)} cells, and the header has {len(header)}"
                else:
                    yield line, _named(cells, columns)
            line = rows.line_num + 1
    except (csv.Error, _NoTargets) as error:
        yield line, f"not CSV of targets: {error}"


class _NoTargets(Exception):
    """There are no targets to be found in a file; says why."""


def _delimiter(text: str) -> str:
    """What separates the names of the columns."""
    header, _, _ = text.partition("\n")
    return max(DELIMITERS, key=header.count)


def _columns(header: list[str], plan: Plan) -> dict[int, str]:
    """Which column has what."""
    if plan.url_column is not None:
        if plan.url_column not in header:
            raise _NoTargets(f"no column '{plan.url_column}'; there are: {', '.join(header)}")
        return {header.index(plan.url_column): "url"}
    known = {place: COLUMNS.get(name.lower()) for place, name in enumerate(header)}
    unknown = [header[place] for place, name in known.items() if name is None]
    if unknown or "url" not in known.values():
        problem = f"unknown columns: {', '.join(unknown)}" if unknown else "there is no column url"
        raise _NoTargets(
            f"{problem}; known are {', '.join(COLUMNS)}. For a feed, name the column with the URLs"
        )
    return {place: name for place, name in known.items() if name is not None}


def _named(cells: list[str], columns: Mapping[int, str]) -> dict[str, str]:
    return {
        # Notes are somebody's words; spaces around anything else are nobody's intention.
        name: as_written(cells[place] if name == "notes" else cells[place].strip())
        for place, name in columns.items()
        if place < len(cells)
    }


# ── JSON


def _json_entries(text: str, plan: Plan) -> Entries:
    """The entries of an array, of `{"targets": […]}`, or of lines that are objects."""
    del plan
    entries: Iterable[tuple[int, Any]]
    try:
        whole = orjson.loads(text)
    except orjson.JSONDecodeError:
        entries = _lines(text)
    else:
        whole = whole.get("targets", [whole]) if isinstance(whole, dict) else whole
        entries = enumerate(whole if isinstance(whole, list) else [whole], 1)
    for line, entry in entries:
        yield line, _checked(entry)


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield number, f"not JSON: {error}"


def _checked(entry: Any) -> Mapping[str, Any] | str:
    if isinstance(entry, str):
        # A bare URL, or what is wrong with a line.
        return entry if entry.startswith("not JSON: ") else {"url": entry}
    if not isinstance(entry, dict):
        return "neither an object nor a URL"
    if unknown := entry.keys() - COLUMNS.keys():
        return f"unknown names: {', '.join(sorted(unknown))}; known are {', '.join(COLUMNS)}"
    return {COLUMNS[name]: value for name, value in entry.items()}
