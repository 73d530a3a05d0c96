"""`penstock catalog` as people run it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import app
from tests.shell import Ran, Shell
from tests.site import Reply

FAST = {
    "PENSTOCK_CATALOG__TICK_SECONDS": "0.1",
    "PENSTOCK_CATALOG__CRAWL_DELAY_SECONDS": "0",
    "PENSTOCK_CATALOG__RETRY_SECONDS": "0.1",
}
PAGES = [f"http://goods01.test/product/{number}" for number in (1, 2, 3)]
GONE = "http://goods02.test/product/1"


@pytest.fixture(autouse=True)
def same_settings(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands in this process have the settings of those in others."""
    monkeypatch.chdir(shell.folder)
    for name, value in shell.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
async def up(shell: Shell) -> AsyncIterator[None]:
    """Somebody who works."""
    process = await shell.start("up", "--no-api", **FAST)
    yield
    process.terminate()
    await process.wait()


async def catalog(*arguments: str, stdin: str = "") -> Ran:
    """A command, run here: a process of its own takes seconds to begin."""
    ran = await asyncio.to_thread(CliRunner().invoke, app, ["catalog", *arguments], stdin)
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


async def well(*arguments: str, stdin: str = "") -> Ran:
    """A command that must go well."""
    ran = await catalog(*arguments, stdin=stdin)
    assert ran.code == 0, f"{arguments}: {ran.err or ran.out}"
    return ran


async def test_pages_are_submitted_crawled_and_found(
    shell: Shell, tmp_path: Path, up: None
) -> None:
    shell.site.reply("goods02.test", "/product/1", Reply(404, "gone"))
    (tmp_path / "urls.txt").write_text("\n".join(["# lamps", *PAGES[1:], "", GONE]))
    submitted = await catalog("submit", PAGES[0], "-f", "urls.txt", "--wait", "--json")
    assert submitted.code == 1, submitted.err
    assert submitted.objects[0]["accepted"] == 4
    progress = submitted.objects[-1]
    assert (progress["tasks"]["completed"], progress["tasks"]["failed"]) == (3, 1)
    said = await well("progress", progress["id"])
    assert "4 of 4 over: 3 completed, 1 failed" in said.out
    assert (await catalog("progress", progress["id"], "--follow")).code == 1
    [listed] = (await well("submissions", "--json")).objects
    assert (listed["origin"], listed["submitted"]) == ("file", 4)

    await _products_are_found()
    await _errors_are_shown_and_dead_letters_revived()
    await _the_whole_is_looked_after(tmp_path)
    await _tasks_are_looked_at(tmp_path)


async def _products_are_found() -> None:
    await well("reindex")
    products = (await well("products", "list", "--sort", "price_asc", "--json")).objects
    assert {each["url"] for each in products} == set(PAGES)
    first = products[0]
    found = (await well("products", "search", first["product_name"], "--json")).objects
    assert found[0]["id"] == first["id"]
    assert "<em>" in found[0]["highlights"]["product_name"]
    words = ("products", "search", first["product_name"], "--domain", "nowhere.test")
    assert (await well(*words, "--json")).objects == []
    table = await well("products", "list", "--price-min", "0.01", "--availability", "in_stock")
    assert "products" in table.out
    shown = (await well("products", "show", first["id"], "--json")).objects[0]
    assert shown["images"]
    assert "primary" in (await well("products", "images", first["id"])).out
    [price] = (await well("products", "prices", first["id"], "--json")).objects
    assert price["price"] == first["price"]
    assert (await catalog("products", "list", "--availability", "perhaps")).code == 1
    assert (await catalog("products", "list", "--price-min", "cheap")).code == 2
    assert (
        "see `penstock catalog products list`" in (await catalog("products", "show", "0" * 32)).err
    )


async def _errors_are_shown_and_dead_letters_revived() -> None:
    [error] = (await well("errors", "list", "--json")).objects
    assert (error["url"], error["category"]) == (GONE, "http")
    assert (await well("errors", "list", "--task", GONE, "--json")).objects == [error]
    [pattern] = (await well("errors", "patterns", "--json")).objects
    assert pattern["errors"] == 1
    [dead] = (await well("dlq", "list", "--category", "http", "--json")).objects
    assert dead["url"] == GONE
    assert "1 dead letters; shown 1" in (await well("dlq", "list")).out
    assert (await catalog("dlq", "revive")).code == 1
    revived = await well("dlq", "revive", GONE, "--json")
    assert revived.objects == [{"revived": 1}]
    rates = (await well("parsers", "rates", "--json")).objects
    assert [each["parsed"] for each in rates] == [3]
    assert "100.0%" in (await well("parsers", "rates")).out
    assert "Nothing read pages" in (await well("parsers", "shadow", "product")).out


async def _tasks_are_looked_at(folder: Path) -> None:
    attempts = (await well("tasks", "attempts", PAGES[0], "--json")).objects
    assert [each["kind"] for each in attempts] == ["parse", "download"]
    await well("tasks", "page", PAGES[0], "-o", "page.html")
    assert b"<html" in (folder / "page.html").read_bytes()
    assert (await well("tasks", "page", PAGES[0])).out.startswith("<!")
    again = await well("tasks", "reparse", PAGES[0], "--accept", "--json")
    assert again.objects == [{"changed": 1}]


