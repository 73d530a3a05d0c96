"""Names of products are compared by the words they share."""

import pytest

from penstock.extract.product.names import akin, is_part, same_words


def test_most_words_of_a_name_make_it_the_same() -> None:
    assert same_words("Desk Lamp Arc", "Arc Desk Lamp in Blue | Shop")
    assert not same_words("Desk Lamp Arc", "Floor Lamp | Shop")
    assert not same_words("", "Shop")


@pytest.mark.parametrize(
    ("name", "title"),
    [("Lampe", "Schreibtischlampe"), ("竹かご", "竹かご\uff5c店"), ("Desk", "The desk")],
)
def test_names_with_something_in_common_are_akin(name: str, title: str) -> None:
    assert akin(name, title)


@pytest.mark.parametrize(
    ("name", "title"), [("Degreaser 500 ml", "Chain Lube 120 ml"), ("Stool", "Chair"), ("", "")]
)
def test_short_words_in_common_say_nothing(name: str, title: str) -> None:
    assert not akin(name, title)


def test_words_are_part_of_a_name_if_all_are() -> None:
    assert is_part("ACME", "Acme Hammer 16 oz")
    assert not is_part("250 Round Case - 12 Gauge", "25 Round Box - 12 Gauge")
