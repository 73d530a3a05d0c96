"""Salaries: what a job pays, as one text, from structured data or from what a page says.

Figures are not converted: a salary is shown to people, and its period belongs to it.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from penstock.extract.page.structured import Item, as_list, fold
from penstock.extract.page.things import Found, Thing, text_in

MAX_TEXT = 120
MAX_FIGURE = 10**9
MAX_MENTIONS = 50
WINDOW = 120
DASH = "\u2013"

_PERIODS = {
    "hour": "hour hourly hr h stunde heure hora hur pt1h p1h",
    "day": "day daily tag jour día p1d",
    "week": "week weekly wk woche semaine semana wee p1w p7d",
    "month": "month monthly mo monat mois mes mon p1m",
    "year": "year yearly yr annum annual annually jahr an année año anno ann p1y p12m",
}
_PERIOD_OF = {word: period for period, words in _PERIODS.items() for word in words.split()}

_PLAIN = re.compile(r"\d{1,9}(?:\.\d{1,2})?|\d{1,3}(?:,\d{3}){1,2}(?:\.\d{1,2})?")
_THOUSANDS = re.compile(r"(\d{1,4}(?:\.\d)?) ?k", re.I)
_NUMBER = re.compile(r"-?[\d.]+(?:e[+-]?\d{1,3})?", re.I)
_FIGURES = re.compile(r"[\d.,' \u00a0\u202f]{1,20}")
_CODES = "USD|EUR|GBP|CHF|CAD|AUD|INR|PLN|SEK|NOK|DKK|CZK|BRL|JPY|SGD"
_MARK = rf"(?:\b(?:US|CA|AU|NZ|HK|SG|A|C|S)\$|[$€£¥₹]|\b(?:{_CODES}|kr)\b|zł)"
_FIGURE = r"\d{1,3}(?:[.,'\u00a0\u202f ]\d{3}){0,2}(?:[.,]\d{1,2})?(?!\d)\+?(?: ?k\b)?|\d{4,9}"
_SUM = rf"(?:{_MARK} ?)?(?:{_FIGURE})(?: ?{_MARK})?"
_UNTIL = r" ?(?:[-\u2013\u2014]|\b(?:to|bis|and|und|à|a)\b) ?"
_PER = (
    r" ?(?:(?:/|\b(?:per|pro|par|an?|al|por)\b) ?(?:"
    + "|".join(sorted(_PERIOD_OF, key=lambda word: (-len(word), word)))
    + r")\b|\b(?:hourly|weekly|monthly|yearly|annually|brutto/Jahr|p\.a\.))"
)
_PAY = re.compile(
    rf"(?P<sum>{_SUM})(?P<until>{_UNTIL}{_SUM})?(?: (?:gross|brutto|brut))?(?P<per>{_PER})?", re.I
)
_HAS_MARK = re.compile(_MARK, re.I)
_WORD = re.compile(r"[^\W\d_]{3,20}")
_PAY_IN_LANGUAGES = """
    salary salaries compensation pay pays wage remuneration
    gehalt jahresgehalt gehaltsspanne vergütung lohn salaris
    salaire rémunération salario retribución salário stipendio retribuzione
    lön lønn løn palkka wynagrodzenie
"""
_WORDS_FOR_PAY = frozenset(_PAY_IN_LANGUAGES.split())
#: A sum behind one of these is not what the job pays.
_NOT_PAY = re.compile(
    r"\b(?:bonus|allowance|budget|raised|funding|revenue|referral|équité)\b", re.I
)


def structured_salary(posting: Thing) -> Found | None:
    """What a job posting's own data say it pays."""
    currency = posting.text("salaryCurrency", "currency")
    for name in ("baseSalary", "estimatedSalary", "salary"):
        for value in posting.values(name):
            if text := _describe(value, currency):
                return Found(text, posting.source(name))
    return None


