"""Golden cases: what is kept, what is compared, and that names lead nowhere else."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.core.errors import SettingsError
from penstock.extract.golden import (
    Case,
    Difference,
    case_folder,
    comparable,
    compare,
    find_cases,
    is_case,
    save_case,
    try_case,
)
from penstock.extract.page.document import Document
from penstock.kernel.records import Extraction
from tests.unit.extract.readers import LAMP, URL, adapter, extract, page, reader

TIME = datetime(2026, 3, 4, 12, 0, 5, 123, tzinfo=UTC)


def kept(root: Path, name: str = "shop/lamp", body: bytes = LAMP) -> Case:
    """A case that expects what is read now."""
    case = save_case(root, name, page(body), "", TIME)
    case.accept(comparable(reader().read(case.page)))
    return case


def test_a_case_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    kept(tmp_path, body=b"\xff\xfe\x00 any bytes")

    case = Case.open(tmp_path / "shop" / "lamp")

    assert (case.name, case.wanted, case.page.url) == ("shop/lamp", "", URL)
    assert case.page.body == b"\xff\xfe\x00 any bytes"
    assert case.page.headers == {"Content-Type": "text/html; charset=utf-8"}
    assert case.meta.time == TIME.replace(microsecond=0)


def test_meta_is_short_and_knows_no_headers(tmp_path: Path) -> None:
    secret = page()
    secret.headers = {**secret.headers, "Set-Cookie": "session=secret"}

    case = save_case(tmp_path, "shop/lamp", secret, "product", TIME)

    assert json.loads((case.folder / "meta.json").read_text()) == {
        "url": URL,
        "as": "product",
        "time": "2026-03-04T12:00:05Z",
        "content_type": "text/html; charset=utf-8",
        "status": 200,
    }
    assert all(b"secret" not in file.read_bytes() for file in case.folder.iterdir())


def test_a_case_that_is_read_as_accepted_passes(tmp_path: Path) -> None:
    trial = try_case(kept(tmp_path), reader())

    assert trial.passed
    assert trial.reading["name"] == "Lamp"
    assert trial.reading["price"] == "12.50"


def test_a_new_version_alone_is_no_difference(tmp_path: Path) -> None:
    assert try_case(kept(tmp_path), reader(adapter("9.9.9"))).passed


def test_a_changed_field_is_named_with_both_values(tmp_path: Path) -> None:
    case = kept(tmp_path)
    (case.folder / "page.html").write_bytes(LAMP.replace(b"12.50", b"13.00"))

    trial = try_case(case, reader())

    assert trial.differences == (Difference("price", "12.50", "13.00"),)
    assert not trial.passed


def test_what_is_accepted_passes_from_then_on(tmp_path: Path) -> None:
    case = save_case(tmp_path, "shop/lamp", page(), "", TIME)
    first = try_case(case, reader())

    case.accept(first.reading)

    assert not first.passed
    assert try_case(case, reader()).passed


def test_an_adapter_that_is_not_deterministic_is_found_out(tmp_path: Path) -> None:
    names = iter("abcdef")

    def moody(document: Document) -> Extraction:
        found = extract(document)
        return replace(found, fields={**found.fields, "name": next(names)})

    case = kept(tmp_path)
    trial = try_case(case, reader(replace(adapter(), extract=moody)))

    assert trial.unsteady == (Difference("name", "a", "b"),)


@pytest.mark.parametrize(
    ("expected", "got", "fields"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": None}, {}, []),
        ({}, {"a": None}, []),
        ({"a": 1}, {}, ["a"]),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": "1"}, {"a": 1}, ["a"]),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a"]),
        (
            {"at": {"city": "Bonn", "country": "DE"}},
            {"at": {"city": "Bern"}},
            ["at.city", "at.country"],
        ),
        ({"at": None}, {"at": {"city": "Bern"}}, ["at"]),
    ],
)
def test_comparing_goes_field_by_field(
    expected: dict[str, Any], got: dict[str, Any], fields: list[str]
) -> None:
    assert [difference.field for difference in compare(expected, got)] == fields


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "shop",
            "shop/",
            "/lamp",
            "../lamp",
            "shop/..",
            "shop/../x",
            "shop/a/b",
            "/etc/passwd",
        ),
        *("shop/.hidden", "shop/La mp", "Shop/lamp", "shop/lamp\n", "shop\\x/lamp", "shop/-x"),
        *("shop/" + "x" * 101, "shop/lämp", "shop/٣"),
    ],
)
def test_a_name_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="NAME/CASE"):
        case_folder(tmp_path, name)


def test_cases_are_found_by_group_and_in_order(tmp_path: Path) -> None:
    for name in ("b/2", "b/1", "a/9"):
        kept(tmp_path, name)
    (tmp_path / "a" / "notes").mkdir()

    assert [folder.name for folder in find_cases(tmp_path)] == ["9", "1", "2"]
    assert [folder.name for folder in find_cases(tmp_path, "b")] == ["1", "2"]
    assert list(find_cases(tmp_path / "missing")) == []
    with pytest.raises(SettingsError):
        list(find_cases(tmp_path / "b", ".."))


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("meta.json", "{", "meta.json"),
        ("meta.json", '{"url": "https://shop.example/"}', "time"),
        ("meta.json", '{"url": 1, "time": "2026-03-04T12:00:05Z"}', "url"),
        ("meta.json", '{"url": "x", "time": "2026-03-04T12:00:05Z", "cookie": "x"}', "cookie"),
        ("expected.json", "[]", "one JSON object"),
        ("expected.json", "nonsense", "expected.json is not JSON"),
    ],
)
def test_a_broken_file_of_a_case_is_named(
    tmp_path: Path, file: str, content: str, says: str
) -> None:
    folder = kept(tmp_path).folder
    (folder / file).write_text(content)

    with pytest.raises(SettingsError, match=says):
        try_case(Case.open(folder), reader())


def test_a_missing_page_is_named(tmp_path: Path) -> None:
    case = kept(tmp_path)
    (case.folder / "page.html").unlink()

    assert is_case(case.folder)
    with pytest.raises(SettingsError, match=r"page\.html cannot be read"):
        try_case(case, reader())


def test_half_a_character_can_be_expected(tmp_path: Path) -> None:
    case = kept(tmp_path)

    case.accept({"name": "half \ud83d of it"})

    assert case.expected == {"name": "half \ud83d of it"}
