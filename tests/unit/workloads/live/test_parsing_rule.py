"""Pages that cannot be read: after more than ten in a row the feed rests."""

from penstock.workloads.live.parsing_rule import ParsingRule
from penstock.workloads.live.settings import LiveSettings


def test_more_than_ten_in_a_row_rest_for_five_minutes_each() -> None:
    rule = ParsingRule(LiveSettings())
    assert [rule.failed() for _ in range(10)] == [None] * 10
    assert not rule.is_open

    assert [rule.failed(), rule.failed()] == [300, 300]
    assert (rule.is_open, rule.failures) == (True, 12)


def test_a_page_that_can_be_read_says_once_that_it_is_over() -> None:
    rule = ParsingRule(LiveSettings())
    for _ in range(11):
        rule.failed()
    assert [rule.succeeded(), rule.succeeded()] == [True, False]
    assert (rule.is_open, rule.failures) == (False, 0)


def test_they_are_counted_anew_after_one_that_can_be_read() -> None:
    rule = ParsingRule(LiveSettings())
    for _ in range(3):
        assert [rule.failed() for _ in range(10)] == [None] * 10
        assert rule.succeeded() is False


def test_the_rest_is_that_of_the_settings() -> None:
    rule = ParsingRule(LiveSettings(parse_retry_seconds=5))
    assert [rule.failed() for _ in range(11)][-1] == 5
