"""Targets on both engines: added, changed, removed, imported and exported."""

import random
from typing import Any

import pytest
from sqlalchemy import select, update

from penstock.events.log import EventLog
from penstock.events.tables import events
from penstock.extract.registry import open_registry
from penstock.kernel.admission import Admission
from penstock.kernel.settings import AdmissionSettings
from penstock.products.sources import approve_terms, create_retailer, create_source
from penstock.queue.timing import SECONDS
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import ApiError, Conflict, NotFound
from penstock.workloads.monitor.drafting import Drafter, Wanted
from penstock.workloads.monitor.exporting import Exporter
from penstock.workloads.monitor.importing import Existing, Format, Importer, Plan, Report
from penstock.workloads.monitor.model import TargetStatus
from penstock.workloads.monitor.tables import scrape_targets
from penstock.workloads.monitor.targets import Filter, Targets, waits_for
from tests.stores import Stores, lose_next_commit, rows_of

ANN = "ann"
URL = "https://www.shop.example/product/1?utm_source=mail&b=2&a=1#reviews"


async def no_lookup(host: str) -> list[str]:
    raise AssertionError(f"{host} was looked up")


class Ops:
    """What somebody has who looks after targets."""

    def __init__(self, store: Store) -> None:
        self.store = store
        admission = Admission(AdmissionSettings(deny=("denied.example",)), no_lookup)
        drafter, log = Drafter(open_registry(), admission), EventLog(store)
        self.targets = Targets(store, drafter, log, random.Random(1))
        self.importer = Importer(store, drafter, log)
        self.exporter = Exporter(store)

    async def source(self, name: str = "shop", domain: str = "", **traits: Any) -> str:
        def add(unit: Unit) -> str:
            retailer = create_retailer(unit, name, who=ANN)
            row = create_source(
                unit, name, domain or f"{name}.example", retailer["id"], who=ANN, **traits
            )
            source_id: str = row["id"]
            return source_id

        return await self.store.write(add)

    async def add(self, url: str = URL, **traits: Any) -> dict[str, Any]:
        return await self.targets.add(Wanted(url, **traits), ANN)

    async def set(self, target: dict[str, Any], **values: Any) -> None:
        """Let something have happened to a target."""
        statement = update(scrape_targets).where(scrape_targets.c.id == target["id"])
        await self.store.write(lambda unit: unit.run(statement.values(values)) and None)

    async def now(self) -> int:
        return await self.store.read(lambda unit: unit.now)

    async def load(self, text: str, **plan: Any) -> Report:
        return await self.importer.load(text, Plan(**plan), ANN)

    async def all(self) -> list[dict[str, Any]]:
        return await rows_of(self.store, scrape_targets)

    async def exported(self, written: Format) -> str:
        texts = self.exporter.csv() if written is Format.CSV else self.exporter.json_lines()
        return "".join([text async for text in texts])


@pytest.fixture
async def ops(stores: Stores) -> Ops:
    return Ops(await stores.open())


# ── adding


async def test_a_new_target_is_due_at_once_and_keeps_its_url_as_written(ops: Ops) -> None:
    await ops.source()
    target = await ops.add(schedule="6h", priority=3, notes="a box")
    assert target["url"] == URL
    assert target["canonical_url"] == "https://www.shop.example/product/1?a=1&b=2"
    assert (target["status"], target["enabled"], target["source"]) == ("ACTIVE", True, "shop")
    assert (target["adapter_id"], target["created_by"]) == ("product", ANN)
    assert target["next_due_at"] == target["created_at"]


async def test_a_target_says_that_nobody_has_approved_the_terms_of_its_source(ops: Ops) -> None:
    source = await ops.source()
    target = await ops.add()
    assert waits_for(target) == "nobody has approved the terms of service of source 'shop'"
    await ops.store.write(lambda unit: approve_terms(unit, source, who=ANN) and None)
    assert waits_for(await ops.targets.get(target["id"])) is None


