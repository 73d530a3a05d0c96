"""A hostile robots.txt costs no more than its size."""

import time

import pytest

from penstock.kernel.robots import RobotsFile

SOON = 0.1


def seconds_to_decide(text: str, target: str = "/page") -> float:
    began = time.perf_counter()
    RobotsFile(text).decide(target, "Penstock")
    return time.perf_counter() - began


def test_many_rules_are_read_soon() -> None:
    rules = "".join(f"Disallow: /{number}\n" for number in range(2000))

    assert seconds_to_decide("User-agent: *\n" + rules) < SOON


@pytest.mark.parametrize("names", [["x"] * 800, [f"x{'y' * n}" for n in range(800)]])
def test_many_agents_do_not_multiply_the_rules(names: list[str]) -> None:
    agents = "".join(f"User-agent: {name}\n" for name in names)

    assert seconds_to_decide(agents + "Disallow: /a\n" * 800) < SOON


@pytest.mark.parametrize("stars", [10, 100, 1000])
def test_many_wildcards_do_not_blow_up(stars: int) -> None:
    rule = f"Disallow: /{'*a' * stars}b\n"

    assert seconds_to_decide(f"User-agent: *\n{rule}", "/" + "a" * 8000) < SOON
