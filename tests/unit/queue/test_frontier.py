"""The frontier: fair over its lines, true to their limits, and as quick with many as with few."""

from collections import Counter
from math import log2
from typing import ClassVar

import pytest

from penstock.queue.frontier import Frontier


def frontier_of(**lines: int) -> Frontier[str]:
    """So many items in each line, `a0 a1 …`, one at a time per line."""
    frontier: Frontier[str] = Frontier()
    for line, items in lines.items():
        for number in range(items):
            frontier.put(line, f"{line}{number}")
    return frontier


def take(frontier: Frontier[str], now: float = 0) -> str | None:
    taken = frontier.take(now)
    return taken[1] if taken else None


def take_and_finish(frontier: Frontier[str], times: int) -> list[str]:
    items = []
    for _ in range(times):
        if taken := frontier.take(0):
            items.append(taken[1])
            frontier.done(taken[0])
    return items


def test_empty_frontier_gives_nothing() -> None:
    frontier = frontier_of()

    assert frontier.take(0) is None
    assert frontier.next_at() is None
    assert (len(frontier), frontier.running, frontier.lines) == (0, 0, 0)


def test_items_of_a_line_keep_their_order() -> None:
    assert take_and_finish(frontier_of(a=4), 4) == ["a0", "a1", "a2", "a3"]


def test_lines_take_turns_however_long_one_is() -> None:
    frontier = frontier_of(long=1000, short=2, other=2)

    assert take_and_finish(frontier, 6) == [
        "long0",
        "short0",
        "other0",
        "long1",
        "short1",
        "other1",
    ]


def test_line_that_finishes_much_gets_no_more_turns_than_others() -> None:
    frontier: Frontier[str] = Frontier()
    for number in range(8):
        frontier.put("a", f"a{number}", limit=8)
        frontier.put("b", f"b{number}", limit=8)
    for _ in range(6):
        take(frontier)

    for _ in range(3):
        frontier.done("a")

    assert [take(frontier) for _ in range(4)] == ["a3", "b3", "a4", "b4"]


def test_line_that_runs_holds_up_no_other() -> None:
    frontier = frontier_of(slow=10, quick=3)

    assert take(frontier) == "slow0"
    assert take_and_finish(frontier, 5) == ["quick0", "quick1", "quick2"]


def test_line_runs_no_more_than_its_limit() -> None:
    frontier: Frontier[str] = Frontier()
    for number in range(5):
        frontier.put("a", f"a{number}", limit=3)

    assert [take(frontier) for _ in range(5)] == ["a0", "a1", "a2", None, None]
    frontier.done("a")
    assert take(frontier) == "a3"


def test_item_that_waits_for_its_turn_still_counts_against_the_limit() -> None:
    frontier = frontier_of(a=2)
    item = take(frontier)
    assert item is not None

    frontier.give_back("a", item, until=10)

    assert take(frontier, now=9) is None
    assert frontier.next_at() == 10
    assert take(frontier, now=10) == "a0"
    assert take(frontier, now=10) is None


def test_item_that_comes_back_goes_before_those_that_have_not_begun() -> None:
    frontier: Frontier[str] = Frontier()
    for number in range(4):
        frontier.put("a", f"a{number}", limit=2)
    take(frontier)
    frontier.give_back("a", "a0", until=5, limit=2)

    assert take(frontier, now=5) == "a0"
    assert take(frontier, now=5) == "a1"


def test_items_come_back_in_the_order_of_their_times() -> None:
    frontier: Frontier[str] = Frontier()
    for number in range(3):
        frontier.put("a", f"a{number}", limit=3)
    for item, until in (("a0", 7), ("a1", 5), ("a2", 7)):
        take(frontier)
        frontier.give_back("a", item, until, limit=3)

    assert [take(frontier, now=7) for _ in range(3)] == ["a1", "a0", "a2"]


