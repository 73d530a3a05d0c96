"""Builders: sites of the catalogue, and what was read on their pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from penstock.extract.product.images import FoundImage
from penstock.kernel.records import Availability, Product
from penstock.products.catalogue import Entry
from penstock.products.tables import domains
from penstock.store.unit import Unit
from tests.unit.products.offers import NOON, Shop, open_shop, show


@dataclass(frozen=True, slots=True)
class Site:
    """A shop that the catalogue crawls."""

    shop: Shop
    domain_id: str
    name: str

    def entry(
        self,
        item: str = "1",
        *,
        price: int | None = 1999,
        run: str = "run-1",
        at: int = NOON,
        images: Sequence[FoundImage] = (),
        page: str | None = None,
        **facts: Any,
    ) -> Entry:
        """What was read on the page of an item; `facts` are fields of the record."""
        url = f"https://{self.name}.example/{page or item}"
        said: dict[str, Any] = {
            "name": f"Item {item}",
            "price_minor": price,
            "currency": None if price is None else "USD",
            "availability": Availability.IN_STOCK,
        }
        return Entry(
            source_id=self.shop.source_id,
            retailer_id=self.shop.retailer_id,
            domain_id=self.domain_id,
            crawl_task_id=f"task-{page or item}",
            url_hash=sha256(url.encode()).hexdigest(),
            identity_key=f"PID:{item}",
            url=url,
            record=Product(**(said | facts)),
            observed_at=at,
            run_id=run,
            adapter_id="product",
            adapter_version="1.0.0",
            confidence={"name": 0.9},
            images=images,
        )


def open_site(unit: Unit, name: str = "site", *, shown: bool = True) -> Site:
    """Add a source, its retailer and its domain; readers see it unless it is not shown."""
    shop = open_shop(unit, name)
    if shown:
        show(unit, shop)
    row = {"id": f"domain-{name}", "source_id": shop.source_id, "domain_name": f"{name}.example"}
    times = {"created_at": NOON, "updated_at": NOON}
    unit.run(domains.insert().values(row | times | {"base_url": f"https://{name}.example"}))
    return Site(shop, row["id"], name)
