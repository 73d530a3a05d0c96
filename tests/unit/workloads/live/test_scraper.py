"""One scraper: what it hands in, how it takes trouble, and why it ends."""

import pytest

from penstock.core.errors import JournalFailed
from penstock.extract.live.adapter import Snapshot
from penstock.kernel.model import Broken, Failure, RateLimited, Refused, UrlSpecific, Wait
from penstock.workloads.live.model import ErrorType, Resolution, hash_of
from penstock.workloads.live.scraper import ALERTS, EndKind, Last
from tests.live import NOT_FOUND, REFUSED_CONNECTION, UNREADABLE, page, watch


async def test_only_what_changed_is_handed_in() -> None:
    same = page(score=1)
    watching = watch([same, same, page(score=2), page(score=2)], cycles=4)

    await watching.run()

    assert [(each.sequence, each.payload) for each in watching.desk.updates] == [
        (1, {"score": 1}),
        (2, {"score": 2}),
    ]
    assert watching.desk.looks == [True, False, True, False]
    assert watching.scraper.context.total_updates == 4


async def test_what_the_adapter_calls_critical_is_marked() -> None:
    shows = [page(score=1, over=1), page(score=1, over=2), page(score=2, over=2)]
    watching = watch([*shows, page("break", score=2, over=2)], cycles=4)

    await watching.run()

    assert [each.critical for each in watching.desk.updates] == [True, False, True, True]


async def test_a_new_scraper_goes_on_where_the_last_update_was() -> None:
    known = Snapshot({"score": 1}, "in_play")
    last = Last(7, hash_of(known.payload, known.state), known, 1000.0)
    watching = watch([page(score=1), page(score=2)], cycles=2, last=last)

    await watching.run()

    assert [(each.sequence, each.payload) for each in watching.desk.updates] == [(8, {"score": 2})]


async def test_what_was_lost_for_want_of_room_is_news_again() -> None:
    watching = watch([page(score=1)], cycles=2)
    watching.desk.lacking.add("m1")

    await watching.run()

    assert [each.sequence for each in watching.desk.updates] == [1, 2]


async def test_a_page_that_says_it_has_ended_is_read_to_its_last_word() -> None:
    shows = [page(score=1), page("ended", score=2), page("ended", score=2, result="A won")]
    watching = watch(shows, cycles=9)

    end = await watching.run()

    assert end.kind is EndKind.COMPLETED
    assert watching.way.anew == [2]
    assert [(each.final, each.payload.get("result")) for each in watching.desk.updates] == [
        (False, None),
        (False, None),
        (True, "A won"),
    ]


async def test_an_end_that_was_a_slip_does_not_end_the_feed() -> None:
    watching = watch([page("ended", score=1), page(score=2), page(score=3)], cycles=3)

    end = await watching.run()

    assert end.kind is EndKind.STOPPED
    assert [each.payload["score"] for each in watching.desk.updates] == [1, 2, 3]


async def test_the_last_word_is_done_without_after_some_tries() -> None:
    watching = watch([page("ended", score=1), REFUSED_CONNECTION], cycles=99)

    end = await watching.run()

    assert end.kind is EndKind.COMPLETED
    assert "last read failed" in end.reason
    assert watching.way.looks == 6


async def test_states_do_not_matter_if_their_detection_is_off() -> None:
    watching = watch([page("ended", score=1)], cycles=3, enable_match_state_detection=False)

    assert (await watching.run()).kind is EndKind.STOPPED


async def test_a_vanished_page_is_looked_for_once_more() -> None:
    watching = watch([page(score=1), NOT_FOUND], cycles=9)

    end = await watching.run()

    assert (end.kind, watching.way.looks, watching.way.anew) == (EndKind.COMPLETED, 3, [2])
    assert "vanished" in end.reason


async def test_a_page_that_comes_back_is_watched_on() -> None:
    watching = watch([page(score=1), NOT_FOUND, page(score=2), page(score=2)], cycles=4)

    assert (await watching.run()).kind is EndKind.STOPPED
    assert watching.desk.troubles == []


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (Refused("robots_denied", "no", gate="robots"), EndKind.REFUSED),
        (Refused("admission_deny_list", "no", gate="admission"), EndKind.REFUSED),
        (Refused("no_browser", "there is no Chromium", gate="fetch"), EndKind.FAILED),
    ],
)
async def test_what_must_not_or_cannot_be_contacted_ends_at_once(
    failure: Failure, kind: EndKind
) -> None:
    watching = watch([failure], cycles=9)

    end = await watching.run()

    assert (end.kind, watching.way.looks) == (kind, 1)
    assert failure.detail in end.reason


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (REFUSED_CONNECTION, ErrorType.NETWORK),
        (Refused("task_timeout", "over", gate="timeout"), ErrorType.NETWORK),
        (Refused("robots_unreachable", "503", gate="robots"), ErrorType.NETWORK),
        (UrlSpecific("http_403", "forbidden", 403), ErrorType.AUTH),
        (Broken("page_lost", "the browser died"), ErrorType.BROWSER),
        (Broken("browser_crashed", "it died"), ErrorType.BROWSER),
    ],
)
async def test_errors_are_told_by_their_type(failure: Failure, kind: ErrorType) -> None:
    watching = watch([failure, page(score=1)], cycles=2)

    await watching.run()

    (trouble,) = watching.desk.troubles
    assert (trouble.type, trouble.operation, trouble.retry_attempt) == (kind, "look", 0)
    assert watching.desk.settled == [Resolution.AUTO_RETRY]


