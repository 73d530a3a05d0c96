"""What source products are recognised by."""

from decimal import Decimal
from typing import Any

import pytest

from penstock.products.resolving import keys_of

NOTHING: dict[str, Any] = dict.fromkeys(
    ("upc", "brand", "mpn", "caliber", "grain_weight", "round_count")
)
ROUNDS = {
    "brand": "Federal",
    "caliber": "9mm Luger",
    "grain_weight": Decimal(115),
    "round_count": 50,
}


def test_nothing_known_gives_no_key() -> None:
    assert keys_of(NOTHING) == (None, None, None)


@pytest.mark.parametrize("missing", sorted(ROUNDS))
def test_attributes_count_only_together(missing: str) -> None:
    assert keys_of(NOTHING | ROUNDS).attributes is not None
    assert keys_of(NOTHING | ROUNDS | {missing: None}).attributes is None


@pytest.mark.parametrize(
    "spelling",
    [
        {"brand": "  FEDERAL "},
        {"caliber": "9MM\u00a0 LUGER"},
        {"caliber": "\uff19mm luger"},
        {"grain_weight": Decimal("115.000")},
    ],
)
def test_spelling_makes_no_difference(spelling: dict[str, Any]) -> None:
    assert keys_of(NOTHING | ROUNDS | spelling) == keys_of(NOTHING | ROUNDS)


@pytest.mark.parametrize(
    "other",
    [
        {"brand": "Federal 9mm"},
        {"caliber": "9mm Makarov"},
        {"grain_weight": Decimal("115.5")},
        {"round_count": 500},
    ],
)
def test_every_attribute_makes_a_difference(other: dict[str, Any]) -> None:
    assert keys_of(NOTHING | ROUNDS | other).attributes != keys_of(NOTHING | ROUNDS).attributes


def test_number_of_the_manufacturer_counts_only_with_the_brand() -> None:
    assert keys_of(NOTHING | {"mpn": "AE9DP"}).mpn is None
    assert keys_of(NOTHING | {"mpn": "AE9DP", "brand": "Federal"}).mpn is not None


def test_parts_of_a_key_cannot_be_taken_for_each_other() -> None:
    one = keys_of(NOTHING | {"brand": 'a","b', "mpn": "c"})
    other = keys_of(NOTHING | {"brand": "a", "mpn": 'b","c'})

    assert one.mpn != other.mpn


def test_short_and_long_form_of_a_gtin_are_one() -> None:
    short, long = (
        keys_of(NOTHING | {"upc": "012345678905"}),
        keys_of(NOTHING | {"upc": "00012345678905"}),
    )

    assert short.gtin == long.gtin
