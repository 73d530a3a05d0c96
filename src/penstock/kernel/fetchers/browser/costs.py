"""What pages cost: each its own processes, and an equal share of the rest of its browser."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.kernel.fetchers.browser.processes import Cost

NOTHING = Cost(0, 0.0)
#: What each process of a browser takes, by its id.
Costs = Mapping[int, Cost]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a page takes: memory now, and processor time since it was opened."""

    memory_bytes: int
    cpu_seconds: float
    browser_pid: int


def share_out(before: Costs, now: Costs, owners: Mapping[str, frozenset[int]]) -> dict[str, Cost]:
    """The memory of each page, and the processor time that it took since the costs before."""
    spent = {pid: _since(before.get(pid, NOTHING), cost) for pid, cost in now.items()}
    owned = frozenset[int]().union(*owners.values())
    rest = _sum(cost for pid, cost in spent.items() if pid not in owned)
    bill = {}
    for name, pids in owners.items():
        own = _sum(spent[pid] for pid in pids if pid in spent)
        bill[name] = Cost(
            own.memory + rest.memory // len(owners),
            own.cpu_seconds + rest.cpu_seconds / len(owners),
        )
    return bill


def _since(before: Cost, now: Cost) -> Cost:
    """The time between; a number that is another process by now has less than before."""
    seconds = now.cpu_seconds - before.cpu_seconds
    return Cost(now.memory, seconds if seconds >= 0 else now.cpu_seconds)


def _sum(costs: Iterable[Cost]) -> Cost:
    taken = list(costs)
    return Cost(sum(one.memory for one in taken), sum(one.cpu_seconds for one in taken))
