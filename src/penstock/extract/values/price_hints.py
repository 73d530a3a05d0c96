"""What a page or a policy says of its prices, for where their text leaves a doubt."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PriceHints:
    """What the page or a policy says: its currency, its decimal sign, its country's currencies.

    `currency` is taken where the text names none. `regional` only tells which dollar or crown a
    sign stands for.
    """

    currency: str | None = None
    decimal: str | None = None
    regional: tuple[str, ...] = ()

    @property
    def likely(self) -> tuple[str, ...]:
        """The currencies to expect, the likeliest first."""
        return (self.currency, *self.regional) if self.currency else self.regional


NO_HINTS = PriceHints()
