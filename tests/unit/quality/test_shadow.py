"""Shadow: what a candidate reads beside an adapter, and what that adds up to."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from penstock.core.errors import SettingsError
from penstock.quality import shadow
from penstock.quality.compare import Change
from penstock.quality.settings import QualitySettings
from penstock.quality.shadow import Place, Shadow, ShadowReport, fold, report_lines
from tests.unit.quality.test_replay import READER, REGISTRY, page


def beside(candidate: str, setting: str = "PENSTOCK_ANY__SHADOW") -> Shadow:
    return Shadow({"product": candidate}, REGISTRY, QualitySettings(), setting)


def result(number: int, change: str = "same", candidate: str = "product@1.1.0") -> dict[str, Any]:
    found = [] if change == "same" else [{"field": "price", "before": "1", "after": "2"}]
    kept = {"candidate": candidate, "change": change, "differences": found}
    name = f"{number:03}"
    return {"id": name, "url": f"/{name}", "at": number, "document": {"shadow": kept}, "of": "t1"}


class Results:
    """Results as a store gives them."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = sorted(rows, key=lambda row: Place(row["at"], row["id"]), reverse=True)

    def __call__(self, before: Place | None, number: int) -> Sequence[Mapping[str, Any]]:
        older = [row for row in self.rows if before is None or (row["at"], row["id"]) < before]
        return older[:number]


def test_candidate_that_reads_alike_is_the_same() -> None:
    found = beside("product@1.1.0").compare(page(1), READER.read(page(1), "product"))

    assert found == {"candidate": "product@1.1.0", "change": "same", "differences": []}


def test_candidate_that_breaks_harms_nobody() -> None:
    found = beside("product@1.2.0").compare(page(1), READER.read(page(1), "product"))

    assert found is not None
    assert found["change"] == "newly_failing"


def test_setting_with_an_unknown_adapter_is_named() -> None:
    with pytest.raises(SettingsError, match=r"PENSTOCK_MINE__SHADOW: .*'product@9\.9\.9'; known: "):
        beside("product@9.9.9", "PENSTOCK_MINE__SHADOW")
    with pytest.raises(SettingsError, match="no adapter 'shop'"):
        Shadow({"shop": "product@1.1.0"}, REGISTRY, QualitySettings(), "SETTING")


def test_reports_are_by_candidate_and_results_without_one_do_not_count() -> None:
    alone: list[dict[str, Any]] = [{**result(8), "document": None}, {**result(9), "document": {}}]
    other = result(3, "changed", "product@0.9.0")
    found, stopped_at = fold(Results([result(1), result(2, "newly_good"), other, *alone]), None)

    assert [(each.candidate, each.agreement) for each in found] == [
        ("product@0.9.0", 0.0),
        ("product@1.1.0", 0.5),
    ]
    assert stopped_at is None
    assert found[1].examples == [
        {
            "id": "002",
            "url": "/002",
            "at": 2,
            "of": "t1",
            "change": "newly_good",
            "differences": [{"field": "price", "before": "1", "after": "2"}],
        }
    ]


def test_newest_examples_are_kept() -> None:
    [report], _ = fold(Results([result(place, "changed") for place in range(30)]), None)

    assert report.summary.changes == {Change.CHANGED: 30}
    assert [each["at"] for each in report.examples] == list(range(29, 9, -1))


@pytest.mark.parametrize(
    ("most", "pages", "stopped_at"), [(None, 7, None), (3, 4, 3), (6, 6, 1), (7, 7, None)]
)
def test_reading_stops_when_there_is_enough(
    monkeypatch: pytest.MonkeyPatch, most: int | None, pages: int, stopped_at: int | None
) -> None:
    monkeypatch.setattr(shadow, "AT_ONCE", 2)

    [report], stopped = fold(Results([result(place) for place in range(7)]), most)

    assert (report.summary.pages, stopped) == (pages, stopped_at)


def test_lines_tell_of_nothing_yet() -> None:
    assert "0 pages, nothing yet" in report_lines(ShadowReport("product@1.1.0"))[0]
