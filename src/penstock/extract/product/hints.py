"""Which currency a page's signs stand for: what its scripts say, its country, its language."""

from penstock.core.money import currencies, currencies_of
from penstock.extract.page.document import Document
from penstock.extract.product.embedded import page_currency
from penstock.extract.values.price_hints import PriceHints

COUNTRY_LETTERS = 2
COUNTRY_DOMAINS = {"uk": "GB"}
META_CURRENCIES = ("product:sale_price:currency", "product:price:currency", "og:price:currency")
#: Where most readers of a language live, if its signs for money mean something else elsewhere.
COUNTRIES = {
    "be": "BY",
    "bg": "BG",
    "cs": "CZ",
    "da": "DK",
    "en": "US",
    "hi": "IN",
    "hu": "HU",
    "id": "ID",
    "is": "IS",
    "ja": "JP",
    "kk": "KZ",
    "ko": "KR",
    "ms": "MY",
    "nb": "NO",
    "nn": "NO",
    "no": "NO",
    "pl": "PL",
    "ro": "RO",
    "ru": "RU",
    "sr": "RS",
    "sv": "SE",
    "tr": "TR",
    "uk": "UA",
    "zh": "CN",
}
#: Dollars that are not those of the United States.
OTHER_DOLLARS = ("CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "CLP", "COP", "ARS", "BRL")


def price_hints(document: Document, stated: str | None) -> PriceHints:
    """What the page says of its currency; `stated` is what its offer says."""
    meta = document.meta_value(*META_CURRENCIES).upper()
    currency = stated or (meta if meta in currencies() else None) or page_currency(document)
    regional = _regional(document)
    if not currency and not regional:
        regional = currencies_of(_likely_country(document))
    return PriceHints(currency, None, regional)


def _regional(document: Document) -> tuple[str, ...]:
    """The currencies of the countries that the host and the language name."""
    suffix = document.location.host.rpartition(".")[2]
    region = document.language.partition("-")[2].rpartition("-")[2]
    countries = [COUNTRY_DOMAINS.get(suffix, suffix)] if len(suffix) == COUNTRY_LETTERS else []
    countries += [region] if region else []
    return tuple(code for country in countries for code in currencies_of(country))


def _likely_country(document: Document) -> str:
    """Where most readers of the page's language live; English is written everywhere."""
    if document.language == "en" and any(_names(document, code) for code in OTHER_DOLLARS):
        return ""
    return COUNTRIES.get(document.language, "")


def _names(document: Document, code: str) -> bool:
    return next(document.places_of(code), None) is not None
