"""Properties of the rules that scrapers go by, for any looks and any times."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.workloads.live.breaker import FeedBreaker
from penstock.workloads.live.polling import Polling
from penstock.workloads.live.restarting import HOUR, ORDERLY, Restarts
from penstock.workloads.live.settings import LiveSettings
from penstock.workloads.live.timeouts import Timeouts
from tests.clocks import HandClock

RETRIES = {1.0, 2.0, 4.0, 8.0, 16.0}
#: Seconds that pass, and how a look went then.
looks = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 2.5, 30.0, 299.5, 300.0, 1000.0]), st.sampled_from("+=xxx")
    ),
    max_size=80,
)


def look(polling: Polling, how: str) -> None:
    if how == "x":
        polling.failed()
    else:
        polling.looked(changed=how == "+")


@settings(max_examples=300, deadline=None)
@given(
    interval=st.none() | st.floats(0.1, 100),
    floor=st.sampled_from([0.0, 1.5, 3.0, 60.0]),
    is_adaptive=st.booleans(),
    looks=looks,
)
def test_a_delay_is_always_one_of_those_of_the_rules(
    interval: float | None, floor: float, is_adaptive: bool, looks: list[tuple[float, str]]
) -> None:
    clock, rules = HandClock(), LiveSettings(enable_adaptive_polling=is_adaptive)
    polling = Polling(rules, clock, interval, floor)
    baseline = interval or 2.5
    intervals = {baseline}
    if is_adaptive:
        intervals |= {min(2.0, baseline), *(max(each, baseline) for each in (5.0, 10, 20, 30))}
    for seconds, how in looks:
        clock.move(seconds)
        look(polling, how)
        allowed = intervals | (RETRIES if how == "x" else set())
        assert polling.next_delay() in {max(each, floor) for each in allowed}
        assert polling.interval in {max(each, floor) for each in intervals}


@settings(max_examples=200, deadline=None)
@given(looks=looks, cut=st.integers(0, 80))
def test_a_restart_changes_no_delay(looks: list[tuple[float, str]], cut: int) -> None:
    clock = HandClock()
    polling, restarted = (Polling(LiveSettings(), clock) for _ in range(2))
    for number, (seconds, how) in enumerate(looks):
        if number == cut:
            memory, restarted = restarted.memory(), Polling(LiveSettings(), clock)
            restarted.recall(memory)
        clock.move(seconds)
        look(polling, how)
        look(restarted, how)
        assert restarted.next_delay() == polling.next_delay()


@settings(max_examples=300, deadline=None)
@given(
    first=st.floats(15, 120),
    latencies=st.lists(st.floats(0, 200) | st.floats(0, 0.6) | st.floats(1.9, 5), max_size=200),
)
def test_timeouts_stay_within_their_bounds(first: float, latencies: list[float]) -> None:
    timeouts = Timeouts(LiveSettings(page_timeout_seconds=first))
    for latency in latencies:
        timeouts.looked(latency)
        assert 15 <= timeouts.seconds <= 120


@settings(max_examples=300, deadline=None)
@given(
    most=st.integers(1, 15),
    ends=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 60.0, 299.0, 300.0, 1200.0, 3600.0]),
            st.sampled_from(["errors", "staleness", "crash", "age", "memory"]),
        ),
        max_size=80,
    ),
)
def test_no_hour_has_more_restarts_than_the_ceiling(
    most: int, ends: list[tuple[float, str]]
) -> None:
    clock = HandClock()
    restarts = Restarts(LiveSettings(max_restarts_per_hour=most), clock)
    times: list[float] = []
    for ran_for, reason in ends:
        clock.move(ran_for)
        now = clock.monotonic()
        recent = [at for at in times if now - at < HOUR]
        pause = restarts.pause_after(reason)
        if reason in ORDERLY:
            assert pause == 0
        elif len(recent) >= most:
            assert pause is None
        else:
            assert pause is not None
            assert 1 <= pause <= 60
            assert ran_for < 300 or pause == 1
            times.append(now)
            clock.move(pause)


class Written:
    """The breaker as the specification writes it down, with times as numbers."""

    def __init__(self) -> None:
        self.state, self.failures, self.successes = "CLOSED", 0, 0
        self.failed_at = 0.0

    def can_attempt(self, now: float) -> bool:
        if self.state == "OPEN" and now - self.failed_at >= 60:
            self.state, self.failures, self.successes = "HALF_OPEN", 0, 0
        return self.state != "OPEN"

    def record(self, now: float, *, well: bool) -> None:
        if not well:
            self.failed_at = now
            self.failures += 1
            if self.state == "HALF_OPEN" or self.failures >= 5:
                self.state, self.successes = "OPEN", 0
        elif self.state == "HALF_OPEN":
            self.successes += 1
            if self.successes >= 5:
                self.state, self.failures, self.successes = "CLOSED", 0, 0
        else:
            self.failures = 0


@settings(max_examples=300, deadline=None)
@given(
    results=st.lists(
        st.tuples(st.sampled_from([0.0, 0.0, 1.0, 30.0, 60.0]), st.sampled_from([True, False])),
        max_size=80,
    )
)
async def test_the_breaker_does_what_the_specification_says(
    results: Sequence[tuple[float, bool]],
) -> None:
    clock, written = HandClock(), Written()
    breaker = FeedBreaker("m1", LiveSettings(), clock)
    calls = rejections = 0
    for seconds, well in results:
        clock.move(seconds)
        if await breaker.rejects() is not None:
            rejections += 1
            assert not written.can_attempt(clock.monotonic())
            continue
        assert written.can_attempt(clock.monotonic())
        await breaker.report(await breaker.enter(), well=well)
        written.record(clock.monotonic(), well=well)
        calls += 1
        assert breaker.state == written.state
        assert (breaker.failure_count, breaker.success_count) == (
            written.failures,
            written.successes,
        )
        assert (breaker.total_calls, breaker.total_rejections) == (calls, rejections)
