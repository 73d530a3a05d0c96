"""Writing an adapter as docs/adapters.md tells it, and the commands around it."""

import asyncio
import gzip
import json
import signal
from typing import Any

from penstock.cli.manifest import AHEAD, CHUNK
from tests.shell import Shell
from tests.site.shops import product, product_page

LAMP = product("shop01.test", 1)
SOLD_OUT = product("shop01.test", 7)


def case_file(shell: Shell, name: str) -> Any:
    return json.loads((shell.folder / "golden/shop01/lamp" / name).read_text())


async def test_from_a_page_to_an_adapter(shell: Shell) -> None:
    ran = await shell.run("capture", LAMP.url, "--as", "shop01/lamp")
    assert ran.code == 0, ran.err
    assert LAMP.title in ran.out
    assert "kept in golden/shop01/lamp" in ran.out
    assert case_file(shell, "meta.json")["url"] == LAMP.url
    assert case_file(shell, "expected.json")["adapter"] == "product"

    ran = await shell.run("adapter", "new", "shop01", "--from", "shop01/lamp")
    assert ran.code == 0, ran.err
    assert "export PENSTOCK_EXTRACT__ADAPTERS=adapters/shop01.py" in ran.out
    draft = shell.folder / "adapters/shop01.py"
    assert "shop01.test/product/*" in draft.read_text()
    shell.environment["PENSTOCK_EXTRACT__ADAPTERS"] = "adapters/shop01.py"

    ran = await shell.run("adapter", "test", "shop01", "--json")
    [difference] = ran.objects[0]["differences"]
    assert ran.code == 1
    assert difference == {"field": "adapter", "expected": "product", "got": "shop01"}

    selector = 'SELECTORS: dict[str, str] = {\n    "description": "section.description p",'
    source = draft.read_text().replace("SELECTORS: dict[str, str] = {", selector)
    draft.write_text(source)
    ran = await shell.run("adapter", "test", "shop01")
    assert ran.code == 1
    assert "description" in ran.out
    assert "1 case: 1 not as expected" in ran.out

    ran = await shell.run("adapter", "test", "shop01", "--accept")
    assert ran.code == 0
    assert "accepted shop01/lamp" in ran.out
    assert case_file(shell, "expected.json")["adapter"] == "shop01"

    ran = await shell.run("adapter", "test")
    assert (ran.code, ran.out) == (0, "1 case: 1 as expected\n")

    asked = ["extract", SOLD_OUT.url, "--json", "--explain"]
    [read] = (await shell.run(*asked)).objects
    assert read["adapter"] == "shop01@0.1.0"
    assert (read["name"], read["availability"]) == (SOLD_OUT.title, "OutOfStock")
    assert read["evidence"]["description"]["source"] == "section.description p"


async def test_page_that_is_denied_is_not_captured(shell: Shell) -> None:
    ran = await shell.run("capture", "http://private.test/x", "--as", "a/b")

    assert (ran.code, ran.out) == (1, "")
    assert "robots_denied" in ran.err
    assert not (shell.folder / "golden").exists()


async def test_capture_keeps_a_saved_page_unpacked_and_reads_it_by_its_name(shell: Shell) -> None:
    body = product_page("shop01.test", 1).encode()
    (shell.folder / "lamp.html.gz").write_bytes(gzip.compress(body))

    ran = await shell.run("capture", "lamp.html.gz", "--url", LAMP.url, "--as", "product/lamp")

    assert ran.code == 0, ran.err
    folder = shell.folder / "golden/product/lamp"
    assert (folder / "page.html").read_bytes() == body
    assert json.loads((folder / "meta.json").read_text())["as"] == "product"
    assert shell.site.hits == []

    again = ("capture", "lamp.html.gz", "--url", LAMP.url, "--as", "product/again", "--json")
    [captured] = (await shell.run(*again)).objects
    assert captured["case"] == "product/again"
    assert captured["reading"]["name"] == LAMP.title


async def test_extract_reads_files_pipes_cases_and_urls_alike(shell: Shell) -> None:
    body = product_page("shop01.test", 1)
    (shell.folder / "lamp.html").write_text(body)
    (shell.folder / "lamp.html.gz").write_bytes(gzip.compress(body.encode()))
    await shell.run("capture", "lamp.html", "--url", LAMP.url, "--as", "shop01/lamp")

    pages = ["lamp.html", "golden/shop01/lamp", "lamp.html.gz", LAMP.url, "-"]
    urls = ["--url", LAMP.url] * 3
    ran = await shell.run("extract", *pages, *urls, "--json", stdin=body)

    assert ran.code == 0, ran.err
    assert len(ran.objects) == 5
    for read in ran.objects:
        assert read == ran.objects[0]
    assert (read["name"], read["currency"]) == (LAMP.title, "USD")
    assert (read["gtin"], read["review_count"]) == (LAMP.gtin, LAMP.reviews)


async def test_extract_goes_on_after_a_page_that_cannot_be_had(shell: Shell) -> None:
    (shell.folder / "bad.html.gz").write_bytes(b"no gzip")
    pages = ["bad.html.gz", "http://private.test/", LAMP.url]
    ran = await shell.run("extract", *pages, "--url", LAMP.url, "--json")

    damaged, denied, read = ran.objects
    assert ran.code == 1
    assert "damaged" in damaged["error"]
    assert denied["error"].startswith("robots_denied")
    assert read["verdict"] == "accept"


async def test_manifest_writes_a_line_for_each_of_its_own(shell: Shell) -> None:
    (shell.folder / "pages").mkdir()
    entries = []
    for number in range(1, 21):
        (shell.folder / f"pages/{number}.html").write_text(product_page("shop02.test", number))
        url = product("shop02.test", number).url
        entries.append(json.dumps({"path": f"{number}.html", "url": url}))
    entries.insert(3, "nonsense")
    manifest = shell.folder / "pages/manifest.jsonl"
    manifest.write_text("\n".join(entries))

    ran = await shell.run("extract", "--manifest", str(manifest), "-o", "out.jsonl", "--jobs", "2")

    lines = [json.loads(line) for line in (shell.folder / "out.jsonl").read_text().splitlines()]
    assert (ran.code, ran.out) == (1, "")
    assert "not JSON" in lines.pop(3)["error"]
    assert [line["sku"] for line in lines] == [
        product("shop02.test", number).sku for number in range(1, 21)
    ]


async def test_interrupted_manifest_ends_at_once_and_quietly(shell: Shell) -> None:
    (shell.folder / "lamp.html").write_text(product_page("shop01.test", 1))
    line = json.dumps({"path": "lamp.html", "url": LAMP.url}).encode() + b"\n"
    process = await shell.start("extract", "--manifest", "-", "--jobs", "1")
    assert process.stdin
    assert process.stdout
    async with asyncio.timeout(30):
        # More than are under way at a time, and the pipe stays open.
        process.stdin.write(line * CHUNK * AHEAD * 4)
        assert json.loads(await process.stdout.readline())["ok"]
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
    assert process.returncode == 130
    assert err == b""