async def test_failures_are_repeated_soon_and_later_each_time() -> None:
    watching = watch([REFUSED_CONNECTION], cycles=4)

    await watching.run()

    assert watching.clock.pauses == [1, 2, 4, 8]
    assert [each.retry_attempt for each in watching.desk.troubles] == [0, 1, 2, 3]


async def test_five_failures_in_a_row_open_the_circuit_for_a_minute() -> None:
    watching = watch([REFUSED_CONNECTION], cycles=6)

    await watching.run()

    breaker = watching.scraper.rules.breaker
    assert (watching.way.looks, breaker.total_rejections) == (5, 1)
    assert watching.clock.pauses == [1, 2, 4, 8, 16, 44]


async def test_a_site_that_asks_for_patience_gets_it() -> None:
    watching = watch([RateLimited("http_429", "slow down", 429, retry_after=90.0)], cycles=1)

    await watching.run()

    assert watching.clock.pauses == [90.0]


async def test_a_shut_gate_is_no_error() -> None:
    watching = watch([Wait(1000.0 + 500, "hours", "closed until 06:00 UTC")], cycles=2)

    await watching.run()

    assert watching.clock.pauses[0] == 500
    assert watching.desk.troubles == []
    assert watching.scraper.rules.breaker.total_calls == 0


async def test_a_scraper_that_is_kept_away_is_not_stale() -> None:
    """It could not do better if it started anew."""
    watching = watch([Wait(1000.0 + 900, "breaker", "the site is down")] * 3, cycles=3)

    assert (await watching.run()).kind is EndKind.STOPPED
    assert watching.scraper.waits_for == "the site is down"


async def test_eleven_errors_in_a_row_ask_for_a_new_scraper() -> None:
    watching = watch([REFUSED_CONNECTION], cycles=99, circuit_breaker_threshold=50)

    end = await watching.run()

    assert (end.kind, end.reason) == (EndKind.ANEW, "errors")
    assert watching.way.looks == 11


async def test_a_worn_out_browser_is_left_after_the_cycle() -> None:
    watching = watch([page(score=1)], cycles=9)
    watching.way.is_worn_out = True

    end = await watching.run()

    assert (end.kind, end.reason) == (EndKind.ANEW, "memory")
    assert len(watching.desk.updates) == 1


async def test_an_unreadable_page_is_kept_with_its_picture() -> None:
    watching = watch([UNREADABLE], cycles=1)

    await watching.run()

    (trouble,) = watching.desk.troubles
    assert (trouble.type, trouble.evidence, trouble.picture) == (
        ErrorType.PARSING,
        UNREADABLE.body,
        b"picture",
    )
    assert "tried .score" in trouble.message
    assert watching.scraper.rules.breaker.failure_count == 0


async def test_more_than_ten_unreadable_pages_open_the_circuit_for_five_minutes() -> None:
    watching = watch([UNREADABLE] * 11 + [page(score=1)], cycles=13)

    assert (await watching.run()).reason == "errors"
    watching.start_anew()
    await watching.run()

    (alert,) = watching.desk.alerts
    assert (alert.kind, alert.subject, alert.severity) == ("live_parse", "m1", "P1")
    assert "11 times" in alert.message
    assert watching.desk.calmed == ["live_parse", *ALERTS]
    assert any(pause > 280 for pause in watching.clock.pauses)
    assert [each.payload for each in watching.desk.updates] == [{"score": 1}]


async def test_an_adapter_that_breaks_is_told_with_its_trace() -> None:
    watching = watch([page()], cycles=1)
    watching.scraper.adapter = watching.scraper.adapter.__class__(
        "broken", "1.0.0", lambda source: source.json["no such thing"]
    )

    await watching.run()

    (trouble,) = watching.desk.troubles
    assert trouble.type is ErrorType.PARSING
    assert "KeyError" in trouble.message
    assert trouble.stack_trace
    assert "no such thing" in trouble.stack_trace


async def test_a_page_in_play_that_stands_still_is_opened_anew() -> None:
    watching = watch([page(score=1)], cycles=20, enable_adaptive_polling=False)
    watching.scraper.rules.polling = watching.scraper.rules.polling.__class__(
        watching.scraper.settings, watching.clock, interval=60.0
    )

    await watching.run()

    assert watching.way.anew == [6, 12, 18]


async def test_nothing_counts_as_told_that_could_be_kept_nowhere() -> None:
    watching = watch([page(score=1)], cycles=1)
    watching.desk.fails = JournalFailed("the disk is full")

    with pytest.raises(JournalFailed):
        await watching.run()

    assert watching.scraper.last.sequence == 0
