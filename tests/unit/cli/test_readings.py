"""What people and programs see of a reading."""

import json
from dataclasses import replace
from typing import Any

import pytest

from penstock.cli.output import safe, to_line
from penstock.cli.readings import (
    error_json,
    is_trusted,
    print_explained,
    print_reading,
    reading_json,
    words,
)
from penstock.kernel.reading import Reading
from penstock.kernel.records import Evidence
from tests.unit.extract.readers import LAMP, URL, page, reader


def read(body: bytes = LAMP) -> Reading:
    return reader().read(page(body))


def test_json_is_flat_and_has_the_pages_url() -> None:
    data = json.loads(to_line(reading_json(read(), URL, explain=False)))

    assert (data["url"], data["ok"], data["verdict"]) == (URL, True, "accept")
    assert (data["name"], data["price"], data["currency"]) == ("Lamp", "12.50", "EUR")
    assert data["availability"] == "InStock"
    assert "evidence" not in data


def test_evidence_goes_by_the_names_of_the_output() -> None:
    data = reading_json(read(), URL, explain=True)

    assert data["evidence"]["price"] == {"source": "css .price", "text": "12.50"}
    assert set(data["evidence"]) <= set(data)


def test_record_without_a_price_is_not_trusted() -> None:
    assert is_trusted(read())
    assert not is_trusted(read(b"<h1>Lamp</h1>"))
    assert not is_trusted(read(b"<p>nothing</p>"))


def test_table_leaves_out_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    print_reading(read(), URL)

    shown = capsys.readouterr().out.splitlines()
    fields = [line.split()[0] for line in shown[2:]]
    assert shown[0] == f"✓ accept  {URL}"
    assert fields == ["name", "price", "currency", "availability", "url"]


def test_verdict_and_reason_stand_on_top(capsys: pytest.CaptureFixture[str]) -> None:
    print_reading(read(b"<h1>Lamp</h1>"), URL)
    print_reading(read(b"<p>nothing</p>"), URL)

    shown = capsys.readouterr().out
    assert f"✗ drop MISSING_REQUIRED_FIELD  {URL}\n  price_minor, currency" in shown
    assert f"✗ TITLE_NOT_FOUND  {URL}\n  no h1" in shown


def test_explanation_names_adapter_source_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_explained(read(), URL, "the URL fits")

    shown = capsys.readouterr().out
    assert "  simple@1.0.0: the URL fits" in shown
    assert ["price", "12.50", "css", ".price", "12.50"] in [
        line.split() for line in shown.splitlines()
    ]


def test_page_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    honest = read()
    evidence = {"name": Evidence("css \x1b[2J", "half \ud83d [red]of[/] it")}
    hostile = replace(honest, extraction=replace(honest.extraction, evidence=evidence))

    print_explained(hostile, URL, "why \x1b[0m")

    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "[red]of[/]" in " ".join(shown.split())
    assert b"\\ud83d" in to_line(reading_json(hostile, URL, explain=True))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (True, "yes"),
        (7, "7"),
        (["a", "b"], "a, b"),
        (["a", "b", "c", "d", "e"], "a, b, c, … 2 more"),
        ({"city": "Bonn", "country": None}, "city Bonn"),
        ("x" * 121, "x" * 120 + "…"),
    ],
)
def test_values_are_short_words(value: Any, shown: str) -> None:
    assert words(value) == shown


def test_error_is_a_line_like_the_others() -> None:
    line = to_line(error_json("a.html", None, "gone"))
    assert json.loads(line) == {"ok": False, "error": "gone", "path": "a.html", "url": None}


def test_half_a_character_is_shown_as_an_escape() -> None:
    assert safe("a\ud800b\x07") == "a\\ud800b\\x07"
