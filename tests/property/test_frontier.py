"""The frontier under any order of operations: nothing lost, nothing twice, never too many."""

from collections import defaultdict, deque
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from penstock.queue.frontier import Frontier

LIMITS = {"one": 1, "two": 2, "three": 3}
END = 1e9
lines = st.sampled_from(sorted(LIMITS))
waits = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0])


class FrontierModel(RuleBasedStateMachine):
    """A frontier beside plain lists that say where every item has to be."""

    running = Bundle("running")

    def __init__(self) -> None:
        super().__init__()
        self.frontier: Frontier[int] = Frontier()
        self.now = 0.0
        self.numbers = count()
        self.fresh: dict[str, deque[int]] = defaultdict(deque)
        self.returning: dict[str, dict[int, float]] = defaultdict(dict)
        self.delayed: dict[int, tuple[float, str]] = {}
        self.taken: dict[int, str] = {}
        self.over: list[int] = []
        self.put_in: list[int] = []

    def begun(self, line: str) -> int:
        """How many of a line are under way: running, or waiting to go on."""
        return list(self.taken.values()).count(line) + len(self.returning[line])

    def may_be_taken(self, line: str, item: int) -> bool:
        if item in self.returning[line]:
            return self.returning[line][item] <= self.now
        is_first = bool(self.fresh[line]) and self.fresh[line][0] == item
        return is_first and self.begun(line) < LIMITS[line]

    def admit_delayed(self) -> None:
        """Those whose time has come join the ends of their lines, the earliest first."""
        due = sorted((at, item) for item, (at, _) in self.delayed.items() if at <= self.now)
        for _, item in due:
            self.fresh[self.delayed.pop(item)[1]].append(item)

    @rule(line=lines)
    def put(self, line: str) -> None:
        item = next(self.numbers)
        self.put_in.append(item)
        self.fresh[line].append(item)
        self.frontier.put(line, item, LIMITS[line])

    @rule(line=lines, wait=waits)
    def put_later(self, line: str, wait: float) -> None:
        item = next(self.numbers)
        self.put_in.append(item)
        self.delayed[item] = (self.now + wait, line)
        self.frontier.put_later(line, item, self.now + wait, LIMITS[line])

    @rule(target=running, wait=waits)
    def take(self, wait: float) -> int | None:
        self.now += wait
        self.admit_delayed()
        taken = self.frontier.take(self.now)
        if taken is None:
            self.check_that_nothing_can_be_taken()
            return None
        line, item = taken
        assert self.may_be_taken(line, item)
        if self.returning[line].pop(item, None) is None:
            self.fresh[line].popleft()
        self.taken[item] = line
        return item

    def check_that_nothing_can_be_taken(self) -> None:
        for line in LIMITS:
            items = [*self.fresh[line], *self.returning[line]]
            assert not [item for item in items if self.may_be_taken(line, item)]
        times = [at for at, _ in self.delayed.values()]
        times += [at for line in LIMITS for at in self.returning[line].values()]
        assert self.frontier.next_at() == min(times, default=None)

    @rule(item=consumes(running))
    def done(self, item: int | None) -> None:
        if item is not None:
            self.over.append(item)
            self.frontier.done(self.taken.pop(item))

    @rule(item=consumes(running), wait=waits, goal=st.none() | lines)
    def give_back(self, item: int | None, wait: float, goal: str | None) -> None:
        if item is None:
            return
        line = self.taken.pop(item)
        goal = goal or line
        until = self.now + wait
        self.returning[goal][item] = until
        self.frontier.give_back(line, item, until, line=goal, limit=LIMITS[goal])

    @rule()
    def drain(self) -> None:
        waiting = self.waiting()
        left = self.frontier.drain()

        assert sorted(left) == sorted(waiting)
        self.over += left
        for place in (self.fresh, self.returning, self.delayed):
            place.clear()
        assert self.frontier.next_at() is None
        assert self.frontier.lines == len(set(self.taken.values()))

    def waiting(self) -> list[int]:
        begun = [item for line in LIMITS for item in self.returning[line]]
        return [*self.delayed, *begun, *(item for line in LIMITS for item in self.fresh[line])]

    @invariant()
    def counts_are_exact(self) -> None:
        assert len(self.frontier) == len(self.waiting())
        assert self.frontier.running == len(self.taken)

    def teardown(self) -> None:
        """Whatever happened: all that is left comes out, once, and the frontier is empty."""
        for line in self.taken.values():
            self.frontier.done(line)
        self.over += self.taken
        while taken := self.frontier.take(END):
            self.over.append(taken[1])
            self.frontier.done(taken[0])
        assert sorted(self.over) == self.put_in
        assert (len(self.frontier), self.frontier.running, self.frontier.lines) == (0, 0, 0)


TestFrontier = FrontierModel.TestCase
TestFrontier.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