def _describe(value: Any, currency: str) -> str:
    """A salary in one of the forms that sites give it in; empty if it says nothing."""
    if not isinstance(value, dict):
        return _priced(_sum_text(value), currency)
    inner = [part for part in as_list(value.get("value"))[:1] if isinstance(part, dict)]
    # What the inner object says is said of the figures themselves.
    layers = [*inner, value]
    currency = _first(layers, "currency", "priceCurrency") or currency
    low = _figure(_first(layers, "minValue", "minPrice", "percentile10", "percentile25"))
    high = _figure(_first(layers, "maxValue", "maxPrice", "percentile90", "percentile75"))
    only = _sum_text(_first(layers, "value", "price", "median"))
    period = _PERIOD_OF.get(_period_word(_first(layers, "unitText", "unitCode", "duration")))
    text = _range(low, high, only, currency)
    return f"{text} per {period}" if text and period else text


def _first(layers: list[Item], *names: str) -> str:
    values = (layer.get(name) for layer in layers for name in names)
    return next((text for value in values if (text := _plain_text(value))), "")


def _plain_text(value: Any) -> str:
    """The text of a value that is not an object: those are layers of their own."""
    if any(isinstance(part, dict) for part in as_list(value)[:1]):
        return ""
    return text_in(value)


def _period_word(unit: str) -> str:
    return unit.casefold().removeprefix("per ").strip(" /.")


def _range(low: str, high: str, only: str, currency: str) -> str:
    if low and high:
        return _priced(low if low == high else f"{low}{DASH}{high}", currency)
    if only:
        return _priced(only, currency)
    if low:
        return f"from {_priced(low, currency)}"
    return f"up to {_priced(high, currency)}" if high else ""


def _priced(text: str, currency: str) -> str:
    """A sum with its currency, unless it names one itself."""
    if not text or not currency or not _FIGURES.fullmatch(text.replace(DASH, "").replace("-", "")):
        return text
    return f"{currency[:8]} {text}"


def _sum_text(value: Any) -> str:
    """A figure, or the words in which a site gives the whole salary."""
    text = fold(text_in(value))
    if figure := _figure(text):
        return figure
    is_words = len(text) <= MAX_TEXT and any(digit in text for digit in "123456789")
    return text if is_words and not _NUMBER.fullmatch(text) else ""


def _figure(text: str) -> str:
    """A number with its thousands grouped; one that can be read in two ways stays as written."""
    if thousands := _THOUSANDS.fullmatch(text):
        return _grouped(Decimal(thousands[1]) * 1_000)
    if text.endswith(".0"):
        text = text.removesuffix(".0")
    if _PLAIN.fullmatch(text):
        return _grouped(Decimal(text.replace(",", "")))
    is_figure = _FIGURES.fullmatch(text) and any(digit in text for digit in "123456789")
    return text if is_figure else ""


def _grouped(number: Decimal) -> str:
    if not 0 < number < MAX_FIGURE:
        return ""
    return f"{number:,.0f}" if number == number.to_integral_value() else f"{number:,.2f}"


def salary_in_words(text: str) -> str:
    """The sum that stands behind a word for pay, if it has a currency and is a range or has a
    period; empty if there is none."""
    return next(_sums(text), "")


def _sums(text: str) -> Iterator[str]:
    words = (word for word in _WORD.finditer(text) if word[0].lower() in _WORDS_FOR_PAY)
    for word in islice(words, MAX_MENTIONS):
        window = text[word.end() : word.end() + WINDOW]
        for pay in _PAY.finditer(window):
            if _NOT_PAY.search(window, 0, pay.start()):
                break
            if _HAS_MARK.search(pay[0]) and (pay["until"] or pay["per"]):
                yield fold(pay[0])


def shown_salary(text: str) -> str:
    """The text beside a label for pay, if there is a figure in it; empty if not."""
    has_figure = any(digit in text for digit in "123456789")
    return text if has_figure and len(text) <= MAX_TEXT else ""
