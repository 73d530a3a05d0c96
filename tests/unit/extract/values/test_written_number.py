"""Written numbers: every value that one can have, and no other."""

# ruff: noqa: RUF001 - digits and signs of all scripts

from decimal import Decimal

import pytest

from penstock.extract.values.written_number import readings


@pytest.mark.parametrize(
    ("number", "values"),
    [
        ("1 299", ["1299"]),
        ("1'299.50", ["1299.50"]),
        ("1٬299٫50", ["1299.50"]),
        (".99", [".99"]),
        ("12.5", ["12.5"]),
        ("1234.567", ["1234.567"]),
        ("12,34,567", ["1234567"]),
        ("1.23,4,5", []),
    ],
)
def test_number_has_every_value_it_can_have(number: str, values: list[str]) -> None:
    assert readings(number) == tuple(Decimal(value) for value in values)


@pytest.mark.parametrize(
    ("candidates", "decimal", "values"),
    [
        (("EUR",), None, ["1299"]),
        (("KWD",), None, ["1.299", "1299"]),
        (("EUR", "KWD"), None, ["1.299", "1299"]),
        ((), ",", ["1299"]),
        ((), ".", ["1.299"]),
    ],
)
def test_currencies_and_decimal_sign_narrow_what_a_number_can_be(
    candidates: tuple[str, ...], decimal: str | None, values: list[str]
) -> None:
    assert readings("1.299", candidates, decimal) == tuple(map(Decimal, values))
