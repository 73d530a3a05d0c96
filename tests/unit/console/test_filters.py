"""How values are written for people."""

import pytest

from penstock.console import filters

NOON = 1_772_625_600_000  # 2026-03-04 12:00 UTC


def test_times_are_written_in_utc() -> None:
    assert filters.at(NOON) == "2026-03-04 12:00:00"
    assert filters.at(None) == "never"
    assert filters.at(253_402_300_799_000) == "9999-12-31 23:59:59"


def test_how_long_ago_and_how_soon() -> None:
    assert filters.ago(NOON - 90_000, NOON) == "1 min 30 s ago"
    assert filters.ago(NOON + 3_600_000, NOON) == "in 1 h 0 min"
    assert filters.ago(None, NOON) == "never"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "-"), (0, "0 s"), (0.4, "0 s"), (59, "59 s"), (3600, "1 h 0 min"), (90_061, "1 d 1 h")],
)
def test_durations_have_two_parts_at_most(seconds: float | None, words: str) -> None:
    assert filters.duration(seconds) == words


def test_money_is_written_as_its_currency_is() -> None:
    assert filters.money(1999, "EUR") == "19.99 EUR"
    assert filters.money(1999, "JPY") == "1999 JPY"
    assert filters.money(None, "EUR") == filters.money(5, None) == "-"


def test_numbers_sizes_and_shares() -> None:
    assert filters.number(1_234_567) == "1,234,567"
    assert filters.number(2.5) == "2.50"
    assert filters.size(512) == "512 B"
    assert filters.size(5 * 1024**4) == "5,120.0 GB"
    assert filters.percent(0.123) == "12.3 %"
    assert filters.number(None) == filters.size(None) == filters.percent(None) == "-"


def test_statuses_have_a_look_and_words() -> None:
    looks = [filters.look(word) for word in ("OK", "half_open", "FAILED", "odd", None)]
    assert looks == ["good", "slow", "bad", "plain", "plain"]
    assert filters.words("HALF_OPEN") == "half open"
    assert filters.words(None) == "-"


def test_no_status_looks_two_ways() -> None:
    assert not filters.GOOD & filters.SLOW
    assert not filters.GOOD & filters.BAD
    assert not filters.SLOW & filters.BAD


def test_plain_data_is_indented_whatever_is_in_it() -> None:
    assert filters.pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert "object" in filters.pretty({"a": object()})


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("a brass lamp", "a brass lamp"),
        (
            "a <em>brass</em> lamp &amp; <em>shade</em>",
            "a <mark>brass</mark> lamp &amp; <mark>shade</mark>",
        ),
        ("&lt;em&gt;lamp&lt;/em&gt;", "&lt;em&gt;lamp&lt;/em&gt;"),
        ("<em>a</em><script>x</script>", "<mark>a</mark>&lt;script&gt;x&lt;/script&gt;"),
        ("<em onclick=x>a</em>", "&lt;em onclick=x&gt;a&lt;/em&gt;"),
        ("<em><b>a", "<mark>&lt;b&gt;a</mark>"),
        ("a</em>b", "a&lt;/em&gt;b"),
    ],
)
def test_words_that_were_found_are_marked_and_all_else_is_text(html: str, shown: str) -> None:
    assert filters.marked(html) == shown


def test_numbers_that_were_not_counted_to_the_end_say_so() -> None:
    assert filters.at_least(10_000, 10_000) == "10,000"
    assert filters.at_least(10_001, 10_000) == "10,000+"
