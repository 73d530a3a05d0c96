"""A live match is the same whenever it is looked at, and has everything that adapters must bear."""

from itertools import pairwise

import pytest

from tests.site.live_match import (
    ALL_OUT,
    BALL_SECONDS,
    critical_moments,
    ends_at,
    match_at,
    moments_of,
)

NUMBERS = range(1, 61)


def test_match_is_a_function_of_its_number_and_the_time() -> None:
    before = [match_at(number, 200.0) for number in NUMBERS]
    moments_of.cache_clear()

    assert [match_at(number, 200.0) for number in NUMBERS] == before
    assert len({match.teams for match in before}) > 20


def test_match_is_live_then_paused_then_live_then_over() -> None:
    for number in NUMBERS:
        stages = [(one.match.innings, one.match.status) for one in moments_of(number)]

        assert list(dict.fromkeys(stages)) == [
            *((1, "live"), (1, "innings break")),
            *((2, "live"), (2, "ended")),
        ]


@pytest.mark.parametrize("minutes", [0.5, 3, 20, 300])
def test_match_takes_no_longer_than_it_may(minutes: float) -> None:
    ends = [ends_at(number, minutes) for number in NUMBERS]

    assert minutes * 20 < min(ends) <= max(ends) <= minutes * 60


def test_nothing_happens_between_two_balls() -> None:
    assert match_at(1, -3.0) == match_at(1, 0.0) == match_at(1, BALL_SECONDS - 0.1)
    assert match_at(1, BALL_SECONDS).balls == 1
    assert match_at(1, 1e9) == moments_of(1)[-1].match


def test_runs_of_an_innings_only_grow_and_batters_change_when_one_is_out() -> None:
    for number in NUMBERS:
        matches = [one.match for one in moments_of(number)]
        for old, new in pairwise(matches):
            is_same_innings = old.innings == new.innings
            assert not is_same_innings or new.runs >= old.runs
            assert len(new.batters) == (2 if new.status == "live" else 0)
            assert 0 <= new.wickets <= ALL_OUT


def test_results_are_of_every_kind_and_true() -> None:
    results = {match_at(number, 1e9).result or "" for number in range(1, 400)}
    for number in NUMBERS:
        end = match_at(number, 1e9)
        assert end.target is not None
        assert (end.runs >= end.target) is (f"{end.teams[1]} won" in (end.result or ""))

    assert "Match tied" in results
    assert {result.split()[-1] for result in results} >= {"run", "runs", "wicket", "wickets"}


def test_critical_moments_are_the_changes_of_score_wickets_status_and_result() -> None:
    critical, all_moments = critical_moments(3), moments_of(3)
    views = [one.match.critical for one in critical]

    assert len(critical) < len(all_moments)
    assert all(old != new for old, new in pairwise(views))
    assert (critical[0], critical[-1]) == (all_moments[0], all_moments[-1])
