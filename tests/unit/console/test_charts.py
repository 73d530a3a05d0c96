"""Charts: drawn within their bounds, said in words, and safe whatever they are told to say."""

import re

from selectolax.lexbor import LexborHTMLParser

from penstock.console.charts import HEIGHT, WIDTH, Point, line_chart, sparkline
from tests.consoles import XSS, assert_harmless


def lines_of(svg: str) -> list[list[tuple[float, float]]]:
    drawn = re.findall(r'points="([^"]*)"', svg)
    return [
        [(float(x), float(y)) for x, y in (pair.split(",") for pair in points.split())]
        for points in drawn
    ]


def test_nothing_is_drawn_of_nothing() -> None:
    assert sparkline([], "nothing") == ""
    assert sparkline([None, None], "nothing") == ""
    assert line_chart([], "nothing") == ""


def test_sparkline_stays_within_its_bounds_and_goes_up_where_values_do() -> None:
    ((*points,),) = lines_of(sparkline([1, 5, 3], "prices", width=100))

    assert [x for x, _ in points] == [0, 50, 100]
    assert points[1][1] < points[2][1] < points[0][1]
    assert all(0 <= y <= 24 for _, y in points)


def test_gaps_stay_gaps() -> None:
    assert len(lines_of(sparkline([1, None, 2, 3], "prices"))) == 2


def test_same_values_and_one_value_are_drawn_in_the_middle() -> None:
    assert lines_of(sparkline([7, 7], "flat"))[0][0][1] == 12
    ((point,),) = lines_of(line_chart([Point(5, 5)], "one"))
    assert 0 < point[0] < WIDTH
    assert 0 < point[1] < HEIGHT


def test_line_chart_says_its_ends_and_marks_its_points() -> None:
    svg = line_chart(
        [Point(0, 10, "good", "10 EUR"), Point(60, 20, "bad", "20 EUR")],
        "Prices of a lamp",
        ("Monday", "Tuesday"),
        ("10 EUR", "20 EUR"),
    )
    page = LexborHTMLParser(svg)

    assert [each.text() for each in page.css("svg > title")] == ["Prices of a lamp"]
    assert [each.text() for each in page.css("text")] == ["10 EUR", "20 EUR", "Monday", "Tuesday"]
    assert [each.attributes["class"] for each in page.css("circle")] == ["good", "bad"]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in lines_of(svg)[0])


def test_hostile_words_stay_words() -> None:
    for words in XSS:
        svg = line_chart([Point(0, 1, words, words)], words, (words, words), (words, words))
        assert_harmless(f"<body>{svg}{sparkline([1, 2], words)}")
