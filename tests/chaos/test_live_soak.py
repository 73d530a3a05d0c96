"""Whoever judges a soak of live pages finds what grows, what is too large, and what is too old."""

from dataclasses import replace
from xml.dom import minidom

import pytest

from benchmarks.live_samples import KINDS, Sample, trends_of
from benchmarks.live_soak import Soak, plot, render, verdicts
from penstock.workloads.live.ways import RENEW_SECONDS

MINUTES = 20
WELL = Sample(
    seconds=0,
    pss=900,
    pss_by_kind=dict.fromkeys(KINDS, 225.0),
    rss=3000,
    files=1000,
    processes=33,
    ages=[1] * 20,
    feeds_mb=[30.0] * 20,
    load=1.0,
)


def soak_of(change: str = "", by: float = 0.0) -> Soak:
    """A soak in which one figure grows by so much from its beginning to its end."""
    found, number = Soak(MINUTES, 20), MINUTES * 6
    for step in range(number):
        sample = replace(WELL, seconds=10.0 * step)
        if change:
            sample = replace(sample, **{change: getattr(WELL, change) + by * step / number})
        found.samples.append(sample)
    return found


def broken(found: Soak) -> list[str]:
    return [what for what, _, _, is_kept in verdicts(found) if not is_kept]


def test_a_soak_in_which_nothing_grows_is_well() -> None:
    assert broken(soak_of()) == []
    assert soak_of().is_well


@pytest.mark.parametrize(
    ("figure", "by", "name"),
    [
        ("pss", 100, "memory of all (PSS, MB)"),
        ("rss", 300, "memory of all (RSS, MB)"),
        ("files", 40, "open files"),
        ("processes", 3, "processes"),
    ],
)
def test_what_grows_is_found(figure: str, by: float, name: str) -> None:
    assert broken(soak_of(figure, by)) == [f"growth of {name}"]


def with_a_saw(found: Soak, high: float) -> Soak:
    """Pages gain until they are opened anew, all at the same time."""
    found.samples = [
        replace(one, pss=one.pss + high * (one.seconds % RENEW_SECONDS) / RENEW_SECONDS)
        for one in found.samples
    ]
    return found


def test_what_pages_gain_until_they_are_opened_anew_is_no_growth() -> None:
    assert broken(with_a_saw(soak_of(), 120)) == []
    assert broken(with_a_saw(soak_of("pss", 100), 120)) == ["growth of memory of all (PSS, MB)"]


def test_a_feed_that_is_too_large_is_found() -> None:
    found = soak_of()
    found.samples[50] = replace(found.samples[50], feeds_mb=[*WELL.feeds_mb[1:], 201.0])

    assert broken(found) == ["memory of one feed"]


@pytest.mark.parametrize("age", [10, None])
@pytest.mark.parametrize(("times", "is_kept"), [(20, True), (30, False)])
def test_data_may_be_old_in_one_look_of_a_hundred(
    age: int | None, times: int, is_kept: bool
) -> None:
    found = soak_of()
    for place in range(40, 40 + times):
        found.samples[place] = replace(found.samples[place], ages=[age, *WELL.ages[1:]])

    # One of twenty feeds is old in these looks.
    assert (broken(found) == []) is is_kept


def test_the_warm_up_is_left_out() -> None:
    found = soak_of()
    for place in range(12):
        found.samples[place] = replace(found.samples[place], pss=100.0, ages=[None] * 20)

    assert broken(found) == []
    assert {trend.mean for trend in trends_of(found.samples, 180)} >= {900.0}


def test_a_process_that_is_left_is_no_good_end() -> None:
    found = soak_of()
    found.left = 1

    assert not found.is_well


def test_figures_and_plot_can_be_shown() -> None:
    found = soak_of("pss", 50)
    picture = minidom.parseString(plot(found))  # noqa: S318 - we made it ourselves

    assert "| growth of memory of all (PSS, MB) |" in render(found)
    assert len(picture.getElementsByTagName("polyline")) == 11
