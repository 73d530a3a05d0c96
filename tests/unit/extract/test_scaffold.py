"""The draft of an adapter: a clean file that works, whatever the page says."""

# ruff: noqa: S603 - every program run here is our own
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.core.urls import parse
from penstock.extract.golden import Case, save_case
from penstock.extract.page.document import Document
from penstock.extract.registry import KINDS, Registry, open_registry
from penstock.extract.scaffold import Draft, suggest, url_pattern
from penstock.kernel.model import Page
from penstock.kernel.records import Evidence, Extraction, ExtractReason, Kind

ROOT = Path(__file__).resolve().parents[3]
LAMP = """
<html lang="en"><head><title>Lamp</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",
 "name": "Lamp", "offers": {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR",
 "availability": "https://schema.org/InStock"}}</script></head>
<body><main><h1>Lamp</h1><p class="price">12.50 €</p><p class="made-by-brand">Glow</p>
<button>Add to basket</button></main></body></html>
"""
URL = "https://www.shop.example/lamps/lamp-7?utm_source=x"


def kept(root: Path, html: str = LAMP, url: str = URL) -> Case:
    page = Page(url, 200, {"Content-Type": "text/html"}, html.encode(), 0.0)
    return save_case(root, "shop/lamp", page, "", datetime(2026, 3, 4, tzinfo=UTC))


def draft(case: Case, kind: Kind = "product") -> Draft:
    generic = open_registry().choose(parse("https://nobody.example/"), kind).adapter
    return Draft("shop", case, generic, generic.read(Document.of(case.page)))


def written(folder: Path, source: str) -> Path:
    path = folder / "shop.py"
    path.write_text(source)
    return path


def loaded(path: Path) -> Registry:
    return open_registry([str(path)])


def test_draft_reads_its_case_at_once(tmp_path: Path) -> None:
    case = kept(tmp_path)
    registry = loaded(written(tmp_path, draft(case).source()))

    choice = registry.choose(parse(case.meta.url))
    found = registry.extract(case.page)

    assert choice.adapter.name == "shop@0.1.0"
    assert choice.adapter.domain == "shop.example"
    assert found.ok
    assert (found.fields["name"], found.fields["price_minor"]) == ("Lamp", 1250)


def test_draft_says_what_is_found_and_offers_selectors_for_the_rest(tmp_path: Path) -> None:
    drafted = draft(kept(tmp_path))
    source = drafted.source()

    assert "brand" in drafted.missing
    assert "name" in drafted.found
    assert "#   price            '12.50'" in source
    assert """    # "brand": "p.made-by-brand",  # 'Glow'""" in source
    assert '    # "mpn": "",' in source


def test_selector_that_is_filled_in_goes_before_the_generic_reading(tmp_path: Path) -> None:
    case = kept(tmp_path)
    source = draft(case).source().replace('# "brand"', '"brand"')

    found = loaded(written(tmp_path, source)).extract(case.page)

    assert found.fields["brand"] == "Glow"
    assert found.evidence["brand"].source == "p.made-by-brand"


@pytest.mark.parametrize("kind", KINDS)
def test_draft_of_every_kind_is_clean_and_works(tmp_path: Path, kind: Kind) -> None:
    case = kept(tmp_path)
    path = written(tmp_path, draft(case, kind).source())

    ruff, config = Path(sys.executable).with_name("ruff"), ROOT / "pyproject.toml"
    for check in (["check"], ["format", "--check"]):
        command: list[str | Path] = [ruff, *check, "--config", config, "--no-cache", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    assert loaded(path).extract(case.page).kind == kind


def test_page_cannot_write_code_into_the_draft(tmp_path: Path) -> None:
    evil = 'x"\n\rimport os; os.abort()\n"""\x00\ud800'
    drafted = draft(kept(tmp_path, f'<main><p class="brand">{"y" * 90}</p></main>'))
    found = Extraction(
        "product", {"sku": evil}, {"sku": Evidence(evil, evil)}, adapter="product@1.0.0"
    )

    source = Draft("shop", drafted.case, drafted.generic, found).source()

    assert not [line for line in source.splitlines() if line.startswith("import os")]
    assert loaded(written(tmp_path, source)).get("shop")
    assert max(map(len, source.splitlines())) <= 100


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://shop01.test/product/1", "shop01.test/product/*"),
        ("https://www.shop.example/a/b/lamp.html", "shop.example/a/b/*"),
        ("https://shop.example/", "shop.example/*"),
        ("https://shop.example/lamp", "shop.example/*"),
        ("https://shop.example/lamp/", "shop.example/lamp/*"),
        ("https://shop.example/c123/lamp-7", "shop.example/*/*"),
        ("https://shop.example/view.php?id=7", "shop.example/view.php?*"),
        ("https://shop.example/lamps/x?utm_source=y", "shop.example/lamps/*"),
        ("https://shop.co.uk/lamps/x", "shop.co.uk/lamps/*"),
    ],
)
def test_pattern_fits_the_url_it_was_made_from(url: str, pattern: str) -> None:
    assert url_pattern(parse(url)) == pattern


@pytest.mark.parametrize(
    ("html", "field", "found"),
    [
        ('<p class="stock">In stock</p>', "availability", ("p.stock", "In stock")),
        ('<b itemprop="sku">7</b>', "sku", ("[itemprop=sku]", "7")),
        ('<p class="x sku-line">7</p>', "sku", ("p.sku-line", "7")),
        ('<p class="a:sku">7</p>', "sku", None),
        ('<p class="sku"></p>', "sku", None),
        ("<p>nothing</p>", "brand", None),
        ('<i class="brand">A</i><main><b class="brand">B</b></main>', "brand", ("b.brand", "B")),
    ],
)
def test_selectors_are_suggested_by_class_names(
    html: str, field: str, found: tuple[str, str] | None
) -> None:
    assert suggest(Document(html, URL), field) == found


def test_selector_makes_up_for_a_title_that_nobody_else_finds(tmp_path: Path) -> None:
    case = kept(tmp_path, '<div class="position">Lamp maker</div>')
    source = draft(case, "job_posting").source()
    registry = loaded(written(tmp_path, source.replace('# "job_title"', '"job_title"')))

    found = registry.extract(case.page)

    assert '"job_title": "div.position"' in source
    assert draft(case, "job_posting").extraction.reason is ExtractReason.TITLE_NOT_FOUND
    assert (found.ok, found.fields["job_title"]) == (True, "Lamp maker")
