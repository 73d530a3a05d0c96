"""Whatever a live page holds, it gives a snapshot that can be kept, or a reason, and no fault."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.extract.live.adapter import LiveAdapter, Snapshot, Source, Unreadable
from penstock.extract.live.phrase import compile_phrase, is_in
from penstock.extract.live.registry import LIVE_ADAPTERS
from penstock.kernel.model import Page
from tests.site.live_markup import plain_match
from tests.site.live_match import match_at

URL = "http://live.test/match/7"
OPTIONS = {
    "selectors": {
        "select": {"score": [".runs", "b"], "status": [".status@class", ".status"]},
        "optional": ["status"],
        "ended": {"field": "status", "text": "(?i)end.*ed|result"},
    }
}
WHOLE = plain_match(match_at(7, 300), "")
PIECES = (
    *('<b class="runs">', '<b class="status">', '<b class="team">', '<b class="batter-name">'),
    *('<b class="wickets">', '<b class="overs">', "</b>", "<main id=match data-match-id=7>"),
    *("live", "ended", "12", "-1", "9" * 20, "\x00", "é", "\u202e", "<", ">", "&#x3c;", "<script>"),
    WHOLE,
    WHOLE[:300],
)
soup = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=50)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
FIELDS = ("matchId", "teams", "status", "innings", "score", "batters", "result")


@st.composite
def matches(draw: st.DrawFn) -> Any:
    """The data of a match in which some fields are anything."""
    told = match_at(7, draw(st.floats(0, 2_000))).as_json()
    for name in draw(st.sets(st.sampled_from(FIELDS), max_size=3)):
        told[name] = draw(trees)
    return told


texts = soup.map(str.encode) | (matches() | trees).map(lambda tree: json.dumps(tree).encode())


@pytest.mark.parametrize("adapter", LIVE_ADAPTERS, ids=lambda one: one.id)
@given(body=texts | st.binary(max_size=100))
def test_any_page_is_read_or_refused_with_a_reason(adapter: LiveAdapter, body: bytes) -> None:
    page = Page(URL, 200, {"Content-Type": "text/html"}, body, 0.1)
    found = adapter.read(Source(page, OPTIONS.get(adapter.id, {})))

    match found:
        case Snapshot():
            assert orjson.loads(orjson.dumps(found.payload)) == found.payload
            assert found.state in {"in_play", "break", "ended"}
        case Unreadable():
            assert found.detail


@given(payload=trees)
def test_any_payload_is_kept_as_it_is_or_refused(payload: Any) -> None:
    adapter = LiveAdapter("any", "1.0.0", lambda _source: Snapshot({"x": payload}, "in_play"))
    found = adapter.read(Source(Page(URL, 200, {}, b"x", 0.1)))

    assert isinstance(found, Unreadable) or (
        orjson.loads(orjson.dumps(found.payload)) == found.payload
    )


@given(pattern=st.text("ab|.*+?{1,}[]^$()\\ ", max_size=20))
@pytest.mark.timeout(60)
def test_pattern_is_refused_or_matched_fast(pattern: str) -> None:
    try:
        phrase = compile_phrase(pattern)
    except ValueError:
        return
    is_in(phrase, "ab" * 1_000)
    is_in(phrase, "a" * 1_000)
