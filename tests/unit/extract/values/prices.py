"""What tests of prices ask: the amount and currency of a text, or why there is none."""

from penstock.extract.values.price import Price, Unclear, read_price
from penstock.extract.values.price_hints import PriceHints


def money(text: str, hints: PriceHints | None = None) -> tuple[str, str | None] | None:
    """Amount and currency of a text; None if it is unclear."""
    price = read_price(text, hints or PriceHints())
    return (f"{price.value:f}", price.currency) if isinstance(price, Price) else None


def why(text: str, hints: PriceHints | None = None) -> str:
    found = read_price(text, hints or PriceHints())
    assert isinstance(found, Unclear), found
    return found.why
