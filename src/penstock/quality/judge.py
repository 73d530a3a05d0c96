"""The judge: what becomes of a record. Never guesses; what is ambiguous is not accepted.

The rules of a kind stand in one tuple and are asked in its order; the first that objects decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from penstock.core.errors import UrlError
from penstock.core.urls import Url, parse
from penstock.kernel.records import (
    MAX_MINOR_UNITS,
    Accept,
    Availability,
    Drop,
    DropReason,
    Extraction,
    ExtractReason,
    Product,
    Quarantine,
    QuarantineReason,
    Record,
    Verdict,
)
from penstock.quality.identity import identity_key
from penstock.quality.normalise import Normalised
from penstock.quality.plausibility import Money, describe_jump
from penstock.quality.settings import QualitySettings

#: Drops that say nothing about whether the adapter still fits the site.
EXPECTED_DROPS = frozenset(
    [DropReason.OOS_NO_PRICE, DropReason.DUPLICATE_WITHIN_RUN, DropReason.BLOCKED_BY_ROBOTS_TXT]
)
#: What names a record that is not a product.
NAMING_FIELDS = {
    "job_posting": "job_title",
    "company_website": "company_name",
    "linkedin_profile": "name",
}
#: What an offer is judged by: if one of these was unreadable, a person has to look.
DECISIVE_FIELDS = ("name", "price_minor", "currency", "rival_prices", "availability")


class History(Protocol):
    """What is known about a source's products from this run and the ones before."""

    def seen_in_run(self, identity_key: str) -> bool:
        """Whether this run has had the product already."""
        ...

    def last_accepted(self, identity_key: str) -> Money | None:
        """The product's last price that was accepted, ever."""
        ...


class RunHistory:
    """A history in memory, of one run, on top of the prices before it."""

    def __init__(self, accepted: Mapping[str, Money] | None = None) -> None:
        self._accepted = dict(accepted or {})
        self._seen: set[str] = set()

    def seen_in_run(self, identity_key: str) -> bool:
        """Whether the product was remembered."""
        return identity_key in self._seen

    def last_accepted(self, identity_key: str) -> Money | None:
        """The price it was last remembered with."""
        return self._accepted.get(identity_key)

    def remember(self, identity_key: str, accepted: Money | None = None) -> None:
        """The run has had this product; `accepted` is its price, if that was accepted."""
        self._seen.add(identity_key)
        if accepted is not None:
            self._accepted[identity_key] = accepted


@dataclass(frozen=True, slots=True)
class Standing:
    """What a record is judged against."""

    history: History = field(default_factory=RunHistory)
    settings: QualitySettings = field(default_factory=QualitySettings)


@dataclass(frozen=True)
class _Offer:
    extraction: Extraction
    product: Product
    invalid: Mapping[str, str]
    standing: Standing

    @cached_property
    def url(self) -> Url:
        return parse(self.product.url or "")

    @cached_property
    def key(self) -> str:
        return identity_key(self.product, self.url)


def judge(extraction: Extraction, normalised: Normalised, standing: Standing) -> Verdict:
    """Accept a record, or say why it is dropped or waits for a person.

    An adapter that failed gave nothing to judge: only OOS_NO_PRICE, which is no fault of its, is
    taken here, and any other reason raises `ValueError`.
    """
    if extraction.reason not in (None, ExtractReason.OOS_NO_PRICE):
        raise ValueError(f"{extraction.reason} is a failure of extraction, not to be judged")
    record, invalid = normalised.record, normalised.invalid
    if isinstance(record, Product):
        return _judge_offer(_Offer(extraction, record, invalid, standing))
    name = NAMING_FIELDS[record.kind]
    return _missing(record, invalid, name) or _unreadable(invalid, name) or Accept()


def _judge_offer(offer: _Offer) -> Verdict:
    for rule in _OFFER_RULES:
        if verdict := rule(offer):
            return verdict
    return Accept()


def counts_as_drift(verdict: Verdict) -> bool:
    """Whether a verdict hints at an adapter that no longer fits its site."""
    match verdict:
        case Accept():
            return False
        case Drop(reason):
            return reason not in EXPECTED_DROPS
        case Quarantine():
            return True


