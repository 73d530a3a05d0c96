"""A feed as somebody types it."""

import pytest

from penstock.cli.live_drafts import read_draft, read_options
from penstock.core.errors import SettingsError
from penstock.extract.live.selectors import SELECTORS

URL = "https://score.example/7"


def test_fields_signs_and_other_options_are_put_together() -> None:
    options = read_options(
        ["runs=.runs", "status=.status", "runs=.m-runs", 'link=a[rel="next"]@href'],
        ["runs"],
        "status=(?i)ended|a=b",
        "status=break",
        "page",
        ['optional=["link"]', "note=plain text"],
    )

    assert options == {
        "select": {
            "runs": [".runs", ".m-runs"],
            "status": [".status"],
            "link": ['a[rel="next"]@href'],
        },
        "critical": ["runs"],
        "ended": {"field": "status", "text": "(?i)ended|a=b"},
        "break": {"field": "status", "text": "break"},
        "way": "page",
        "optional": ["link"],
        "note": "plain text",
    }


def test_what_is_not_said_is_no_option() -> None:
    assert read_options(None, None, None, None, None, None) == {}


def test_options_of_a_draft_are_those_that_selectors_take() -> None:
    options = read_options(["runs=.runs"], ["runs"], "runs=over", None, "http", None)

    SELECTORS.check_options(options)


@pytest.mark.parametrize(
    ("select", "adapter", "expected"),
    [
        (["a=h1"], None, "selectors"),
        (["a=h1"], "mine", "mine"),
        (None, "cricket", "cricket"),
        (None, None, ""),
    ],
)
def test_who_names_selectors_wants_them_read(
    select: list[str] | None, adapter: str | None, expected: str
) -> None:
    options = read_options(select, None, None, None, None, None)

    assert read_draft(URL, options, adapter=adapter).adapter == expected


@pytest.mark.parametrize("text", ["runs", "=.runs", "runs="])
def test_half_a_pair_is_refused_with_how_to_write_it(text: str) -> None:
    with pytest.raises(SettingsError, match=r"--select .*NAME=VALUE"):
        read_options([text], None, None, None, None, None)
