"""Whoever compares what is stored with a match finds all that can be wrong with it."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.chaos.live.truth import Findings, Played, Span, compare, visible
from tests.site.live_match import moments_of

PLAYED = Played(number=6, minutes=5, speed=1, start=1_000.0)
MOMENTS = moments_of(6, 5)
WATCHED = (1_000.0, 1_400.0)
Row = dict[str, Any]


def stored(places: Sequence[int]) -> list[Row]:
    """Updates of some moments, each seen a second after it was so."""
    rows: list[Row] = []
    for number, place in enumerate(places, 1):
        match, before = MOMENTS[place].match, MOMENTS[places[number - 2]].match
        is_critical = number == 1 or match.critical != before.critical
        at = round((PLAYED.begins()[place] + 1) * 1000)
        row = {"sequence": number, "payload": match.as_json(), "scraped_at": at}
        rows.append({**row, "critical": is_critical})
    return rows


ALL = stored(range(len(MOMENTS)))
#: A moment that must not be missed, and after which another comes.
PLACE = PLAYED.critical()[3][0]


def found_in(rows: list[Row], **more: Any) -> Findings:
    return compare(PLAYED, rows, WATCHED, enough=3.0, **more)


def renumbered(rows: list[Row]) -> list[Row]:
    return [{**row, "sequence": number} for number, row in enumerate(rows, 1)]


def test_a_match_that_is_stored_whole_is_clean() -> None:
    found = found_in(ALL)

    assert found.is_clean
    assert (found.updates, found.critical) == (len(MOMENTS), len(PLAYED.critical()))


def test_a_moment_that_is_missing_is_lost() -> None:
    until = PLAYED.critical()[4][0]
    found = found_in(renumbered(ALL[:PLACE] + ALL[until:]))

    assert found.lost == 1
    assert not found.is_clean


def test_a_moment_that_nobody_could_see_is_not_lost() -> None:
    until = PLAYED.critical()[4][0]
    begins = PLAYED.begins()
    rows = renumbered(ALL[:PLACE] + ALL[until:])

    assert found_in(rows, blind=[(begins[PLACE] + 1, begins[until])]).lost == 0


def test_a_moment_that_is_stored_twice_is_twofold() -> None:
    assert found_in(renumbered([*ALL[: PLACE + 1], ALL[PLACE], *ALL[PLACE + 1 :]])).twofold > 0


def test_moments_in_another_order_are_disordered() -> None:
    swapped = [*ALL[:PLACE], ALL[PLACE + 1], ALL[PLACE], *ALL[PLACE + 2 :]]

    assert found_in(renumbered(swapped)).disordered > 0


@pytest.mark.parametrize(("dropped", "disordered"), [(0, 1), (1, 0)])
def test_a_number_that_is_missing_is_one_that_was_dropped(dropped: int, disordered: int) -> None:
    uncritical = next(place for place, row in enumerate(ALL) if not row["critical"])
    rows = [row for place, row in enumerate(ALL) if place != uncritical]

    assert found_in(rows, dropped=dropped).disordered == disordered


@pytest.mark.parametrize("change", [{"payload": {"score": 1}}, {"scraped_at": 0}])
def test_what_was_never_shown_or_not_yet_is_a_phantom(change: Row) -> None:
    rows = [*ALL[:PLACE], {**ALL[PLACE], **change}, *ALL[PLACE + 1 :]]

    assert found_in(rows).phantom == 1


def test_a_change_that_does_not_say_how_much_it_matters_is_unmarked() -> None:
    rows = [*ALL[:PLACE], {**ALL[PLACE], "critical": False}, *ALL[PLACE + 1 :]]

    assert found_in(rows).unmarked == 1


@pytest.mark.parametrize(
    ("blind", "seen"),
    [
        ([], [(2, 8)]),
        ([(0, 1)], [(2, 8)]),
        ([(3, 4)], [(2, 3), (4, 8)]),
        ([(3, 4), (3.5, 6)], [(2, 3), (6, 8)]),
        ([(0, 9)], []),
    ],
)
def test_blind_spans_are_cut_out_of_what_is_shown(blind: list[Span], seen: list[Span]) -> None:
    assert visible((0, 8), (2, 20), blind) == seen


def test_many_blind_spans_are_no_trouble() -> None:
    blind = [(number / 10, number / 10 + 5) for number in range(200)]

    assert visible((0, 100), (0, 100), blind) == [(24.9, 100)]
