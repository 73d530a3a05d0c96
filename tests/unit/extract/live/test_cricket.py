"""A match is read the same from its page, its HTML and its data, whenever one looks."""

import json
from typing import Any

import pytest

from penstock.extract.live.adapter import LiveAdapter, Snapshot
from penstock.extract.live.cricket import CRICKET, CRICKET_DATA, CRICKET_HTML, data_url
from penstock.kernel.records import ExtractReason
from tests.site.live_markup import POLL, REDESIGNED, UNKNOWN, scripted_match
from tests.site.live_match import critical_moments, match_at, moments_of
from tests.unit.extract.live.sources import data_of, html_of, refused, seen, source

PLAYING = match_at(7, 300)


def told(**changes: Any) -> str:
    return json.dumps(PLAYING.as_json() | changes)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_moment_is_read_from_html_and_data_alike(number: int) -> None:
    for moment in moments_of(number, 6):
        expected = Snapshot(moment.match.as_json(), moment.match.state)

        assert CRICKET.read(html_of(moment.match)) == expected
        assert CRICKET_HTML.read(html_of(moment.match)) == expected
        assert CRICKET_DATA.read(data_of(moment.match)) == expected


def test_critical_updates_are_those_that_the_match_calls_critical() -> None:
    critical = {moment.at for moment in critical_moments(7)}
    before = None
    for moment in moments_of(7):
        after = seen(CRICKET_DATA.read(data_of(moment.match)))
        assert CRICKET_DATA.is_critical(before, after, {}) is (moment.at in critical)
        before = after


def test_redesigned_page_is_read_by_fallbacks_and_says_so() -> None:
    usual, redesigned = (CRICKET.read(html_of(PLAYING, markup)) for markup in ("", REDESIGNED))

    assert seen(redesigned).payload == seen(usual).payload
    assert seen(usual).notes == ()
    assert "runs was found by .m-runs, the fallback number 1" in seen(redesigned).notes


def test_page_that_nobody_knows_names_what_was_tried() -> None:
    found = refused(CRICKET.read(html_of(PLAYING, UNKNOWN)))

    assert found.reason is ExtractReason.SELECTOR_NOT_FOUND
    assert "runs (.runs, .m-runs)" in found.detail
    assert "status (.status, .m-status)" in found.detail


def test_page_whose_script_has_not_run_is_unreadable() -> None:
    page = source(scripted_match("A v B", POLL))

    assert refused(CRICKET.read(page)).reason is ExtractReason.SELECTOR_NOT_FOUND


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('class="status">live', 'class="status">rain'),
        ('class="status">live', 'class="status">ended'),
        ('class="innings">1', 'class="innings">9'),
        ('class="wickets">', 'class="wickets">9'),
        ('class="overs">', 'class="overs">x'),
        ('class="batter-runs">', 'class="batter-runs">-'),
        ('class="batter-name"', 'class="name"'),
        ('class="team"', 'class="side"'),
        ("data-match-id=7", "data-match-id=seven"),
        ("</main>", '<b class="result">A won</b></main>'),
    ],
)
def test_page_that_makes_no_sense_is_unreadable(old: str, new: str) -> None:
    text = html_of(PLAYING).page.text
    assert old in text
    found = refused(CRICKET.read(source(text.replace(old, new))))

    assert found.reason is ExtractReason.PAGE_STRUCTURE_CHANGED
    assert found.detail


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "{}",
        "<html>",
        told()[:-1],
        told(score=None),
        told(score={"runs": 1}),
        told(matchId="7"),
        told(matchId=7.0),
        told(status="LIVE"),
        told(status="ended"),
        told(result="A won"),
        told(teams=["A"]),
        told(batters=[{"name": "A", "runs": 1}]),
        told(innings=True),
    ],
)
def test_data_that_makes_no_sense_is_unreadable(text: str) -> None:
    found = refused(CRICKET_DATA.read(source(text, content_type="application/json")))

    assert found.reason is ExtractReason.PAGE_STRUCTURE_CHANGED
    assert found.detail


def test_fields_that_nobody_asked_for_are_left_out() -> None:
    found = CRICKET_DATA.read(source(told(weather="rain", order="hang")))

    assert seen(found).payload == PLAYING.as_json()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://live.test/match/7", "http://live.test/match/7/data.json"),
        ("http://live.test/match/7?speed=60", "http://live.test/match/7/data.json?speed=60"),
        ("http://live.test/match/7/plain", "http://live.test/match/7/data.json"),
        ("http://live.test/match/7/socket?a=/b", "http://live.test/match/7/data.json?a=/b"),
        ("http://live.test/match/7/data.json", "http://live.test/match/7/data.json"),
    ],
)
def test_data_stands_below_the_page(url: str, expected: str) -> None:
    assert data_url(url) == expected
    assert CRICKET_DATA.address_of(url) == expected


@pytest.mark.parametrize(
    ("adapter", "way"), [(CRICKET, "page"), (CRICKET_HTML, "http"), (CRICKET_DATA, "http")]
)
def test_adapter_is_the_way(adapter: LiveAdapter, way: str) -> None:
    assert adapter.way_for({}) == way
