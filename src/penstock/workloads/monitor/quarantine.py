"""Quarantine: offers that wait for a person, who releases or discards them and says why."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from sqlalchemy import Select, select, update

from penstock.core.money import currencies, to_minor
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.events.ports import Message
from penstock.kernel.records import Product
from penstock.products.announcing import product_messages
from penstock.products.finding import key_of
from penstock.products.history import last_seen, last_seen_by_key
from penstock.products.model import Offer, Seen, Written, refusal_of
from penstock.products.writing import write_offers
from penstock.quality.identity import identity_key
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Conflict, NotFound, invalid
from penstock.workloads.monitor.changes import TellChanges, change_of, messages_of
from penstock.workloads.monitor.model import QuarantineStatus
from penstock.workloads.monitor.rules import PriceAlerts
from penstock.workloads.monitor.tables import quarantined_offers, scrape_runs, scrape_targets

RELEASED, DISCARDED = "offer.released", "offer.discarded"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """Who decides, why, and what the offer should have said."""

    who: str
    why: str
    price: Decimal | None = None
    currency: str | None = None


class Quarantine:
    """The quarantined offers of a store."""

    def __init__(
        self, store: Store, log: EventLog, tell_changes: TellChanges | None = None
    ) -> None:
        self._store = store
        self._log = log
        self._tell_changes = tell_changes or PriceAlerts(log).tell

    async def list(
        self,
        *,
        status: QuarantineStatus | None = QuarantineStatus.OPEN,
        source_id: str | None = None,
        target_id: str | None = None,
        run_id: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Row]:
        """Quarantined offers, newest first; `before` is the last id of the page before."""
        offers = quarantined_offers.c
        wanted = {
            offers.status: status,
            offers.source_id: source_id,
            offers.target_id: target_id,
            offers.run_id: run_id,
        }
        chosen = [column == value for column, value in wanted.items() if value is not None]
        if before is not None:
            chosen.append(offers.id < before)
        query = select(quarantined_offers).where(*chosen).order_by(offers.id.desc()).limit(limit)
        return await self._store.read(lambda unit: list(unit.rows(query)))

    async def get(self, offer_id: str) -> Row:
        """One offer; `NotFound` if there is none."""
        return await self._store.read(lambda unit: _only(unit, _by_id(offer_id)))

    async def accepted(self, offers: Sequence[Row]) -> dict[str, Seen]:
        """What is known of the price of offers, as accepted last; by their ids."""
        keys = {
            row["id"]: key_of(row["source_id"], row["identity_key"])
            for row in offers
            if row["identity_key"]
        }
        seen = await self._store.read(lambda unit: last_seen_by_key(unit, keys.values()))
        return {offer: seen[key] for offer, key in keys.items() if key in seen}

    async def release(
        self,
        offer_id: str,
        *,
        who: str,
        why: str,
        price: Decimal | None = None,
        currency: str | None = None,
    ) -> Row:
        """Write an offer as a price after all.

        `price` and `currency` stand in for what could not be read, or was read wrong.
        """
        said = Said(who, why, price, currency)
        return await self._once(partial(self._release, offer_id=offer_id, said=said))

    async def discard(self, offer_id: str, *, who: str, why: str) -> Row:
        """Never mind an offer."""
        return await self._once(partial(self._discard, offer_id=offer_id, who=who, why=why))

    async def _once(self, decide: Callable[[Unit], Row]) -> Row:
        """Decide; run again after a commit that was not heard of, it has been done already."""
        decided: list[Row] = []

        def work(unit: Unit) -> Row:
            if not (decided and _is_written(unit, decided[-1])):
                decided.append(decide(unit))
            return decided[-1]

        return await self._store.write(work)

    def _release(self, unit: Unit, offer_id: str, said: Said) -> Row:
        row = _find_open(unit, offer_id, said.who, said.why)
        record = _priced(Product.model_validate(row["offer"]), said)
        if refusal := refusal_of(record):
            raise invalid("price", f"{refusal}; name the right price and its currency")
        run, target = _context(unit, row)
        offer = Offer(
            source_id=row["source_id"],
            retailer_id=run["retailer_id"],
            target_id=row["target_id"],
            record=record,
            identity_key=row["identity_key"] or identity_key(record, parse(target["url"])),
            url=target["url"],
            observed_at=row["observed_at"],
            run_id=row["run_id"],
            adapter_id=row["adapter_id"],
            adapter_version=row["adapter_version"],
            released_by=said.who,
        )
        [written] = write_offers(unit, [offer])
        decided = self._decide(unit, row, QuarantineStatus.RELEASED, said, written.price_id)
        if written.changes_catalogue:
            self._log.append(unit, product_messages(unit, [written.source_product_id]))
        if _is_newest(unit, offer, written):
            change = change_of(offer, written)
            self._log.append(unit, messages_of(change))
            self._tell_changes(unit, [change])
        return decided

    def _discard(self, unit: Unit, offer_id: str, who: str, why: str) -> Row:
        row = _find_open(unit, offer_id, who, why)
        return self._decide(unit, row, QuarantineStatus.DISCARDED, Said(who, why))

    def _decide(
        self,
        unit: Unit,
        row: Row,
        status: QuarantineStatus,
        said: Said,
        price_id: str | None = None,
    ) -> Row:
        values = {
            "status": status.value,
            "decided_by": said.who,
            "decided_at": unit.now,
            "decision_note": said.why,
            "price_id": price_id,
        }
        offers = quarantined_offers
        unit.run(update(offers).where(offers.c.id == row["id"]).values(values))
        topic = RELEASED if status is QuarantineStatus.RELEASED else DISCARDED
        data = {"id": row["id"], "target_id": row["target_id"], "who": said.who, "why": said.why}
        self._log.append(unit, [Message(f"{row['id']}.{topic}", topic, row["target_id"], data)])
        return {**row, **values}


def _by_id(offer_id: str) -> Select[*tuple[Any, ...]]:
    return select(quarantined_offers).where(quarantined_offers.c.id == offer_id)


def _only(unit: Unit, query: Select[*tuple[Any, ...]]) -> Row:
    for row in unit.rows(query):
        return row
    raise NotFound("no such offer is in quarantine")


def _find_open(unit: Unit, offer_id: str, who: str, why: str) -> Row:
    """An offer on which nobody has decided yet; who decides says who, and why."""
    for name, text in (("who", who), ("why", why)):
        if not text.strip():
            raise invalid(name, "must not be empty")
    row = _only(unit, _by_id(offer_id).with_for_update())
    if row["status"] != QuarantineStatus.OPEN:
        raise Conflict(f"the offer was {row['status'].lower()} by {row['decided_by']} already")
    return row


def _is_written(unit: Unit, decided: Row) -> bool:
    row = _only(unit, _by_id(decided["id"]))
    names = ("status", "decided_by", "decided_at", "decision_note")
    return all(row[name] == decided[name] for name in names)


def _priced(record: Product, said: Said) -> Product:
    """A record with what a person says instead of the page."""
    currency = said.currency or record.currency
    if said.price is None:
        if currency != record.currency:
            raise invalid("price", "name the price too: another currency makes it another price")
        return record
    if currency not in currencies():
        raise invalid("currency", "name the currency of the price, as an ISO 4217 code")
    minor = to_minor(said.price, currency)
    if minor is None:
        raise invalid("price", f"has more decimals than {currency}")
    changes: Row = {
        "price_minor": minor,
        "currency": currency,
        "rival_prices": (),
        # It was of the price that the page showed.
        "cost_per_round_minor": None,
    }
    usual = record.list_price_minor
    if currency != record.currency:
        changes |= {"list_price_minor": None, "shipping_minor": None}
    elif usual is not None and usual < minor:
        changes["list_price_minor"] = None
    return record.model_copy(update=changes)


def _is_newest(unit: Unit, offer: Offer, written: Written) -> bool:
    """Whether nothing newer is known of what it is an offer of."""
    seen = last_seen(unit, [written.source_product_id]).get(written.source_product_id)
    return seen is None or seen.observed_at <= offer.observed_at


def _context(unit: Unit, row: Row) -> tuple[Row, Row]:
    runs = select(scrape_runs).where(scrape_runs.c.id == row["run_id"])
    targets = select(scrape_targets).where(scrape_targets.c.id == row["target_id"])
    return next(unit.rows(runs)), next(unit.rows(targets))
