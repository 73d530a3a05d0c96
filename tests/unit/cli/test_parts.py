"""Which parts of the platform a process runs, and what follows from it for live pages."""

import pytest

from penstock.cli.up import Parts
from penstock.settings import Settings


@pytest.mark.parametrize(
    ("works", "only", "enabled", "claims", "watches"),
    [
        (True, [], True, True, True),
        (True, [], False, True, False),
        (True, ["live"], True, False, True),
        (True, ["live"], False, False, True),
        (True, ["live", "scrape"], True, True, True),
        (True, ["scrape"], True, True, False),
        (False, [], True, False, False),
    ],
)
def test_live_pages_are_watched_if_they_are_asked_for_by_name_or_not_switched_off(
    works: bool, only: list[str], enabled: bool, claims: bool, watches: bool
) -> None:
    settings = Settings(live={"enabled": enabled})
    parts = Parts(works=works, only=only)

    assert parts.claims == claims
    assert parts.watches(settings) == watches
