"""Builders: shops, and offers of theirs."""

from dataclasses import dataclass
from typing import Any

from penstock.kernel.records import Availability, Product
from penstock.products import sources
from penstock.products.model import Offer
from penstock.store.unit import Unit

NOON = 1_772_625_600_000
HOUR = 3_600_000
#: Numbers of three products, with right check digits.
GTINS = ("00012345678905", "00029465094157", "00604544617153")
ROUNDS: dict[str, Any] = {
    "brand": "Federal",
    "caliber": "9mm Luger",
    "grain_weight": 115,
    "round_count": 50,
}


@dataclass(frozen=True, slots=True)
class Shop:
    """A source and its retailer."""

    source_id: str
    retailer_id: str

    def offer(
        self,
        item: str = "1",
        *,
        price: int = 1999,
        run: str = "run-1",
        at: int = NOON,
        target: str | None = None,
        **facts: Any,
    ) -> Offer:
        """An offer of an item; `facts` are fields of the record."""
        said: dict[str, Any] = {
            "name": f"Item {item}",
            "price_minor": price,
            "currency": "USD",
            "availability": Availability.IN_STOCK,
        }
        return Offer(
            source_id=self.source_id,
            retailer_id=self.retailer_id,
            record=Product(**(said | facts)),
            identity_key=f"PID:{item}",
            url=f"https://shop.example/{item}",
            observed_at=at,
            run_id=run,
            adapter_id="product",
            adapter_version="1.0.0",
            target_id=f"target-{item}" if target is None else target,
        )


def open_shop(unit: Unit, name: str = "shop", *, trusted: bool = False) -> Shop:
    """Add a source and its retailer."""
    retailer = sources.create_retailer(unit, name, who="ann")
    source = sources.create_source(unit, name, f"{name}.example", retailer["id"], who="ann")
    if trusted:
        sources.set_trust(unit, source["id"], upc_trusted=True, who="ann")
    return Shop(source["id"], retailer["id"])


def show(unit: Unit, shop: Shop) -> None:
    """Let consumers see a shop."""
    sources.set_visibility(unit, shop.source_id, sources.Visibility.ELIGIBLE, who="ann")
