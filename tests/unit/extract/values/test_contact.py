"""Contacts: addresses and numbers are found, and what only looks like one is not."""

import pytest

from penstock.extract.values.contact import MAX_LENGTH, find_emails, find_phones, read_phone


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("Write to info@shop.test.de.", ("info@shop.test.de",)),
        ("Info@Shop.DE", ("Info@shop.de",)),
        ("mailto:info@shop.de?subject=Hello", ("info@shop.de",)),
        ("MAILTO:info%40shop.de", ("info@shop.de",)),
        ("name (at) domain (dot) com", ("name@domain.com",)),
        ("name [at] domain.com", ("name@domain.com",)),
        ("name{AT}domain{DOT}com", ("name@domain.com",)),
        ("b@x.de, a@x.de, b@X.de", ("b@x.de", "a@x.de")),
        ("first.last+tag@sub.shop.co.uk", ("first.last+tag@sub.shop.co.uk",)),
        ("'o'brien@shop.ie'", ("o'brien@shop.ie",)),
        ("info@müller.de", ("info@müller.de",)),
        ("邮箱info@shop.cn联系", ("info@shop.cn",)),
    ],
)
def test_addresses_are_found_in_order_and_once(text: str, addresses: tuple[str, ...]) -> None:
    assert find_emails(text) == addresses


@pytest.mark.parametrize(
    "text",
    [
        "logo@2x.png",
        "icons@3x.min.css",
        "you@example.com",
        "you@mail.example.org",
        "you@shop.example",
        "you@yourdomain.com",
        "605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com",
        "https://user:secret@host.com/path",
        "https://maps.test/place@home.com",
        "react@18.2.0",
        "meet us at shop.de",
        "müller@shop.de",
        "a..b@shop.de",
        ".a@shop.de",
        "a@b@shop.de",
        "a@-shop.de",
        "a@shop",
        "@shop.de",
    ],
)
def test_what_only_looks_like_an_address_is_refused(text: str) -> None:
    assert find_emails(text) == ()


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("+49 30 901820", None, "+4930901820"),
        ("tel:+49-30-901820", None, "+4930901820"),
        ("tel:%2B49%2030%20901820", None, "+4930901820"),
        ("030 901820", "DE", "+4930901820"),
        ("030 901820", "de", "+4930901820"),
        ("(212) 736-5000", "US", "+12127365000"),
        ("+44 20 7946 0018 ext. 5", "US", "+442079460018"),
    ],
)
def test_phone_number_is_given_in_its_international_form(
    text: str, region: str | None, number: str
) -> None:
    assert read_phone(text, region) == number
    assert find_phones(text, region) == (number,)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("030 901820", None),
        ("(212) 736-5000", None),
        ("030 901820", "XX"),
        ("030 901820", "Germany"),
        ("+49 1", None),
        ("+999 30 901820", None),
        ("12345", "US"),
        ("2024-01-31", "US"),
        ("tel:", "US"),
        ("", "US"),
        ("+49 30 901820" + " " * 200, None),
    ],
)
def test_number_that_rings_nowhere_or_anywhere_is_refused(text: str, region: str | None) -> None:
    assert read_phone(text, region) is None


def test_phones_are_found_in_order_and_once() -> None:
    text = "Fax +49 30 901821, phone +49 30 901820, again: +49 (0)30 901820. Art. 4006381333931"

    assert find_phones(text) == ("+4930901821", "+4930901820")


def test_national_numbers_are_found_only_where_the_region_is_known() -> None:
    text = "Call (212) 736-5000 today"

    assert find_phones(text, "US") == ("+12127365000",)
    assert find_phones(text) == ()


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    padding = "x " * MAX_LENGTH

    assert find_emails(f"a@x.de {padding} b@x.de") == ("a@x.de",)
    assert find_phones(f"+49 30 901820 {padding} +49 30 901821") == ("+4930901820",)
