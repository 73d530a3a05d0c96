"""What the rest of Penstock hands to `products` and gets back."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from penstock.core.errors import PenstockError
from penstock.core.money import exponent, to_decimal
from penstock.kernel.records import MAX_MINOR_UNITS, Product

#: The digits behind the point that a price has in the database.
DECIMALS = 2


class RunType(StrEnum):
    """Where a price comes from."""

    SCRAPE = "SCRAPE"
    CRAWL = "CRAWL"


class OfferRefused(PenstockError):
    """A record cannot be kept as an offer; says why."""


class CurrencyRefused(OfferRefused):
    """The smallest coin of a currency does not fit the decimals that prices have."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A record that was accepted: whose it is, and when and by what it was seen."""

    source_id: str
    retailer_id: str
    record: Product
    identity_key: str
    url: str
    observed_at: int
    run_id: str
    adapter_id: str
    adapter_version: str
    target_id: str = ""
    run_type: RunType = RunType.SCRAPE
    #: Who let it out of quarantine.
    released_by: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What something cost at a time, with the correction that counts."""

    price: Decimal
    currency: str
    availability: str | None
    observed_at: int

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "price": str(self.price),
            "currency": self.currency,
            "availability": self.availability,
            "observed_at": self.observed_at,
        }


@dataclass(frozen=True, slots=True)
class Written:
    """What an offer became; `previous` is the last price before it that is not hidden."""

    source_product_id: str
    price_id: str
    product_id: str
    previous: Seen | None
    #: Whether the catalogue has it and shows something else of it now.
    changes_catalogue: bool = False


def amount_of(minor: int, currency: str) -> Decimal:
    """Minor units as the amount that stands in the database."""
    if exponent(currency) > DECIMALS:
        raise CurrencyRefused(
            f"{currency} has {exponent(currency)} decimals: prices are kept with {DECIMALS}"
        )
    return to_decimal(minor, currency).quantize(Decimal(1).scaleb(-DECIMALS))


def check_offer(record: Product) -> Decimal:
    """The price of a record that can be kept; raise `OfferRefused` for any other."""
    if not record.name:
        raise OfferRefused("an offer needs a name")
    if record.price_minor is None or record.currency is None:
        raise OfferRefused("an offer needs a price and its currency")
    if not 1 <= record.price_minor <= MAX_MINOR_UNITS:
        raise OfferRefused(f"a price is between 1 and {MAX_MINOR_UNITS} minor units")
    return amount_of(record.price_minor, record.currency)


def refusal_of(record: Product) -> OfferRefused | None:
    """Why a record cannot be kept; to be asked before it is part of a batch."""
    try:
        check_offer(record)
    except OfferRefused as refusal:
        return refusal
    return None
