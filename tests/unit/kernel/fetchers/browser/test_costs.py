"""What pages cost: nothing of a browser is forgotten, and nothing is charged twice."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.fetchers.browser.costs import share_out
from penstock.kernel.fetchers.browser.processes import Cost

MIB = 1024 * 1024
PIDS = st.integers(1, 12)
COSTS = st.dictionaries(PIDS, st.builds(Cost, st.integers(0, 2**40), st.integers(0, 1000)))


def test_a_page_is_charged_its_processes_and_an_equal_share_of_the_rest() -> None:
    before = {1: Cost(90 * MIB, 10.0), 7: Cost(40 * MIB, 1.0)}
    now = {1: Cost(100 * MIB, 12.0), 7: Cost(50 * MIB, 4.0), 8: Cost(20 * MIB, 0.5)}

    bill = share_out(before, now, {"one": frozenset({7}), "other": frozenset({8})})

    assert bill == {"one": Cost(100 * MIB, 4.0), "other": Cost(70 * MIB, 1.5)}


def test_a_process_that_is_gone_costs_nothing_and_a_new_one_of_its_number_only_its_own() -> None:
    before = {1: Cost(10, 1.0), 7: Cost(10, 90.0), 8: Cost(10, 5.0)}
    now = {1: Cost(10, 1.0), 7: Cost(10, 2.0)}

    bill = share_out(before, now, {"one": frozenset({7}), "other": frozenset({8})})

    assert bill == {"one": Cost(15, 2.0), "other": Cost(5, 0.0)}


def test_without_pages_nobody_is_charged() -> None:
    assert share_out({}, {1: Cost(10, 1.0)}, {}) == {}


@given(now=COSTS, pages=st.lists(PIDS, min_size=1, max_size=5, unique=True))
def test_all_is_charged_and_no_more(now: dict[int, Cost], pages: list[int]) -> None:
    owners = {f"page {pid}": frozenset({pid}) for pid in pages}

    bill = share_out({}, now, owners)

    rounding = len(pages)
    total = sum(cost.memory for cost in now.values())
    assert total - rounding < sum(cost.memory for cost in bill.values()) <= total
    spent = sum(cost.cpu_seconds for cost in now.values())
    assert abs(sum(cost.cpu_seconds for cost in bill.values()) - spent) < 1e-6
