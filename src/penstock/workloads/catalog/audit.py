"""The audit: looks through the whole catalogue for what cannot be right.

Tables are walked in parts of some thousand rows, each in a short transaction of its own: work goes
on meanwhile, and nothing grows with the catalogue. What is reported was so when it was looked at.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, select

from penstock.blobs.ports import Blobs
from penstock.products.corrections import find_untrue
from penstock.products.images import KEPT
from penstock.products.search.ports import SearchIndex
from penstock.products.sources import Visibility
from penstock.products.tables import images, source_products, sources
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.workloads.catalog.audit_checks import Check, Row, checks_at
from penstock.workloads.catalog.settings import CatalogSettings

AT_ONCE = 5000
MOST_EXAMPLES = 20
#: So long after a change the index may still be behind.
SETTLED_MS = 600_000
DETAIL_LENGTH = 200
#: Told, from time to time, which table is looked at and how many of its rows were.
Progress = Callable[[str, int], None]


class Example(NamedTuple):
    """A row that is wrong."""

    id: str
    detail: str


@dataclass(slots=True)
class Finding:
    """Rows that are wrong in the same way: how many, and some of them."""

    kind: str
    name: str
    table: str
    says: str
    number: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, example: Example) -> None:
        """Count one more."""
        self.number += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)


@dataclass(frozen=True, slots=True)
class Report:
    """What an audit found, and how many rows of which tables it looked at."""

    at: int
    looked_at: Mapping[str, int]
    findings: Sequence[Finding]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        found = [
            asdict(each) | {"examples": [example._asdict() for example in each.examples]}
            for each in self.findings
        ]
        totals: dict[str, int] = defaultdict(int)
        for each in self.findings:
            totals[each.kind] += each.number
        return {
            "at": datetime.fromtimestamp(self.at / 1000, UTC).isoformat(timespec="milliseconds"),
            "looked_at": dict(self.looked_at),
            "totals": dict(totals),
            "findings": found,
        }

    def lines(self) -> list[str]:
        """As text for people."""
        seen = ", ".join(f"{number} {name}" for name, number in self.looked_at.items() if number)
        if self.is_clean:
            return [f"Nothing wrong was found in {seen or 'an empty catalogue'}."]
        told = [f"Looked at {seen}."]
        for each in self.findings:
            told.append(f"{each.kind}: {each.name}: {each.number} in {each.table} ({each.says})")
            told += [f"  {example.id}  {example.detail}".rstrip() for example in each.examples]
            if each.number > len(each.examples):
                told.append(f"  and {each.number - len(each.examples)} more")
        return told


async def audit(
    store: Store,
    settings: CatalogSettings,
    index: SearchIndex | None = None,
    blobs: Blobs | None = None,
    progress: Progress = lambda _table, _number: None,
) -> Report:
    """Look through everything; without an index or blobs, not through these."""
    now = await store.read(lambda unit: unit.now)
    auditor = _Auditor(store, now, progress)
    for checks in _by_key(checks_at(now, settings.crawl_frequency_seconds)):
        await auditor.walk(checks)
    await auditor.compare_prices()
    if blobs is not None:
        await auditor.look_for_blobs(blobs)
    if index is not None:
        await auditor.compare_index(index)
    return auditor.report()


def _by_key(checks: Sequence[Check]) -> Iterable[list[Check]]:
    """Checks that can be made on one walk."""
    found: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        found[str(check.key)].append(check)
    return found.values()


class _Auditor:
    """Gathers findings."""

    def __init__(self, store: Store, now: int, progress: Progress) -> None:
        self._store = store
        self._now = now
        self._progress = progress
        self._looked_at: dict[str, int] = {}
        self._findings: dict[str, Finding] = {}

    def report(self) -> Report:
        found = sorted(self._findings.values(), key=lambda each: (each.kind, each.name))
        return Report(self._now, dict(sorted(self._looked_at.items())), found)

    def _add(self, finding: Finding, examples: Iterable[Example]) -> None:
        for example in examples:
            self._findings.setdefault(finding.name, finding).add(example)

    async def walk(self, checks: Sequence[Check]) -> None:
        """Make the checks of one table, part by part."""
        table, last = checks[0].table, ""
        while part := await self._store.read(partial(_look, last=last, checks=checks)):
            for check, examples in zip(checks, part.wrong, strict=True):
                self._add(Finding(check.kind, check.name, table, check.says), examples)
            self._looked_at[table] = self._looked_at.get(table, 0) + part.rows
            self._progress(table, self._looked_at[table])
            last = part.end

    async def compare_prices(self) -> None:
        """Whether products show the price that counts."""
        says = "it does not show its newest price as corrected"
        async for ids in self._ids(source_products.c.id, source_products.c.domain_id.is_not(None)):
            rows = await self._store.read(partial(find_untrue, source_product_ids=ids))
            finding = Finding("mismatch", "price_not_current", source_products.name, says)
            wanted = ("price", "currency", "availability")
            self._add(
                finding,
                (Example(row["id"], _told({name: row[name] for name in wanted})) for row in rows),
            )

    async def look_for_blobs(self, blobs: Blobs) -> None:
        """Whether images are where they are said to be."""
        says = "its file is gone: crawl the page again"
        finding = Finding("impossible", "image_file_gone", images.name, says)
        kept = (images.c.status == KEPT, images.c.image_path.is_not(None))
        async for ids in self._ids(images.c.id, *kept):
            rows = await self._store.read(partial(_paths, ids=ids))
            gone = [Example(*row) for row in rows if not await blobs.has(row[1])]
            self._add(finding, gone)

    async def compare_index(self, index: SearchIndex) -> None:
        """Whether the index has the products that readers see, and no others."""
        named = partial(Finding, "index", table="search index")
        missing = named("product_not_in_index", says="run `penstock catalog reindex`")
        extra = named("only_in_index", says="run `penstock catalog reindex`")
        shown = _flat(self._shown_ids())
        known = _flat(_ids_in(index))
        async for only_shown, only_known in _differences(shown, known):
            self._add(missing, await self._settled(only_shown))
            self._add(extra, await self._settled(only_known))

    async def _settled(self, ids: Sequence[str]) -> list[Example]:
        """Of products that are on one side only, those that did not change a moment ago."""
        if not ids:
            return []
        times = await self._store.read(partial(_changed_at, ids=ids))
        return [
            Example(each, "")
            for each in ids
            if max(times.get(each, (0,))) <= self._now - SETTLED_MS
        ]

    def _shown_ids(self) -> AsyncIterator[list[str]]:
        its = source_products.c
        eligible = select(sources.c.id).where(
            sources.c.visibility_status == Visibility.ELIGIBLE.value
        )
        wanted = (its.domain_id.is_not(None), its.archived_at.is_(None))
        return self._ids(its.id, *wanted, its.source_id.in_(eligible))

    async def _ids(
        self, key: ColumnElement[str], *wanted: ColumnElement[bool]
    ) -> AsyncIterator[list[str]]:
        """Ids in their order, some at a time."""
        last = ""
        while ids := await self._store.read(partial(_next_ids, key=key, wanted=wanted, last=last)):
            yield ids
            last = ids[-1]


class _Part(NamedTuple):
    """Some rows of a table: how many, where they end, and what is wrong, check by check."""

    rows: int
    end: str
    wrong: list[list[Example]]


def _look(unit: Unit, last: str, checks: Sequence[Check]) -> _Part | None:
    key = checks[0].key
    keys = _next_ids(unit, key, (), last)
    if not keys:
        return None
    inside = (key > last, key <= keys[-1])
    return _Part(len(keys), keys[-1], [_make(unit, check, inside) for check in checks])


def _make(unit: Unit, check: Check, inside: Sequence[ColumnElement[bool]]) -> list[Example]:
    query = select(check.key.label("audited"), *check.shows).where(*inside, check.wrong)
    rows = unit.rows(query.order_by(check.key))
    return [_example(row) for row in rows if check.is_wrong(row)]


def _example(row: Row) -> Example:
    return Example(row.pop("audited"), _told(row))


def _told(row: Mapping[str, Any]) -> str:
    said = " ".join(f"{name}={value}" for name, value in row.items())
    return said.replace("\n", " ")[:DETAIL_LENGTH]


def _next_ids(
    unit: Unit, key: ColumnElement[str], wanted: Sequence[ColumnElement[bool]], last: str
) -> list[str]:
    query = select(key).where(key > last, *wanted).order_by(key).limit(AT_ONCE)
    return list(unit.run(query).scalars())


def _paths(unit: Unit, ids: Sequence[str]) -> list[tuple[str, str]]:
    query = select(images.c.id, images.c.image_path).where(unit.among(images.c.id, ids))
    return [(each, path) for each, path in unit.run(query)]


def _changed_at(unit: Unit, ids: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """When products, and whether they are shown, changed last."""
    its = source_products.c
    query = select(its.id, its.updated_at, sources.c.updated_at).join(
        sources, sources.c.id == its.source_id
    )
    return {each: tuple(times) for each, *times in unit.run(query.where(unit.among(its.id, ids)))}


async def _ids_in(index: SearchIndex) -> AsyncIterator[list[str]]:
    last = ""
    while ids := await index.ids(last, AT_ONCE):
        yield ids
        last = ids[-1]


async def _flat(pages: AsyncIterator[list[str]]) -> AsyncIterator[str]:
    async for page in pages:
        for each in page:
            yield each


async def _differences(
    one: AsyncIterator[str], other: AsyncIterator[str]
) -> AsyncIterator[tuple[list[str], list[str]]]:
    """What only one of two sorted walks has, and what only the other has, some at a time."""
    left, right = await anext(one, None), await anext(other, None)
    only_one: list[str] = []
    only_other: list[str] = []
    while left is not None or right is not None:
        if right is None or (left is not None and left < right):
            only_one.append(left or "")
            left = await anext(one, None)
        elif left is None or right < left:
            only_other.append(right)
            right = await anext(other, None)
        else:
            left, right = await anext(one, None), await anext(other, None)
        if len(only_one) + len(only_other) >= AT_ONCE:
            yield only_one, only_other
            only_one, only_other = [], []
    yield only_one, only_other
