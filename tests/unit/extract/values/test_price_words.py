"""Words around an amount: what it is instead of the price, on the side where they say so."""

import pytest

from penstock.extract.values.price_words import label_between, objection_to, says_only_price

DEDUCTION = "a deduction"
OLDER = "an older or recommended price"
DELIVERY = "a cost of delivery"
INSTALMENT = "an instalment"
MEASURE = "a price per measure"
UNTAXED = "a price without tax"
SEVERAL = "a price for several"
STARTING = "a starting price"
LIMIT = "a limit"
ESTIMATE = "an estimate"
SOME_BUYERS = "a price for some buyers"


@pytest.mark.parametrize(
    ("before", "meaning"),
    [
        ("Save ", DEDUCTION),
        ("YOU SAVE: ", DEDUCTION),
        ("Sie sparen ", DEDUCTION),
        ("скидка ", DEDUCTION),
        ("Was ", OLDER),
        ("List price: ", OLDER),
        ("RRP (", OLDER),
        ("UVP ", OLDER),
        ("au lieu de ", OLDER),
        ("Prezzo consigliato: ", OLDER),
        ("Najniższa cena: ", OLDER),
        ("定価 ", OLDER),
        ("Delivery: ", DELIVERY),
        ("Versandkosten ", DELIVERY),
        ("Free over ", DELIVERY),
        ("送料 ", DELIVERY),
        ("3 x ", INSTALMENT),
        ("12x de ", INSTALMENT),
        ("4 interest-free payments of ", INSTALMENT),
        ("Grundpreis: ", MEASURE),
        ("1 kg = ", MEASURE),
        ("Net: ", UNTAXED),
        ("excl. VAT ", UNTAXED),
        ("2 for ", SEVERAL),
        ("any 3 for ", SEVERAL),
        ("From ", STARTING),
        ("ab ", STARTING),
        ("à partir de ", STARTING),
        ("от ", STARTING),
        ("up to ", LIMIT),
        ("bis zu ", LIMIT),
        ("approx. ", ESTIMATE),
        ("ca. ", ESTIMATE),
        ("Used ", SOME_BUYERS),
        ("Pfand: ", SOME_BUYERS),
    ],
)
def test_words_before_an_amount_say_what_it_is(before: str, meaning: str) -> None:
    assert objection_to(before, "") == meaning


@pytest.mark.parametrize(
    ("behind", "meaning"),
    [
        (" off", DEDUCTION),
        (" de descuento", DEDUCTION),
        (" Rabatt", DEDUCTION),
        (" RRP", OLDER),
        (" delivery", DELIVERY),
        (" Versandkosten", DELIVERY),
        ("/mo", INSTALMENT),
        (" per month", INSTALMENT),
        (" par mois", INSTALMENT),
        (" x 12", INSTALMENT),
        ("/kg", MEASURE),
        (" / 100 g", MEASURE),
        (" per 100 ml", MEASURE),
        (" pro Liter", MEASURE),
        (" le kilo", MEASURE),
        (" excl. VAT", UNTAXED),
        (" ex VAT", UNTAXED),
        (" (netto)", UNTAXED),
        (" HT", UNTAXED),
        (" zzgl. 19% MwSt", UNTAXED),
        ("(税抜)", UNTAXED),
        (" for 2", SEVERAL),
        (" and up", STARTING),
        ("+", STARTING),
        ("から", STARTING),
        (" or less", LIMIT),
        (" approx.", ESTIMATE),
        (" with card", SOME_BUYERS),
        (" Pfand", SOME_BUYERS),
    ],
)
def test_words_behind_an_amount_say_what_it_is(behind: str, meaning: str) -> None:
    assert objection_to("", behind) == meaning


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        ("Price: ", ""),
        ("Now only ", "!"),
        ("", " inc VAT"),
        ("inkl. MwSt. ", " inkl. MwSt."),
        ("incl. VAT ", ""),
        ("Washington ", ""),
        ("Saved! A torch for everyone. ", ""),
        ("From our shop in Bristol: ", ""),
        ("", " offer"),
        ("", " monitor"),
        ("", " from stock"),
        ("", " was £20"),
        ("", " Delivery: tomorrow"),
        ("", " in black, free delivery"),
    ],
)
def test_other_words_are_no_objection(before: str, behind: str) -> None:
    assert objection_to(before, behind) == ""


@pytest.mark.parametrize("behind", [" delivery: £4.99", " shipping $5", " Versand 4,99 €"])
def test_word_that_belongs_to_the_next_amount_is_no_objection_to_this_one(behind: str) -> None:
    assert objection_to("", behind) == ""


def test_word_far_from_an_amount_is_no_objection() -> None:
    assert objection_to("was ", "") == OLDER
    assert objection_to("was" + " " * 5, "") == ""
    assert objection_to("", " " * 5 + "per month") == ""


@pytest.mark.parametrize(
    ("between", "meaning"),
    [
        (" discount ", DEDUCTION),
        (" Rabatt ", DEDUCTION),
        (" shipping ", DELIVERY),
        (", Versand ", DELIVERY),
        (" monthly ", INSTALMENT),
        (" excl. VAT ", UNTAXED),
        (" deposit ", SOME_BUYERS),
        (" was ", ""),
        (" off ", ""),
        (" shipping: ", ""),
        (" free shipping ", ""),
        (" ", ""),
        ("", ""),
    ],
)
def test_word_alone_between_two_amounts_may_belong_to_either(between: str, meaning: str) -> None:
    assert label_between(between) == meaning


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        ("Price: ", ""),
        ("OUR PRICE ", " *"),
        ("Jetzt nur ", "!"),
        ("Prix : ", ""),
        ("Cena: ", ""),
        ("цена ", ""),
        ("価格: ", ""),
        ("", " | Now"),
    ],
)
def test_text_says_only_that_a_number_is_a_price(before: str, behind: str) -> None:
    assert says_only_price(before, behind)


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("Size ", ""),
        ("", " pieces"),
        ("Price list ", ""),
        ("Price for 2: ", ""),
        ("pricey ", ""),
        ("", "-"),
        ("(", ")"),
    ],
)
def test_text_says_more_than_that_a_number_is_a_price(before: str, behind: str) -> None:
    assert not says_only_price(before, behind)