async def _the_whole_is_looked_after(folder: Path) -> None:
    [numbers] = (await well("status", "--json")).objects
    assert (numbers["products"], numbers["indexed"]) == (3, 3)
    audited = await well("audit", "--no-index")
    assert "Nothing wrong was found" in audited.out
    exported = (await well("export", "parquet", "lake", "--json")).objects
    assert {each["subject"]: each["rows"] for each in exported} == {"products": 3, "prices": 3}
    assert len(list((folder / "lake").glob("products-*.parquet"))) == 1


async def test_a_place_that_is_no_clickhouse_is_refused_without_being_named(shell: Shell) -> None:
    await well("domains", "add", "goods04.test")
    ran = await shell.run("catalog", "export", "clickhouse", "-", stdin="ftp://me:secret@x\n")
    assert (ran.code, "must begin with http://" in ran.err) == (2, True)
    assert "secret" not in ran.err + ran.out


async def test_a_sitemap_is_submitted_and_followed(shell: Shell, up: None) -> None:
    shell.site.reply(
        "goods03.test",
        "/sitemap.xml",
        Reply(
            200,
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
            "<url><loc>http://goods03.test/product/1</loc></url></urlset>",
            {"Content-Type": "application/xml"},
        ),
    )
    ran = await well("submit", "--sitemap", "http://goods03.test/sitemap.xml", "--wait")
    assert "a worker reads the sitemap" in ran.out
    assert "1 of 1 over: 1 completed" in ran.out


async def test_tasks_are_steered_from_the_terminal(shell: Shell) -> None:
    del shell
    ran = await well(
        *("submit", *PAGES, "--priority", "7", "--frequency", "6h", "--retries", "1"),
        *("--at", "2h", "--parser", "product", "--recrawl"),
    )
    assert "3 new pages" in ran.out
    assert "--follow" in ran.out
    [task, *_] = (await well("tasks", "list", "--json")).objects
    assert (task["priority"], task["crawl_frequency"], task["max_retries"]) == (7, 21_600, 1)
    assert "3 tasks; shown 1" in (await well("tasks", "list", "--limit", "1")).out
    [edited] = (
        await well("tasks", "edit", PAGES[0], "--frequency", "never", "--priority", "3", "--json")
    ).objects
    assert (edited["crawl_frequency"], edited["priority"]) == (0, 3)
    [back] = (await well("tasks", "edit", PAGES[0], "--no-frequency", "--json")).objects
    assert back["crawl_frequency"] is None
    assert (await well("tasks", "pause", PAGES[0], PAGES[1])).out == "2 tasks: paused\n"
    assert len((await well("tasks", "list", "--paused", "--json")).objects) == 2

    asked = await catalog("tasks", "stop", "--domain", "goods01.test")
    assert (asked.code, "3 tasks are meant: say --yes" in asked.err) == (1, True)
    await well("tasks", "resume", "--domain", "goods01.test", "--yes")
    await well("tasks", "prioritise", "--to", "1", "--url", "product", "--yes")
    stopped = await well("tasks", "stop", "--status", "pending", "--yes", "--json")
    assert stopped.objects == [{"changed": 3}]
    await well("tasks", "retry", PAGES[0])
    assert (await catalog("tasks", "recrawl", PAGES[0])).code == 1
    await well("tasks", "recrawl", "--status", "failed", "--yes")
    [counts] = (await well("tasks", "counts", "--json")).objects
    assert counts["pending"] == 3
    shown = await well("tasks", "show", PAGES[0])
    assert "goods01.test" in shown.out
    assert "say which tasks" in (await catalog("tasks", "pause")).err
    assert (await catalog("tasks", "show", "http://goods01.test/none")).code == 1
    revived = await catalog("dlq", "revive", "--all", "--json")
    assert revived.objects == [{"revived": 0}]


async def test_domains_are_added_changed_and_switched(shell: Shell) -> None:
    del shell
    [domain] = (await well("domains", "add", "goods04.test", "--delay", "2", "--json")).objects
    assert domain["crawl_delay_seconds"] == 2
    assert (await catalog("domains", "add", "goods04.test")).code == 1
    [edited] = (
        await well(
            "domains", "edit", "goods04.test", "--at-once", "3", "--frequency", "1d", "--json"
        )
    ).objects
    assert (edited["max_concurrent_requests"], edited["crawl_frequency"]) == (3, 86_400)
    assert (await catalog("domains", "edit", "goods04.test")).code == 1
    await well("domains", "deactivate", "goods04.test")
    assert (await well("domains", "list", "--active", "--json")).objects == []
    await well("domains", "activate", domain["id"])
    assert "pending=0" in (await well("domains", "show", "goods04.test")).out
    unknown = await catalog("domains", "show", "nowhere.test")
    assert (unknown.code, "see `penstock catalog domains list`" in unknown.err) == (1, True)


async def test_what_is_wrong_is_said_in_one_line(shell: Shell) -> None:
    del shell
    for arguments in (
        ("submit",),
        ("submit", PAGES[0], "--sitemap", PAGES[0]),
        ("submit", PAGES[0], "--frequency", "often"),
        ("submit", PAGES[0], "--at", "soon"),
        ("submit", PAGES[0], "--parser", "nothing"),
        ("submit", "nonsense"),
        ("submit", "-f", "missing.txt"),
        ("progress", "0" * 32),
    ):
        ran = await catalog(*arguments)
        assert ran.code in {1, 2}, arguments


async def test_help_begins_with_what_a_newcomer_needs(shell: Shell) -> None:
    del shell
    said = (await well("--help")).out
    for command in ("catalog submit", "penstock up", "products search"):
        assert command in said
