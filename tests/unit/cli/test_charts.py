"""Charts for a terminal."""

from decimal import Decimal

from penstock.cli.charts import draw

DAY = 86_400_000


def test_the_highest_price_is_at_the_top_and_time_goes_to_the_right() -> None:
    lines = draw({"shop": [(0, Decimal(10)), (DAY, Decimal(20)), (2 * DAY, Decimal(10))]}, 52, 5)
    assert lines[0].startswith("     20.00 ┤")
    assert lines[4].startswith("     10.00 ┤●")
    # Half of the way through, the price goes up, and comes down at the end.
    assert [line.rfind("●") - 12 for line in (lines[0], lines[4])] == [19, 39]
    assert lines[-2].split() == ["1970-01-01", "00:00", "1970-01-03", "00:00"]
    assert lines[-1] == "● shop"


def test_between_two_looks_a_price_stays_what_it_was() -> None:
    lines = draw({"a": [(0, Decimal(5)), (DAY, Decimal(5))]}, 32, 3)
    assert lines[1].endswith("●" + "·" * 18 + "●")


def test_every_source_has_a_mark() -> None:
    lines = draw({"one": [(0, Decimal(1))], "two": [(0, Decimal(2))]}, 40)
    assert lines[-1] == "● one   ■ two"
    assert any("■" in line for line in lines[:-1])


def test_nothing_can_be_drawn() -> None:
    assert draw({}, 80) == ["no prices"]
