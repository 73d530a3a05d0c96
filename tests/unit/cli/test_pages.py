"""Where pages come from: files, gzip, golden cases, and what is said when there is none."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.cli.pages import MAX_PAGE_BYTES, Source, describe_fault, load, saved_page, sources
from penstock.core.errors import PenstockError, SettingsError, UrlError
from penstock.extract.golden import save_case
from tests.unit.extract.readers import LAMP, URL, page, reader

A, B = "https://shop.example/a", "https://shop.example/b"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_bytes(LAMP)
    Path("b.html.gz").write_bytes(gzip.compress(LAMP))


def test_files_take_the_urls_in_order() -> None:
    found = sources(["a.html", "http://shop.example/x", "b.html.gz"], [A, B], "product")

    assert [source.url for source in found] == [A, "http://shop.example/x", B]
    assert [source.is_remote for source in found] == [False, True, False]
    assert {source.wanted for source in found} == {"product"}


@pytest.mark.parametrize(
    ("places", "urls", "says"),
    [
        (["a.html"], [], "--url URL"),
        (["a.html", "b.html.gz"], [A], "b.html.gz: say which URL"),
        (["a.html"], [A, B], "belongs to no page"),
        (["http://shop.example/"], [A], "belongs to no page"),
        (["missing.html"], [A], "there is no missing.html"),
        (["."], [A], "there is no ."),
        (["a.html"], ["ftp://shop.example/"], "only http and https"),
    ],
)
def test_wrong_usage_says_what_to_do(places: list[str], urls: list[str], says: str) -> None:
    with pytest.raises(PenstockError, match=says):
        sources(places, urls, "")


@pytest.mark.parametrize("place", ["a.html", "b.html.gz"])
def test_gzip_is_unpacked(place: str) -> None:
    assert saved_page(place, URL).body == LAMP


def test_gzip_is_known_without_its_name() -> None:
    Path("b.html.gz").rename("b.html")
    assert saved_page("b.html", URL).text == LAMP.decode()


def test_a_golden_case_brings_its_url_and_how_to_read_it() -> None:
    save_case(Path("golden"), "shop/lamp", page(), "product", datetime.now(UTC))

    [source] = sources(["golden/shop/lamp"], [], "")

    assert source == Source("golden/shop/lamp", URL, "product")
    assert load(source).body == LAMP


def test_a_page_says_itself_how_it_is_encoded() -> None:
    Path("a.html").write_bytes('<meta charset="shift_jis"><h1>ランプ</h1>'.encode("shift_jis"))
    assert "ランプ" in saved_page("a.html", URL).text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cut.html.gz", gzip.compress(LAMP * 100, mtime=0)[:40], "is not gzip, or damaged"),
        ("plain.html.gz", LAMP, "is not gzip, or damaged"),
        (
            "noise.html.gz",
            gzip.compress(LAMP, mtime=0)[:10] + b"\xff" * 40,
            "is not gzip, or damaged",
        ),
        ("bomb.html.gz", gzip.compress(bytes(MAX_PAGE_BYTES + 1)), "is larger than 10,485,760"),
        ("big.html", bytes(MAX_PAGE_BYTES + 1), "is larger than 10,485,760"),
    ],
)
def test_what_is_no_page_is_refused(name: str, content: bytes, says: str) -> None:
    Path(name).write_bytes(content)
    with pytest.raises(SettingsError, match=f"{name} {says}"):
        saved_page(name, URL)


def test_a_page_of_just_the_size_is_read() -> None:
    Path("big.html.gz").write_bytes(gzip.compress(bytes(MAX_PAGE_BYTES)))
    assert len(saved_page("big.html.gz", URL).body) == MAX_PAGE_BYTES


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(UrlError):
        saved_page("a.html", "nonsense")


def test_a_fault_is_described_by_the_adapters_own_line() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        reader().read(page(b"PLEASE FAIL"))

    assert "ZeroDivisionError: as it was asked to" in describe_fault(caught.value)
    assert "readers.py, line " in describe_fault(caught.value)
