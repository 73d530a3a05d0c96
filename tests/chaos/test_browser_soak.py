"""Pages in browsers for a while, three of ten failing: what the service takes stays the same."""

from pathlib import Path

import pytest

from tests.browsers import Place
from tests.chaos.browsers.soak import FIGURES, SMALL, Moment, Soak, soak
from tests.chaos.browsers.vitals import fit


def soak_with(growth: float, of: int) -> Soak:
    """A soak in which one figure grows by so much, and the others stay."""
    steps = range(8)
    values = [
        tuple(
            100 + (growth * step / steps[-1] if place == of else 0) for place in range(len(FIGURES))
        )
        for step in steps
    ]
    return Soak([Moment(10 * step, seen) for step, seen in zip(steps, values, strict=True)])


@pytest.mark.parametrize("place", range(len(FIGURES)))
def test_what_grows_by_more_than_is_allowed_is_found(place: int) -> None:
    allowed = FIGURES[place].allowed

    assert soak_with(allowed, place).is_flat
    assert not soak_with(2 * allowed, place).is_flat


def test_a_line_is_found_in_what_scatters() -> None:
    line = fit([0, 1, 2, 3], [1, 4, 5, 8])

    assert line.slope == pytest.approx(2.2)
    assert line.growth == pytest.approx(6.6)
    assert line.error == pytest.approx(0.2828, abs=1e-4)


@pytest.mark.timeout(300)
async def test_browsers_leak_nothing_however_their_pages_end(
    tmp_path: Path, browsers: Place
) -> None:
    found = await soak(tmp_path, browsers, SMALL, seed=1)

    assert found.completed + found.failed == SMALL.pages
    assert found.spared == 0
    assert found.completed > SMALL.pages / 2, found.errors
    assert found.is_flat, found.lines()
    assert browsers.files_left() == []
