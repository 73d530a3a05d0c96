"""Pages for live adapters, as the test site would show them."""

from collections.abc import Mapping
from typing import Any

from penstock.extract.live.adapter import Snapshot, Source, Unreadable
from penstock.kernel.model import Page
from tests.site.live_markup import USUAL, plain_match
from tests.site.live_match import Match
from tests.site.live_pages import Scene

URL = "http://live.test/match/7"


def source(
    text: str, options: Mapping[str, Any] | None = None, content_type: str = "text/html"
) -> Source:
    headers = {"Content-Type": f"{content_type}; charset=utf-8"}
    return Source(Page(URL, 200, headers, text.encode(), 0.1), options or {})


def html_of(match: Match, markup: str = USUAL) -> Source:
    return source(plain_match(match, markup))


def data_of(match: Match) -> Source:
    return source(Scene(match, None).data(0), content_type="application/json")


def seen(found: Snapshot | Unreadable) -> Snapshot:
    assert isinstance(found, Snapshot), found
    return found


def refused(found: Snapshot | Unreadable) -> Unreadable:
    assert isinstance(found, Unreadable), found
    return found
