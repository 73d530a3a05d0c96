"""A live adapter knows its ways, its options and what is critical; its snapshots are plain JSON."""

from collections.abc import Mapping
from typing import Any

import pytest

from penstock.core.errors import PenstockError
from penstock.core.urls import parse
from penstock.extract.live.adapter import (
    LiveAdapter,
    OptionsRefused,
    Snapshot,
    Source,
    Unreadable,
    Way,
)
from penstock.kernel.records import ExtractReason
from tests.unit.extract.live.sources import refused, seen, source

PLAYING = Snapshot({"score": {"runs": 4, "overs": "1.2"}, "teams": ["A", "B"]}, "in_play")


def heading(source: Source) -> Snapshot | Unreadable:
    return Snapshot({"title": source.document.first_text("h1")}, "in_play")


def adapter(**changes: Any) -> LiveAdapter:
    return LiveAdapter(**{"id": "mine", "version": "1.0.0", "extract": heading, **changes})


def giving(payload: Mapping[str, Any]) -> LiveAdapter:
    return adapter(extract=lambda _source: Snapshot(payload, "in_play"))


def changed(payload: Mapping[str, Any], state: Any = "in_play") -> Snapshot:
    return Snapshot({**PLAYING.payload, **payload}, state)


class TestIdentity:
    def test_name_is_id_and_version(self) -> None:
        assert adapter().name == "mine@1.0.0"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"id": "My own"},
            {"version": "1"},
            {"urls": ("*/match",)},
            {"ways": ()},
            {"ways": ("socket",)},
            {"ways": ("page",), "data_url": str},
            {"ways": ("http", "page"), "data_url": str},
        ],
    )
    def test_unsound_adapter_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="adapter"):
            adapter(**wrong)

    def test_url_is_matched_by_its_patterns(self) -> None:
        one = adapter(urls=("live.test/*", "live.test/match/*"))

        assert one.matching(parse("http://live.test/match/7")) == "live.test/match/*"
        assert one.matching(parse("http://other.test/match/7")) is None

    def test_data_call_is_asked_for_in_place_of_the_page(self) -> None:
        one = adapter(data_url=lambda url: f"{url}/data")

        assert one.address_of("http://live.test/7") == "http://live.test/7/data"
        assert adapter().address_of("http://live.test/7") == "http://live.test/7"


class TestOptions:
    @pytest.mark.parametrize(
        ("ways", "options", "way"),
        [
            (("http",), {}, "http"),
            (("page", "http"), {}, "page"),
            (("page", "http"), {"way": "http"}, "http"),
        ],
    )
    def test_usual_way_is_the_first_and_the_feed_may_choose_another(
        self, ways: tuple[Way, ...], options: dict[str, Any], way: Way
    ) -> None:
        one = adapter(ways=ways)
        one.check_options(options)

        assert one.way_for(options) == way

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"way": "page"}, "'way' is http, and not 'page'"),
            ({"way": ["http"]}, "'way' is http"),
            ({"critical": "score"}, "'critical' is a list"),
            ({"critical": ["x"] * 51}, "'critical' is a list of at most 50"),
            ({"critical": [7]}, "and not 7"),
            ({"critical": [""]}, "and not ''"),
            ({"speed": 3}, "there is no option 'speed'"),
        ],
    )
    def test_wrong_options_are_refused_with_the_reason(
        self, options: dict[str, Any], problem: str
    ) -> None:
        with pytest.raises(OptionsRefused, match="adapter mine: ") as caught:
            adapter().check_options(options)

        assert problem in str(caught.value)
        assert isinstance(caught.value, PenstockError)

    def test_options_of_its_own_are_for_the_adapter_to_check(self) -> None:
        checked: list[Mapping[str, Any]] = []
        adapter(check_own=checked.append).check_options({"way": "http", "speed": 3})

        assert checked == [{"speed": 3}]


class TestReading:
    def test_snapshot_is_what_the_adapter_made(self) -> None:
        assert adapter().read(source("<h1>Four!</h1>")) == Snapshot({"title": "Four!"}, "in_play")

    @pytest.mark.parametrize("text", ["", " \n\t "])
    def test_empty_page_is_unreadable(self, text: str) -> None:
        assert refused(adapter().read(source(text))).reason is ExtractReason.EMPTY_PAGE

    def test_payload_is_as_the_store_will_give_it_back(self) -> None:
        found = giving({"teams": ("A", "B"), "score": {"runs": 1.5}}).read(source("x"))

        assert seen(found).payload == {"teams": ["A", "B"], "score": {"runs": 1.5}}

    @pytest.mark.parametrize(
        "value",
        [object(), {1, 2}, b"x", 2**65, "\ud800", {1: "x"}, "x" * 1_000_000],
        ids=["object", "set", "bytes", "int", "surrogate", "key", "large"],
    )
    def test_payload_that_cannot_be_kept_is_unreadable(self, value: Any) -> None:
        found = refused(giving({"x": value}).read(source("x")))

        assert found.reason is ExtractReason.PAGE_STRUCTURE_CHANGED
        assert "no JSON object that can be kept" in found.detail

    @pytest.mark.parametrize(("depth", "is_kept"), [(50, True), (70, False), (2_000, False)])
    def test_depth_of_a_payload_is_bounded(self, depth: int, is_kept: bool) -> None:
        value: Any = 1
        for _ in range(depth):
            value = [value]

        assert isinstance(giving({"x": value}).read(source("x")), Snapshot) is is_kept

    def test_payload_must_be_an_object(self) -> None:
        listed: Any = [1, 2]
        refused(giving(listed).read(source("x")))

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ('{"a": [1]}', {"a": [1]}),
            ("{'a': 1}", None),
            ('{"a": 1', None),
            ("<p>x</p>", None),
            ("[" * 100 + "]" * 100, None),
            ("[" * 100_000, None),
        ],
    )
    def test_source_is_json_by_the_standard_or_not_at_all(self, text: str, value: Any) -> None:
        assert source(text).json == value


class TestCritical:
    ADAPTER = adapter(critical=frozenset({"score.runs", "teams.1", "result"}))

    @pytest.mark.parametrize(
        "after",
        [
            changed({"score": {"runs": 5, "overs": "1.3"}}),
            changed({"score": None}),
            changed({"teams": ["A", "C"]}),
            changed({"teams": ["A"]}),
            changed({"result": None}),
            changed({}, "break"),
            changed({}, "ended"),
        ],
    )
    def test_change_of_state_or_of_a_critical_field_is_critical(self, after: Snapshot) -> None:
        assert self.ADAPTER.is_critical(PLAYING, after, {})

    @pytest.mark.parametrize(
        "after",
        [
            PLAYING,
            changed({"score": {"runs": 4, "overs": "1.3"}}),
            changed({"teams": ["C", "B"]}),
            changed({"bowler": "D"}),
        ],
    )
    def test_other_changes_are_not(self, after: Snapshot) -> None:
        assert not self.ADAPTER.is_critical(PLAYING, after, {})

    def test_first_and_final_update_are_critical(self) -> None:
        ended = changed({}, "ended")

        assert self.ADAPTER.is_critical(None, PLAYING, {})
        assert self.ADAPTER.is_critical(ended, ended, {})

    def test_feed_may_name_more(self) -> None:
        after = changed({"score": {"runs": 4, "overs": "1.3"}})

        assert self.ADAPTER.is_critical(PLAYING, after, {"critical": ["score.overs"]})
