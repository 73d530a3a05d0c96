"""Any page is watched by selectors that the options of a feed name, and only by sound ones."""

from typing import Any

import pytest

from penstock.extract.live.adapter import OptionsRefused, Snapshot
from penstock.extract.live.phrase import compile_phrase, is_in
from penstock.extract.live.selectors import SELECTORS
from penstock.kernel.records import ExtractReason
from tests.unit.extract.live.sources import refused, seen, source

OPTIONS: dict[str, Any] = {
    "select": {"score": [".score", "#score"], "status": [".status"], "note": [".note@title"]},
    "optional": ["note"],
    "critical": ["score"],
    "ended": {"field": "status", "text": "(?i)ended|result"},
    "break": {"field": "status", "text": "^Tea$|Lunch"},
    "way": "page",
}


def page(status: str, rest: str = "") -> str:
    return f"<p id=score>12/1</p><p class=status>{status}</p>{rest}"


def with_changes(**changes: Any) -> dict[str, Any]:
    return {**OPTIONS, **changes}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Day 2", "in_play"),
        ("Tea", "break"),
        ("tea", "in_play"),
        ("After Lunch", "break"),
        ("RESULT: A won", "ended"),
        ("Lunch, ended", "ended"),
        ("x" * 400 + "ended", "in_play"),
    ],
)
def test_fields_and_state_are_those_of_the_options(status: str, state: str) -> None:
    SELECTORS.check_options(OPTIONS)
    found = seen(SELECTORS.read(source(page(status), OPTIONS)))

    assert found.payload == {"score": "12/1", "status": status, "note": None}
    assert found.state == state
    assert found.notes == ("score was found by #score, the fallback number 1",)


def test_attribute_is_read_where_the_selector_names_one() -> None:
    found = SELECTORS.read(source(page("on", "<i class=note title='Free hit'></i>"), OPTIONS))

    assert seen(found).payload["note"] == "Free hit"


def test_page_without_a_field_is_unreadable() -> None:
    found = refused(SELECTORS.read(source("<p id=score>1</p>", OPTIONS)))

    assert found.reason is ExtractReason.SELECTOR_NOT_FOUND
    assert found.detail == "not found: status (.status)"


def test_state_is_in_play_unless_the_options_know_better() -> None:
    options = {"select": {"score": ["#score"]}}

    assert SELECTORS.read(source(page("ended"), options)) == Snapshot({"score": "12/1"}, "in_play")
    assert SELECTORS.way_for(options) == "http"


def test_state_by_a_field_that_is_missing_is_in_play() -> None:
    options = with_changes(ended={"field": "note", "text": "."})

    assert seen(SELECTORS.read(source(page("on"), options))).state == "in_play"


def test_what_is_critical_is_named_by_the_options() -> None:
    before = Snapshot({"score": "1", "status": "on"}, "in_play")

    assert SELECTORS.is_critical(before, Snapshot({"score": "2"}, "in_play"), OPTIONS)
    assert not SELECTORS.is_critical(
        before, Snapshot({"score": "1", "status": "off"}, "in_play"), OPTIONS
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "select: Field required"),
        ({"select": {}}, "select"),
        ({"select": {"score": []}}, "select.score"),
        ({"select": {"score": ".score"}}, "select.score"),
        ({"select": {"score": [""]}}, "select.score.0"),
        ({"select": {"score": ["p["]}}, "'p[' is no CSS selector"),
        ({"select": {"score": ["@href"]}}, "'' is no CSS selector"),
        ({"select": {"score": ["\ud800"]}}, "select.score.0"),
        ({"select": {"score": ["a" * 301]}}, "select.score.0"),
        ({"select": {"score": ["a"] * 11}}, "select.score"),
        ({"select": {f"f{n}": ["a"] for n in range(51)}}, "select"),
        ({"select": {"a.b": ["a"]}}, "select.a.b"),
        (with_changes(optional=["other"]), "'other' is not among the fields"),
        (with_changes(ended={"field": "other", "text": "x"}), "'other' is not among the fields"),
        (with_changes(ended={"field": "status"}), "ended.text: Field required"),
        (with_changes(ended={"field": "status", "text": "(a+)+$"}), "no groups"),
        (with_changes(**{"break": {"field": "status", "text": "["}}), "this is no pattern"),
        (with_changes(way="socket"), "'way' is http or page"),
        (with_changes(interval=3), "interval: Extra inputs"),
        (with_changes(break_={"field": "status", "text": "x"}), "break_: Extra inputs"),
    ],
)
def test_options_that_cannot_work_are_refused_with_the_reason(
    options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionsRefused) as caught:
        SELECTORS.check_options(options)

    assert str(caught.value).startswith("adapter selectors: ")
    assert problem in str(caught.value)


class TestPhrases:
    @pytest.mark.parametrize(
        "pattern",
        [
            "ended",
            "(?i)ended|result",
            "^won by [0-9]+ runs?$",
            r"\(final\)",
            r"4\+ 6\* \?",
            r"[\[]x[a]",
        ],
    )
    def test_words_and_a_few_repetitions_are_a_pattern(self, pattern: str) -> None:
        compile_phrase(pattern)

    @pytest.mark.parametrize(
        "pattern",
        [
            *("(a+)+", "(a|a)(a|a)", "(?=a)", "(?P<n>a)", r"a\1", "a*b*c*", "a?b?c?", "a**"),
            *("[", "[[a]", "[]a[b]", "[a--b]", "x" * 201, "a{9999999999}", "b(?i)a"),
        ],
    )
    def test_other_patterns_are_refused(self, pattern: str) -> None:
        with pytest.raises(ValueError, match="pattern"):
            compile_phrase(pattern)

    @pytest.mark.timeout(10)
    @pytest.mark.parametrize("pattern", ["a*a*b", ".*.*x", "[^x]+[^y]+z", "a+a+$|b"])
    def test_worst_pattern_is_matched_at_once(self, pattern: str) -> None:
        assert is_in(compile_phrase(pattern), "a" * 100_000) is pattern.startswith("a+a+")
