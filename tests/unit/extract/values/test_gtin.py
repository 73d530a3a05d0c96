"""GTINs: right ones in any spelling; none with a wrong digit or for one shop only."""

import pytest
from stdnum import ean

from penstock.extract.values.gtin import read_gtin

FULL_WIDTH = {ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"}


@pytest.mark.parametrize(
    ("text", "gtin"),
    [
        ("4006381333931", "4006381333931"),
        (" 4 006381 333931 ", "4006381333931"),
        ("978-0-471-11709-4", "9780471117094"),
        ("EAN: 4006381333931", "4006381333931"),
        ("EAN4006381333931", "4006381333931"),
        ("EAN 13: 4006381333931", "4006381333931"),
        ("EAN 8 712345 678906", "8712345678906"),
        ("GTIN13 4006381333931", "4006381333931"),
        ("gtin-13: 4006381333931", "4006381333931"),
        ("Barcode #4006381333931", "4006381333931"),
        ("UPC 036000291452", "036000291452"),
        ("UPC-A: 0 36000 29145 2", "036000291452"),
        ("0036000291452", "0036000291452"),
        ("00036000291452", "00036000291452"),
        ("10036000291459", "10036000291459"),
        ("96385074", "96385074"),
        ("4006381333931".translate(FULL_WIDTH), "4006381333931"),
    ],
)
def test_gtin_is_read_in_any_spelling(text: str, gtin: str) -> None:
    assert read_gtin(text) == gtin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EAN",
        "4006381333932",
        "400638133393",
        "40063813339312345",
        "MPN 4006381333931",
        "4006381333931 or 4006381333931",
        "4.006381333931",
        "٤٠٠٦٣٨١٣٣٣٩٣١",
        "4006381333931" + " " * 64,
    ],
)
def test_what_is_no_gtin_is_refused(text: str) -> None:
    assert read_gtin(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "00000000",
        "0000000000000",
        "2000000000008",
        "2912345678906",
        "0212345678909",
        "212345678909",
        "412345678903",
        "00212345678909",
        "00000123",
        "20123451",
        "9900000000004",
        "9812345678902",
    ],
)
def test_number_for_use_inside_one_shop_is_refused(text: str) -> None:
    assert ean.is_valid(text)
    assert read_gtin(text) is None