def test_item_may_come_back_to_another_line() -> None:
    frontier = frontier_of(old=2, new=1)
    take(frontier)

    frontier.give_back("old", "old0", until=5, line="new")

    assert frontier.take(0) == ("old", "old1")
    assert frontier.take(0) is None, "the newcomer has begun, and only one of its line may"
    assert frontier.take(5) == ("new", "old0")
    frontier.done("new")
    assert frontier.take(5) == ("new", "new0")


def test_line_is_opened_for_an_item_that_moves_to_it() -> None:
    frontier = frontier_of(old=1)
    take(frontier)

    frontier.give_back("old", "old0", until=0, line="new")

    assert frontier.lines == 1
    assert frontier.take(0) == ("new", "old0")


def test_line_that_others_move_to_is_not_pushed_back() -> None:
    """Every shop redirects to one consent page: whoever waits there must not wait for all."""
    frontier = frontier_of(**{f"shop{number}": 2 for number in range(10)})
    frontier.put("consent", "first", limit=100)
    served = []
    for _ in range(12):
        line, item = frontier.take(0) or ("", "")
        served.append(line)
        frontier.give_back(line, item, until=100, line="consent", limit=100)

    assert "consent" in served


def test_item_put_for_later_joins_the_end_of_its_line_then() -> None:
    frontier = frontier_of(a=1)
    frontier.put_later("a", "late", until=10)

    assert len(frontier) == 2
    assert take_and_finish(frontier, 2) == ["a0"]
    assert frontier.next_at() == 10
    assert take(frontier, now=9.9) is None
    assert take(frontier, now=10) == "late"


def test_item_put_for_later_does_not_hold_up_its_line() -> None:
    frontier = frontier_of(a=2)
    frontier.put_later("a", "late", until=10)

    assert take_and_finish(frontier, 2) == ["a0", "a1"]


def test_drained_frontier_returns_all_that_waited_and_starts_anew() -> None:
    frontier = frontier_of(a=3, b=1)
    frontier.put_later("c", "late", until=10)
    take(frontier)
    take(frontier)
    frontier.give_back("b", "b0", until=5)

    assert sorted(frontier.drain()) == ["a1", "a2", "b0", "late"]
    assert (len(frontier), frontier.running, frontier.lines) == (0, 1, 1)
    assert frontier.take(100) is None
    frontier.done("a")
    frontier.put("a", "new")
    assert take_and_finish(frontier, 2) == ["new"]


def test_line_without_items_takes_no_room() -> None:
    frontier = frontier_of(a=2, b=1)

    take_and_finish(frontier, 3)

    assert frontier.lines == 0


class CountedTime(float):
    """A time that counts how often it is compared: the work of every ordered structure."""

    comparisons: ClassVar[Counter[str]] = Counter()

    def __lt__(self, other: float) -> bool:
        self.comparisons["all"] += 1
        return float(self) < float(other)

    def __le__(self, other: float) -> bool:
        self.comparisons["all"] += 1
        return float(self) <= float(other)

    def __eq__(self, other: object) -> bool:
        self.comparisons["all"] += 1
        return isinstance(other, float) and float(self) == float(other)

    __hash__ = float.__hash__


def comparisons_per_step(lines: int, items: int) -> float:
    """What a step costs while so many lines wait for their turns and hold so many items each."""
    frontier: Frontier[int] = Frontier()
    for item in range(lines * items):
        frontier.put(f"line{item % lines}", item)
    for number in range(lines):
        line, item = frontier.take(CountedTime(0)) or ("", -1)
        frontier.give_back(line, item, CountedTime(number))
    CountedTime.comparisons.clear()
    for step in range(lines):
        line, item = frontier.take(CountedTime(step)) or ("", -1)
        frontier.give_back(line, item, CountedTime(step + lines))
    return CountedTime.comparisons["all"] / lines


@pytest.mark.parametrize("lines", [10, 100, 2000])
def test_step_costs_no_more_than_the_logarithm_of_the_lines(lines: int) -> None:
    assert comparisons_per_step(lines, items=2) <= 12 + 6 * log2(lines)


def test_step_costs_the_same_however_many_items_wait_in_the_lines() -> None:
    assert comparisons_per_step(50, items=200) == comparisons_per_step(50, items=2)
