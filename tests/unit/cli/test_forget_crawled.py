"""`penstock forget --url` of a page that the product crawler knows."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from penstock.blobs.local import LocalBlobs
from penstock.cli.forget import forget
from penstock.core.urls import identity, parse
from tests.catalog_rows import rows_in
from tests.stores import sqlite_stores

URL, TWIN = "https://shop.example/lamp", "https://shop.example/lamp-too"
app = typer.Typer()
app.command()(forget)


async def crawl(folder: Path) -> None:
    """Two pages that are the same to the last byte, each with a picture of its own."""
    blobs = LocalBlobs(folder / "blobs")
    page = await blobs.put(b"<h1>Lamp</h1>")
    async with sqlite_stores(folder) as stores:
        rows = await rows_in(await stores.open())
        site = await rows.site()
        for url in (URL, TWIN):
            known: dict[str, Any] = {
                "url": url,
                "url_hash": identity(parse(url)),
                "html_path": page,
            }
            task = await rows.task(site, **known)
            product = await rows.product(site, task, url=url)
            await rows.image(product, image_path=await blobs.put(url.encode()))


def erased(url: str) -> dict[str, int]:
    ran = CliRunner().invoke(app, ["--url", url, "--yes", "--json"])
    assert ran.exit_code == 0, ran.output
    counts: dict[str, int] = json.loads(ran.stdout)["erased"]
    return {name: number for name, number in counts.items() if number}


def test_a_page_is_erased_with_the_blobs_that_no_other_page_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_STORE__FOLDER", str(tmp_path))
    asyncio.run(crawl(tmp_path))
    blobs = tmp_path / "blobs"
    assert len(list(blobs.glob("??/??/*"))) == 3

    assert erased(URL) == {"tasks": 1, "pages": 1, "blobs": 1}
    assert len(list(blobs.glob("??/??/*"))) == 2, "the other page is the same"
    assert erased(TWIN) == {"tasks": 1, "pages": 1, "blobs": 2}
    assert list(blobs.glob("??/??/*")) == []
    assert erased(URL) == {}
