"""Plausibility: whether a price can follow the last one that was accepted."""

from typing import NamedTuple

from penstock.core.money import to_decimal


class Money(NamedTuple):
    """An amount in minor units of a currency."""

    minor: int
    currency: str

    def __str__(self) -> str:
        return f"{to_decimal(self.minor, self.currency)} {self.currency}"


def describe_jump(price: Money, last: Money, max_factor: float) -> str | None:
    """Why a price is not believed after the last one, with both shown; None if it is.

    Up and down are treated alike. Amounts in two currencies cannot be compared, so a change of
    currency is never believed.
    """
    if price.currency != last.currency:
        return f"{price} after {last}: the currency changed"
    low, high = sorted((price.minor, last.minor))
    if high <= low * max_factor:
        return None
    factor = f"{high / low:.2f} times" if low > 0 else "infinitely"
    direction = "up" if price.minor > last.minor else "down"
    return f"{price} after {last}: {factor} {direction}, more than {max_factor:g} times"
