"""Codes: the product's own number behind a label in many languages, and no other number."""

import pytest

from penstock.extract.values.codes import MAX_CODES, MAX_TEXT, labelled_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SKU: AB-123", "AB-123"),
        ("sku ab-123", "ab-123"),
        ("SKU#12345", "12345"),
        ("SKU eBay: 12345", "12345"),
        ("Item no. 4711", "4711"),
        ("Item #: 4711", "4711"),
        ("Item number: 4711", "4711"),
        ("Product code: P-1/2", "P-1/2"),
        ("Part number: X.778", "X.778"),
        ("Catalogue no. 778", "778"),
        ("Style number 778", "778"),
        ("Artikelnummer: 100-200", "100-200"),
        ("Artikel-Nr. 12345", "12345"),
        ("Art.-Nr.: 12345", "12345"),
        ("Bestell-Nr. X-1000", "X-1000"),
        ("Référence : AB1234", "AB1234"),
        ("Réf. 1234", "1234"),
        ("Referencia: 9988", "9988"),
        ("Referência: 9988", "9988"),
        ("Código: 9988", "9988"),
        ("Codice articolo: Z900", "Z900"),
        ("Cod. 5555", "5555"),
        ("Kod produktu: PL-77", "PL-77"),
        ("Nr kat. 7788", "7788"),
        ("Kód: CZ77", "CZ77"),
        ("Tuotenumero: 12345", "12345"),
        ("Tootekood: 12345", "12345"),
        ("Varenr. 12345", "12345"),
        ("Varenummer: 12345", "12345"),
        ("Šifra: 12345", "12345"),
        ("Артикул: 12345", "12345"),
        ("Код товара: 12345", "12345"),
        ("商品番号 A1234", "A1234"),
        ("商品編號: A1234", "A1234"),
        ("货号: A1234", "A1234"),
    ],
)
def test_code_is_read_behind_a_label_in_many_languages(text: str, code: str) -> None:
    assert labelled_code(text) == (code, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12345",
        "Price 12345",
        "SKU:",
        "SKU: ABCDEF",
        "SKU: n/a",
        "SKU: 12",
        "MySKU 12345",
        "SKU and 12345",
        "SKU: n/a Size 100",
        "12345 is the SKU",
    ],
)
def test_what_has_no_label_or_no_digit_is_no_code(text: str) -> None:
    assert labelled_code(text) is None


@pytest.mark.parametrize(
    ("text", "code", "written"),
    [
        ("Torch 9999 lumen. SKU: T-100 In stock", "T-100", "SKU: T-100"),
        ("Ref: 1234, SKU: 9999", "1234", "Ref: 1234"),
        ("MPN 777-1. Item number: 888", "888", "Item number: 888"),
        ("Item with SKU: 4711", "4711", "SKU: 4711"),
        ("SKU: none, Ref. 5678", "5678", "Ref. 5678"),
    ],
)
def test_first_number_with_a_label_right_before_it_is_the_code(
    text: str, code: str, written: str
) -> None:
    assert labelled_code(text) == (code, written)


def test_full_stop_behind_a_code_is_no_part_of_it() -> None:
    assert labelled_code("Part number: 778-A1. New.") == ("778-A1", "Part number: 778-A1.")


def test_text_is_read_up_to_a_bound() -> None:
    code = " SKU: 12345"
    assert labelled_code("a" * (MAX_TEXT - len(code)) + code) == ("12345", "SKU: 12345")
    assert labelled_code("a" * MAX_TEXT + code) is None


def test_codes_are_tried_up_to_a_bound() -> None:
    assert labelled_code("x 123 " * (MAX_CODES - 1) + "SKU: 12345") == ("12345", "SKU: 12345")
    assert labelled_code("x 123 " * MAX_CODES + "SKU: 12345") is None
