"""`penstock parse`: what it shows and how it ends."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock.cli.parse import app
from penstock.core.errors import SettingsError


def parse(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    ran = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    return ran.exit_code, [json.loads(line) for line in ran.stdout.splitlines()]


def test_price_shows_amount_currency_and_minor_units() -> None:
    code, found = parse("price", "1.299,00 €", "JPY 1,200")

    assert code == 0
    assert found == [
        {"text": "1.299,00 €", "amount": "1299.00", "currency": "EUR", "minor": 129900},
        {"text": "JPY 1,200", "amount": "1200", "currency": "JPY", "minor": 1200},
    ]


def test_price_that_can_be_read_in_two_ways_is_unclear_unless_a_hint_says_which() -> None:
    code, [found] = parse("price", "1.299")
    assert code == 1
    assert found["readings"] == ["1.299", "1299"]
    assert found["unclear"]

    code, [found] = parse("price", "1.299", "--currency", "eur", "--decimal", ",")
    assert (code, found["minor"]) == (0, 129900)


@pytest.mark.parametrize("wrong", [["--currency", "XXZ"], ["--decimal", ";"]])
def test_wrong_hint_is_named(wrong: list[str]) -> None:
    with pytest.raises(SettingsError, match=f"{wrong[0]} {wrong[1]}"):
        parse("price", "1", *wrong)


def test_stock_is_unknown_without_evidence() -> None:
    assert parse("stock", "Nur noch 3 auf Lager") == (
        0,
        [{"text": "Nur noch 3 auf Lager", "availability": "IN_STOCK"}],
    )
    assert parse("stock", "hello")[0] == 1


def test_location_keeps_the_raw_text() -> None:
    code, [found] = parse("location", "Austin, TX")

    assert code == 0
    assert (found["city"], found["country"], found["raw"]) == (
        "Austin",
        "United States",
        "Austin, TX",
    )


def test_phone_needs_a_prefix_or_a_region() -> None:
    assert parse("phone", "030 901820", "--region", "de") == (
        0,
        [{"text": "030 901820", "phone": "+4930901820"}],
    )
    assert parse("phone", "030 901820") == (1, [{"text": "030 901820", "phone": None}])


def test_people_get_a_table() -> None:
    ran = CliRunner().invoke(app, ["price", "5 €", "nothing"])

    lines = [line.split(maxsplit=1) for line in ran.stdout.splitlines()]
    assert ran.exit_code == 1
    assert ["minor", "500"] in [[part.strip() for part in line] for line in lines]
    assert "there is no number in it" in ran.stdout
