"""Sources and retailers, as the people who look after the monitor change them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.products import sources as shops
from penstock.products.announcing import source_message
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import NotFound, invalid
from penstock.workloads.monitor.drafting import Drafter, DraftRefused

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shops:
    """Sources and retailers."""

    store: Store
    drafter: Drafter
    log: EventLog

    async def all(self, domain: str | None = None) -> list[Row]:
        """Sources by name."""
        return await self.store.read(lambda unit: shops.list_sources(unit, domain=domain))

    async def get(self, name_or_id: str) -> Row:
        """A source."""
        return await self.store.read(lambda unit: shops.get_source(unit, name_or_id))

    async def retailers(self) -> list[Row]:
        """Retailers by name."""
        return await self.store.read(shops.list_retailers)

    async def add_retailer(self, name: str, website_url: str | None, who: str) -> Row:
        """A new retailer."""
        return await self.store.write(
            lambda unit: shops.create_retailer(unit, name, website_url, who=who)
        )

    async def add(
        self,
        name: str,
        domain: str,
        retailer: str,
        *,
        who: str,
        adapter_id: str | None = None,
        scrape_config: Mapping[str, Any] | None = None,
    ) -> Row:
        """A new source; a retailer that is not known yet is added with it."""
        self._check_adapter(domain, adapter_id)

        def work(unit: Unit) -> Row:
            found = _retailer(unit, retailer, who)
            return shops.create_source(
                unit,
                name,
                domain,
                found["id"],
                who=who,
                adapter_id=adapter_id,
                scrape_config=scrape_config,
            )

        return await self.store.write(work)

    async def edit(self, name_or_id: str, who: str, **changes: Any) -> Row:
        """Change a source; visibility and trust are decisions that are kept apart."""
        visibility = changes.pop("visibility_status", None)
        trusted = changes.pop("upc_trusted", None)

        def work(unit: Unit) -> Row:
            source = shops.get_source(unit, name_or_id)
            source_id, is_other = source["id"], False
            if changes.get("adapter_id"):
                domain = changes.get("domain") or source["domain"]
                self._check_adapter(domain, changes["adapter_id"])
            if changes:
                source = shops.edit_source(unit, source_id, who=who, **changes)
            if visibility is not None:
                is_other = visibility != source["visibility_status"]
                source = shops.set_visibility(unit, source_id, visibility, who=who)
            if trusted is not None:
                source = shops.set_trust(unit, source_id, upc_trusted=trusted, who=who)
            if is_other:
                self.log.append(unit, [source_message(source_id, shops.Visibility(visibility))])
            return source

        return await self.store.write(work)

    async def approve(self, name_or_id: str, who: str) -> Row:
        """Say that the terms of service were read and allow this: its targets may be fetched."""

        def work(unit: Unit) -> Row:
            source_id = shops.get_source(unit, name_or_id)["id"]
            return shops.approve_terms(unit, source_id, who=who)

        return await self.store.write(work)

    async def revoke(self, name_or_id: str, who: str) -> Row:
        """Take the approval back: nothing more is fetched."""

        def work(unit: Unit) -> Row:
            source_id = shops.get_source(unit, name_or_id)["id"]
            return shops.revoke_terms(unit, source_id, who=who)

        return await self.store.write(work)

    def _check_adapter(self, domain: str, adapter_id: str | None) -> None:
        if not adapter_id:
            return
        try:
            self.drafter.adapter_for(parse(f"https://{domain}/"), adapter_id)
        except DraftRefused as error:
            raise invalid("adapter_id", str(error)) from error
        except UrlError as error:
            raise invalid("domain", str(error)) from error


def _retailer(unit: Unit, name_or_id: str, who: str) -> Row:
    try:
        return shops.get_retailer(unit, name_or_id)
    except NotFound:
        return shops.create_retailer(unit, name_or_id, who=who)
