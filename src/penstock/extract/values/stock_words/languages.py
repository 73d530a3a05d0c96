"""All languages at once, because pages often do not say, or say wrongly, which one they are in."""

from dataclasses import fields

from penstock.extract.values.stock_words import asian, germanic, other_european, romance, slavic
from penstock.extract.values.stock_words.words import StockWords

FAMILIES = (
    germanic.LANGUAGES,
    romance.LANGUAGES,
    slavic.LANGUAGES,
    other_european.LANGUAGES,
    asian.LANGUAGES,
)


def all_languages() -> StockWords:
    """The words of all languages, as if they were one."""
    return StockWords(**{field.name: _joined(field.name) for field in fields(StockWords)})


def _joined(name: str) -> str:
    lists = (getattr(words, name) for family in FAMILIES for words in family.values())
    return "|".join(filter(None, lists))