def _hidden_price(offer: _Offer) -> Verdict | None:
    """The adapter itself says: sold out, and no price shown."""
    if offer.extraction.reason is ExtractReason.OOS_NO_PRICE:
        return Drop(DropReason.OOS_NO_PRICE, offer.extraction.detail)
    return None


def _invalid_url(offer: _Offer) -> Verdict | None:
    if problem := offer.invalid.get("url"):
        return Drop(DropReason.INVALID_URL, f"url: {problem}")
    if offer.product.url is None:
        return None
    try:
        _ = offer.url
    except UrlError as error:
        return Drop(DropReason.INVALID_URL, f"url: {error}")
    return None


def _missing_field(offer: _Offer) -> Verdict | None:
    product = offer.product
    is_priceless = product.price_minor is None and (
        product.rival_prices or product.availability is Availability.OUT_OF_STOCK
    )
    required = ("name", "url") if is_priceless else ("name", "url", "price_minor", "currency")
    return _missing(product, offer.invalid, *required)


def _missing(record: Record, invalid: Mapping[str, str], *required: str) -> Verdict | None:
    """A field that was found but unreadable is not missing: another rule has a word on it."""
    absent = [name for name in required if getattr(record, name) is None and name not in invalid]
    if absent:
        return Drop(DropReason.MISSING_REQUIRED_FIELD, ", ".join(absent))
    return None


def _price_out_of_range(offer: _Offer) -> Verdict | None:
    price = offer.product.price_minor
    if price is None:
        # A record cannot hold a negative price; what was found can be one.
        price = offer.extraction.fields.get("price_minor")
    # Zero is another rule's. The number is not shown: it may have thousands of digits.
    if isinstance(price, int) and not 0 <= price <= MAX_MINOR_UNITS:
        side = "below 1" if price < 0 else f"above {MAX_MINOR_UNITS}"
        return Drop(DropReason.INVALID_PRICE, f"price_minor: {side}")
    return None


def _unreadable_field(offer: _Offer) -> Verdict | None:
    return _unreadable(offer.invalid, *DECISIVE_FIELDS)


def _unreadable(invalid: Mapping[str, str], *decisive: str) -> Verdict | None:
    problems = [f"{name}: {invalid[name]}" for name in decisive if name in invalid]
    if problems:
        return Quarantine(QuarantineReason.NORMALIZATION_FAILED, "; ".join(problems))
    return None


def _ambiguous_price(offer: _Offer) -> Verdict | None:
    if rivals := offer.product.rival_prices:
        return Quarantine(QuarantineReason.AMBIGUOUS_PRICE, " or ".join(rivals))
    return None


def _zero_price(offer: _Offer) -> Verdict | None:
    if offer.product.price_minor == 0:
        return Quarantine(QuarantineReason.ZERO_PRICE_EXTRACTED)
    return None


def _sold_out_without_price(offer: _Offer) -> Verdict | None:
    product = offer.product
    if product.availability is Availability.OUT_OF_STOCK and product.price_minor is None:
        return Drop(DropReason.OOS_NO_PRICE)
    return None


def _unknown_availability(offer: _Offer) -> Verdict | None:
    if offer.product.availability is Availability.UNKNOWN:
        return Drop(DropReason.UNKNOWN_AVAILABILITY)
    return None


def _duplicate(offer: _Offer) -> Verdict | None:
    if offer.standing.history.seen_in_run(offer.key):
        return Drop(DropReason.DUPLICATE_WITHIN_RUN, offer.key)
    return None


def _implausible_price(offer: _Offer) -> Verdict | None:
    last = offer.standing.history.last_accepted(offer.key)
    if last is None:
        return None
    price = Money(offer.product.price_minor or 0, offer.product.currency or "")
    jump = describe_jump(price, last, offer.standing.settings.max_price_factor)
    return Quarantine(QuarantineReason.VALIDATION_FAILED, jump) if jump else None


#: What is not the adapter's fault comes first, then what makes a record useless, then what a
#: person has to see; the history is asked last, and only about what is sound in itself.
_OFFER_RULES: tuple[Callable[[_Offer], Verdict | None], ...] = (
    _hidden_price,
    _invalid_url,
    _missing_field,
    _price_out_of_range,
    _unreadable_field,
    _ambiguous_price,
    _zero_price,
    _sold_out_without_price,
    _unknown_availability,
    _duplicate,
    _implausible_price,
)
