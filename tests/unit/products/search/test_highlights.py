"""Highlights: words are marked, and nothing of what was scraped is taken for HTML."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.products.search.analysis import composed, words_of
from penstock.products.search.highlights import highlight, mark


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Desk lamps", "Desk <em>lamps</em>"),
        ("Lamp, lámp & LAMP's", "<em>Lamp</em>, <em>lámp</em> &amp; <em>LAMP&#x27;s</em>"),
        ('<img src="lamp">', "&lt;img src=&quot;<em>lamp</em>&quot;&gt;"),
        ("<em>lamp</em>", "&lt;em&gt;<em>lamp</em>&lt;/em&gt;"),
        ("lamplight", None),
        ("", None),
    ],
)
def test_words_of_a_stem_are_marked(text: str, marked: str | None) -> None:
    assert mark(text, {"lamp"}) == marked


def test_of_a_long_text_the_part_around_the_first_word_is_shown() -> None:
    shown = mark("before " * 100 + "lamp" + " after" * 100 + " lamp", {"lamp"})

    assert shown
    assert shown.count("<em>") == 1
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 260


def test_a_word_at_the_end_of_a_long_text_is_shown() -> None:
    shown = mark("x " * 400 + "lamp", {"lamp"})

    assert shown
    assert shown.endswith("<em>lamp</em>")


def test_only_fields_with_a_word_have_a_highlight() -> None:
    assert highlight({"name": "Lamp", "brand": None, "description": "none"}, {"lamp"}) == {
        "name": "<em>Lamp</em>"
    }


@given(st.text(max_size=240), st.integers(0, 5))
def test_without_the_marks_it_is_the_text(text: str, place: int) -> None:
    words = words_of(text)
    stems = {words[place % len(words)].stem} if words else {"x"}

    shown = mark(text, stems)

    if shown is not None:
        assert html.unescape(re.sub(r"</?em>", "", shown)) == composed(text) or "\r" in text
        assert re.fullmatch(r"(?:[^<>\"']|</?em>)*", shown)
    assert (shown is not None) == bool(words)