async def test_another_spelling_of_a_known_url_is_refused_with_the_target(ops: Ops) -> None:
    await ops.source()
    known = await ops.add()
    with pytest.raises(Conflict, match=known["id"]):
        await ops.add("http://www.shop.example/product/1/?a=1&b=2&fbclid=x")
    assert len(await ops.all()) == 1


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (Wanted("not a url"), "url: "),
        (Wanted("ftp://shop.example/1"), "url: only http"),
        (Wanted("http://10.0.0.1/"), "url: private"),
        (Wanted("https://denied.example/1"), "url: this domain is on the deny list"),
        (Wanted("https://other.example/1"), "there is no source for other.example"),
        (Wanted("https://other.example/1", source="shop"), "the URL is at other.example"),
        (Wanted(URL, source="nobody"), "there is no source 'nobody'"),
        (Wanted(URL, adapter="nothing"), "adapter: no adapter 'nothing' reads products; known: "),
        (Wanted(URL, adapter="company_website"), "adapter: no adapter 'company_website'"),
        (Wanted(URL, schedule="now and then"), "schedule: "),
        (Wanted(URL, schedule="5s"), "schedule: a target is due once a minute at most"),
        (Wanted(URL, priority=5000), "priority: must be between"),
        (Wanted(URL, notes="x" * 3000), "notes: longer than"),
    ],
)
async def test_what_is_wrong_with_a_new_target_is_said(
    in_sqlite: Stores, wanted: Wanted, problem: str
) -> None:
    ops = Ops(await in_sqlite.open())
    await ops.source()
    with pytest.raises(ApiError) as refused:
        await ops.targets.add(wanted, ANN)
    assert str(refused.value).startswith(problem)
    assert await ops.all() == []


async def test_of_several_sources_of_a_domain_one_must_be_named(in_sqlite: Stores) -> None:
    ops = Ops(await in_sqlite.open())
    await ops.source("one", "shop.example")
    await ops.source("two", "shop.example", adapter_id="sgammo")
    with pytest.raises(Conflict, match="several sources: name one of one, two"):
        await ops.add()
    assert (await ops.add(source="two"))["adapter_id"] == "sgammo"
    assert (await ops.add(source="one"))["adapter_id"] == "product"


# ── changing


