"""Selectors are tried in order; what is missing or odd is told, and nothing is made up."""

import pytest

from penstock.extract.live.adapter import Snapshot
from penstock.extract.live.fields import Fields, Found, first
from penstock.extract.page.document import Document
from penstock.kernel.records import ExtractReason
from tests.unit.extract.live.sources import refused, seen

PAGE = """<p class=old> </p><p class=new>12</p><p class=new>13</p><i data-n="5" class=odd>x</i>"""


@pytest.fixture
def document() -> Document:
    return Document(PAGE, "http://live.test/")


@pytest.fixture
def fields(document: Document) -> Fields:
    return Fields(document)


@pytest.mark.parametrize(
    ("selectors", "found"),
    [
        ((".new",), Found("12", ".new", 0)),
        ((".gone", ".new"), Found("12", ".new", 1)),
        ((".old", ".gone", ".new"), Found("12", ".new", 2)),
        ((".odd", ".new"), Found("x", ".odd", 0)),
        ((".odd@data-n",), Found("5", ".odd@data-n", 0)),
        ((".odd@data-m", ".new"), Found("12", ".new", 1)),
        ((".gone",), None),
        ((), None),
    ],
)
def test_first_selector_that_finds_a_text_is_the_one(
    document: Document, selectors: tuple[str, ...], found: Found | None
) -> None:
    assert first(document, *selectors) == found


def test_fields_that_are_there_make_a_snapshot(fields: Fields) -> None:
    payload = {
        "text": fields.text("text", ".odd"),
        "number": fields.number("number", ".new"),
        "all": fields.numbers("all", ".new"),
        "none": fields.optional("none", ".gone"),
        "no_number": fields.optional_number("no_number", ".gone"),
        "no_texts": fields.texts("no_texts", ".gone"),
    }

    found, lacking = {"text": "x", "number": 12, "all": [12, 13]}, ("none", "no_number")
    expected = {**found, **dict.fromkeys(lacking), "no_texts": []}
    assert fields.snapshot(payload, "in_play") == Snapshot(expected, "in_play")


def test_missing_fields_are_named_with_the_selectors_that_were_tried(fields: Fields) -> None:
    assert fields.text("runs", ".runs", ".m-runs") == ""
    assert fields.number("overs", ".overs") == 0
    found = refused(fields.snapshot({}, "in_play"))

    assert found.reason is ExtractReason.SELECTOR_NOT_FOUND
    assert found.detail == "not found: runs (.runs, .m-runs); overs (.overs)"


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "1,234", "١٢", "²", "9" * 16, "1 2"])
def test_number_has_digits_alone(text: str) -> None:
    fields = Fields(Document(f"<p>{text}</p>", "http://live.test/"))
    fields.number("runs", "p")
    found = refused(fields.snapshot({}, "in_play"))

    assert found.reason is ExtractReason.PAGE_STRUCTURE_CHANGED
    assert "runs is " in found.detail


def test_choice_is_one_of_the_known_texts(fields: Fields) -> None:
    assert fields.choice("status", {"x": 1}, ".odd") == 1
    seen(fields.snapshot({}, "in_play"))
    assert fields.choice("status", {"y": 1}, ".odd") is None
    assert refused(fields.snapshot({}, "in_play")).detail == "status is 'x'"


def test_page_without_a_state_is_unreadable(fields: Fields) -> None:
    assert refused(fields.snapshot({}, None)).detail == "its state is not known"


def test_fallbacks_that_were_needed_are_noted(fields: Fields) -> None:
    fields.text("runs", ".runs", ".m-runs", ".new")
    fields.texts("all", ".gone", ".new")
    fields.text("usual", ".new")

    assert seen(fields.snapshot({}, "in_play")).notes == (
        "runs was found by .new, the fallback number 2",
        "all was found by .new, the fallback number 1",
    )