async def test_a_paused_target_is_not_due_and_a_resumed_one_is(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    paused = await ops.targets.pause(target["id"], ANN)
    assert (paused["status"], paused["next_due_at"]) == ("PAUSED", None)
    resumed = await ops.targets.resume(target["id"], ANN)
    assert resumed["status"] == "ACTIVE"
    assert resumed["next_due_at"] is not None


async def test_resuming_a_broken_target_forgets_its_failures(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    week = 7 * 86_400_000
    await ops.set(
        target,
        status="BROKEN",
        consecutive_failures=5,
        last_scraped_at=1,
        next_due_at=target["created_at"] + week,
    )
    resumed = await ops.targets.resume(target["id"], ANN)
    assert (resumed["status"], resumed["consecutive_failures"]) == ("ACTIVE", 0)
    assert resumed["next_due_at"] < target["created_at"] + week


async def test_a_blocked_or_disabled_target_is_not_due_whatever_else_changes(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    await ops.targets.block(target["id"], ANN)
    blocked = await ops.targets.edit(target["id"], ANN, schedule="1h")
    assert (blocked["robots_path_blocked"], blocked["next_due_at"]) == (True, None)
    await ops.targets.disable(target["id"], ANN)
    assert (await ops.targets.unblock(target["id"], ANN))["next_due_at"] is None
    assert (await ops.targets.enable(target["id"], ANN))["next_due_at"] is not None


async def test_a_new_schedule_counts_from_now(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    await ops.set(target, last_scraped_at=1, next_due_at=target["created_at"] + 1)
    edited = await ops.targets.edit(target["id"], ANN, schedule="6h", notes="hm")
    waits = edited["next_due_at"] - await ops.now()
    six_hours = 6 * SECONDS["h"] * 1000
    # A little later by chance, and the clock of a server has gone on meanwhile.
    assert six_hours - 60_000 <= waits <= six_hours * 1.1
    assert (edited["schedule"], edited["notes"], edited["priority"]) == ("6h", "hm", 0)


async def test_a_target_in_a_run_is_due_again_when_it_leaves_it(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    await ops.set(target, run_id="a-run", next_due_at=None)
    assert (await ops.targets.edit(target["id"], ANN, schedule="1h"))["next_due_at"] is None
    with pytest.raises(Conflict, match="a-run"):
        await ops.targets.remove(target["id"], ANN)


async def test_changes_say_who_made_them(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    await ops.targets.block(target["id"], "bob")
    query = select(events.c.data).where(events.c.key == target["id"]).order_by(events.c.seq)
    said = await ops.store.read(lambda unit: unit.run(query).scalars().all())
    assert said == [
        {"who": ANN, "added": URL},
        {"who": "bob", "robots_path_blocked": True},
    ]


async def test_a_target_that_was_never_read_is_deleted_and_others_are_kept(ops: Ops) -> None:
    await ops.source()
    unread, read = await ops.add(), await ops.add("https://shop.example/2")
    await ops.set(read, last_scraped_at=1)
    assert (await ops.targets.remove(unread["id"], ANN)).deleted
    kept = await ops.targets.remove(read["id"], ANN)
    assert not kept.deleted
    [left] = await ops.all()
    assert (left["id"], left["enabled"], left["next_due_at"]) == (read["id"], False, None)
    with pytest.raises(NotFound):
        await ops.targets.get(unread["id"])
    with pytest.raises(Conflict, match="enable it instead"):
        await ops.add("https://shop.example/2")


async def test_stale_targets_are_due_again_when_they_are_requeued(ops: Ops) -> None:
    one, two = await ops.source("one"), await ops.source("two")
    stale = [await ops.add(f"https://{name}.example/1") for name in ("one", "two")]
    for target in stale:
        await ops.set(target, status="STALE", next_due_at=None)
    assert await ops.targets.requeue(ANN, source_id=one) == 1
    assert await ops.targets.counts(two) == {"ACTIVE": 0, "PAUSED": 0, "BROKEN": 0, "STALE": 1}
    assert await ops.targets.requeue(ANN) == 1
    assert all(row["next_due_at"] and row["status"] == "ACTIVE" for row in await ops.all())


async def test_lists_are_filtered_and_come_in_parts(ops: Ops) -> None:
    source = await ops.source()
    added = [await ops.add(f"https://shop.example/{number}") for number in range(5)]
    ids = sorted((target["id"] for target in added), reverse=True)
    await ops.targets.pause(ids[0], ANN)
    first = await ops.targets.list(Filter(source_id=source, limit=2))
    assert [row["id"] for row in first] == ids[:3]
    rest = await ops.targets.list(Filter(before=ids[1], limit=50))
    assert [row["id"] for row in rest] == ids[2:]
    paused = await ops.targets.list(Filter(status=TargetStatus.PAUSED))
    assert [row["id"] for row in paused] == ids[:1]
    assert [row["url"] for row in await ops.targets.list(Filter(url="example/3"))] == [
        "https://shop.example/3"
    ]
    assert await ops.targets.list(Filter(url="%")) == []
    assert await ops.targets.list(Filter(adapter="sgammo")) == []


async def test_a_target_is_found_by_any_spelling_of_its_url(ops: Ops) -> None:
    await ops.source()
    target = await ops.add()
    found = await ops.targets.get("http://www.SHOP.example/product/1?b=2&a=1&gclid=7")
    assert found["id"] == target["id"]
    with pytest.raises(NotFound):
        await ops.targets.get("https://shop.example/other")


# ── files


async def test_an_import_adds_all_lines(ops: Ops) -> None:
    await ops.source()
    text = (
        "url;schedule;priority;enabled;notes\n"
        "https://shop.example/1;6h;2;;\n"
        "\n"
        'https://shop.example/2;;;no;"two\nlines"\n'
    )
    report = await ops.load(text)
    assert (report.lines, report.added, report.problems) == (2, 2, [])
    first, second = sorted(await ops.all(), key=lambda row: row["url"])
    assert (first["schedule"], first["priority"], first["enabled"]) == ("6h", 2, True)
    assert first["next_due_at"] is not None
    assert (second["enabled"], second["notes"], second["next_due_at"]) == (
        False,
        "two\nlines",
        None,
    )


async def test_an_import_with_anything_wrong_adds_nothing_and_names_every_line(ops: Ops) -> None:
    await ops.source()
    await ops.add("https://shop.example/known")
    text = (
        "url,adapter,schedule,priority\n"
        "https://shop.example/1,,,\n"
        "nonsense,,,\n"
        "https://shop.example/1/?utm_source=x,,,\n"
        "https://shop.example/known#top,,,\n"
        "https://shop.example/2,nothing,,\n"
        "https://shop.example/3,,never,\n"
        "https://shop.example/4,,,high\n"
        "http://127.0.0.1/,,,\n"
        "https://shop.example/5,,,,,\n"
    )
    report = await ops.load(text)
    assert report.added == 0
    assert [problem.line for problem in report.problems] == [3, 4, 5, 6, 7, 8, 9, 10]
    said = {problem.line: problem.problem for problem in report.problems}
    assert said[4] == "the same page as in line 2"
    assert "already" in said[5]
    assert "known: " in said[6]
    assert said[8] == "priority: must be a whole number"
    assert said[10] == "6 cells, and the header has 4"
    assert report.problems[0].url == "nonsense"
    assert len(await ops.all()) == 1


async def test_a_dry_run_says_the_same_and_writes_nothing(ops: Ops) -> None:
    await ops.source()
    text = "url\nhttps://shop.example/1\nhttps://shop.example/2\n"
    report = await ops.load(text, dry_run=True)
    assert (report.added, report.dry_run, report.problems) == (2, True, [])
    assert await ops.all() == []


async def test_known_urls_can_be_skipped(ops: Ops) -> None:
    await ops.source()
    await ops.add("https://shop.example/1")
    text = "url\nhttps://shop.example/1\nhttps://shop.example/2\nhttps://shop.example/2\n"
    report = await ops.load(text, existing=Existing.SKIP)
    assert (report.added, report.skipped) == (1, 2)
    assert len(await ops.all()) == 2


async def test_a_feed_gives_the_urls_of_one_column(ops: Ops) -> None:
    await ops.source()
    text = (
        "aw_deep_link\tmerchant_deep_link\tprice\n"
        "https://network.example/c?p=1\thttps://shop.example/1\t9.99\n"
    )
    report = await ops.load(
        text, url_column="merchant_deep_link", defaults=Wanted("", source="shop", schedule="1d")
    )
    assert report.added == 1
    [row] = await ops.all()
    assert (row["url"], row["schedule"]) == ("https://shop.example/1", "1d")
    wrong = await ops.load(text, url_column="aw_deep_link", defaults=Wanted("", source="shop"))
    assert "the URL is at network.example" in wrong.problems[0].problem


@pytest.mark.parametrize(
    "text",
    [
        '[{"url": "https://shop.example/1", "priority": 4}, "https://shop.example/2"]',
        '{"targets": [{"url": "https://shop.example/1"}, {"url": "https://shop.example/2"}]}',
        '{"url": "https://shop.example/1"}\n\n{"url": "https://shop.example/2", "notes": null}\n',
    ],
)
async def test_json_is_an_array_or_lines(in_sqlite: Stores, text: str) -> None:
    ops = Ops(await in_sqlite.open())
    await ops.source()
    assert (await ops.load(text, format=Format.JSON)).added == 2


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"url": "https://shop.example/1"}\n{"url": \n', [2]),
        ('[1, {"uri": "x"}, {"url": 5}, {"url": "https://shop.example/1", "priority": 1.5}]', None),
        ("null", [1]),
    ],
)
async def test_what_is_wrong_with_json_is_named(
    in_sqlite: Stores, text: str, lines: list[int] | None
) -> None:
    ops = Ops(await in_sqlite.open())
    await ops.source()
    report = await ops.load(text, format=Format.JSON)
    assert [problem.line for problem in report.problems] == (lines or [1, 2, 3, 4])
    assert await ops.all() == []


@pytest.mark.parametrize("text", ["", "adress\nhttps://shop.example/1\n", "source,notes\n"])
async def test_a_header_without_urls_is_refused(in_sqlite: Stores, text: str) -> None:
    ops = Ops(await in_sqlite.open())
    [problem] = (await ops.load(text)).problems
    assert problem.line == 1
    assert "column" in problem.problem


async def test_an_import_whose_answer_was_lost_is_not_taken_for_a_repetition(ops: Ops) -> None:
    await ops.source()
    lose_next_commit(ops.store)
    report = await ops.load("url\nhttps://shop.example/1\n")
    assert (report.added, report.problems) == (1, [])
    assert len(await ops.all()) == 1


@pytest.mark.parametrize("written", list(Format))
async def test_what_is_exported_comes_back_as_it_was(ops: Ops, written: Format) -> None:
    await ops.source()
    notes = ["=1+1", "'=1+1", "'quoted", "+49 30", 'a, "b"\nc', "-", "\uff1dwide", " =x", None]
    for number, note in enumerate(notes):
        await ops.add(
            f"https://shop.example/{number}?q=a,b", notes=note, priority=-number, schedule="6h"
        )
    await ops.targets.pause((await ops.all())[0]["id"], ANN)
    before = await ops.all()
    text = await ops.exported(written)
    if written is Format.CSV:
        assert "\n=" not in text
        assert ",=" not in text
    await ops.store.write(lambda unit: unit.run(scrape_targets.delete()) and None)
    report = await ops.load(text, format=written)
    assert report.problems == []
    kept = ("url", "canonical_url", "notes", "priority", "schedule", "status", "enabled")

    def content(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted((tuple(row[name] for name in kept) for row in rows), key=str)

    assert content(await ops.all()) == content(before)
