"""What the monitor does for people, through the API and the command line alike."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select

from penstock.blobs.ports import Blobs
from penstock.core.errors import SettingsError, UrlError
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.extract.registry import Registry
from penstock.kernel.admission import Admission
from penstock.products import corrections, history, visible
from penstock.products.announcing import price_messages
from penstock.products.history import Filter as PriceFilter
from penstock.products.tables import products
from penstock.quality.settings import QualitySettings
from penstock.quality.shadow import ShadowReport
from penstock.store.store import Store
from penstock.store.unit import Unit
from penstock.web.errors import Conflict, NotFound, invalid
from penstock.workloads.monitor import rules
from penstock.workloads.monitor.adapters import Adapters, UnknownAdapterStatus
from penstock.workloads.monitor.drafting import Drafter
from penstock.workloads.monitor.exporting import Exporter, PriceExporter
from penstock.workloads.monitor.importing import Importer
from penstock.workloads.monitor.listing import Figures, Order, figures_of, list_in_order
from penstock.workloads.monitor.listing import Part as TargetsPart
from penstock.workloads.monitor.model import AdapterStatus, DisabledReason, Trigger
from penstock.workloads.monitor.quarantine import Quarantine
from penstock.workloads.monitor.replaying import Part, Replaying, Selection
from penstock.workloads.monitor.results import Results
from penstock.workloads.monitor.runs import Launch, Launcher, PutIn, RunRefused, Runs
from penstock.workloads.monitor.settings import MonitorSettings
from penstock.workloads.monitor.shadow import report_of_newest
from penstock.workloads.monitor.shops import Shops
from penstock.workloads.monitor.tables import scrape_results
from penstock.workloads.monitor.targets import Filter, Targets, find_target, look_up
from penstock.workloads.monitor.told import Told
from penstock.workloads.monitor.why import Explanation, explain

Row = dict[str, Any]
#: One report looks at about so many results.
MOST_IN_SHADOW = 10_000
#: One replay takes about so long: whoever asked waits for it.
REPLAY_SECONDS = 20.0
#: Whoever looks at all of it sees numbers up to this one.
COUNTED_TO = 10_000


class Means(NamedTuple):
    """What the service works with."""

    store: Store
    blobs: Blobs
    log: EventLog
    put_in: PutIn
    #: Lets workers of this process look at once.
    nudge: Callable[[], None]
    registry: Registry
    #: Only to look at URLs: names are looked up by whoever contacts them.
    admission: Admission
    chance: random.Random


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices: those that consumers may see, and all of them for ops."""

    store: Store
    log: EventLog

    async def current(self, product_id: str) -> list[Row]:
        """What consumers may see of what a product costs now."""
        return await self._of_product(product_id, lambda unit: visible.current(unit, product_id))

    async def history(
        self,
        product_id: str,
        since: int | None = None,
        until: int | None = None,
        limit: int | None = None,
    ) -> list[Row]:
        """What consumers may see of what a product cost."""
        return await self._of_product(
            product_id, lambda unit: visible.history(unit, product_id, since, until, limit)
        )

    async def _of_product(self, product_id: str, look: Any) -> list[Row]:
        def work(unit: Unit) -> list[Row]:
            find_product(unit, product_id)
            found: list[Row] = look(unit)
            return found

        return await self.store.read(work)

    async def all(self, wanted: PriceFilter) -> list[Row]:
        """Every price with its provenance, newest first."""
        return await self.store.read(lambda unit: history.list_prices(unit, wanted))

    async def get(self, price_id: str) -> Row:
        """One price with its provenance."""
        found = await self.store.read(lambda unit: history.find(unit, price_id))
        if found is None:
            raise NotFound("Price not found")
        return found

    async def products(self, words: str | None = None, limit: int = 50) -> list[Row]:
        """Products, newest first; those with some words in their name."""
        chosen: list[ColumnElement[bool]] = []
        for word in (words or "").split():
            name = func.lower(products.c.name)
            chosen.append(name.contains(word.lower(), autoescape=True))
        query = select(products).where(*chosen).order_by(products.c.id.desc()).limit(limit)
        return await self.store.read(lambda unit: list(unit.rows(query)))

    async def subject(self, product_or_target: str) -> PriceFilter:
        """The prices of a product, or of a target by its id or URL."""

        def look(unit: Unit) -> PriceFilter:
            query = select(products.c.id).where(products.c.id == product_or_target)
            if unit.run(query).first():
                return PriceFilter(product_id=product_or_target)
            return PriceFilter(target_id=look_up(unit, product_or_target)["id"])

        return await self.store.read(look)

    async def correct(self, price_id: str, price: Decimal | None, *, who: str, why: str) -> str:
        """Hide a price, or let another amount stand in its place; the id of the correction."""

        def work(unit: Unit) -> str:
            if price is None:
                made = corrections.hide(unit, price_id, who=who, why=why)
            else:
                made = corrections.override(unit, price_id, price, who=who, why=why)
            self.log.append(unit, price_messages(unit, price_id))
            return made

        return await self.store.write(work)

    async def corrections(self, price_id: str) -> list[Row]:
        """All corrections that a price ever had."""
        await self.get(price_id)
        return await self.store.read(lambda unit: history.corrections_of(unit, price_id))

    async def revoke(self, correction_id: str, who: str) -> None:
        """Let a price count again as it was seen."""

        def work(unit: Unit) -> None:
            price_id = corrections.revoke(unit, correction_id, who=who)
            self.log.append(unit, price_messages(unit, price_id))

        await self.store.write(work)


def find_product(unit: Unit, product_id: str) -> Row:
    """A product."""
    for row in unit.rows(select(products).where(products.c.id == product_id)):
        return row
    raise NotFound("Product not found")


@dataclass(frozen=True, slots=True)
class Alerts:
    """The rules of users on prices."""

    store: Store
    admission: Admission

    async def all(self, **wanted: Any) -> list[rules.Rule]:
        """Rules, oldest first."""
        return await self.store.read(lambda unit: rules.list_rules(unit, **wanted))

    async def add(self, kind: rules.RuleKind, who: str, **traits: Any) -> rules.Rule:
        """A new rule; who is to be notified must be an address that may be contacted."""
        if url := traits.get("notify_url"):
            self._admit(url)

        def work(unit: Unit) -> rules.Rule:
            if target_id := traits.get("target_id"):
                find_target(unit, target_id)
            if product_id := traits.get("product_id"):
                find_product(unit, product_id)
            return rules.add_rule(unit, kind, who, **traits)

        try:
            return await self.store.write(work)
        except rules.RuleRefused as refused:
            raise invalid("rule", str(refused)) from refused

    def _admit(self, url: str) -> None:
        try:
            refusal = self.admission.check(parse(url))
        except UrlError as error:
            raise invalid("notify_url", str(error)) from error
        if refusal:
            raise invalid("notify_url", refusal.detail)

    async def get(self, rule_id: str) -> rules.Rule:
        """A rule."""
        found = await self.store.read(lambda unit: rules.find_rule(unit, rule_id))
        if found is None:
            raise NotFound("Rule not found")
        return found

    async def switch(self, rule_id: str, enabled: bool) -> rules.Rule:
        """Switch a rule on or off."""
        await self.store.write(lambda unit: rules.switch_rule(unit, rule_id, enabled=enabled))
        return await self.get(rule_id)

    async def remove(self, rule_id: str) -> None:
        """Forget a rule."""
        if not await self.store.write(lambda unit: rules.remove_rule(unit, rule_id)):
            raise NotFound("Rule not found")


@dataclass(frozen=True, slots=True)
class MonitorService:
    """All that people do with the monitor."""

    store: Store
    blobs: Blobs
    shops: Shops
    targets: Targets
    importer: Importer
    exporter: Exporter
    price_exporter: PriceExporter
    runs: Runs
    results: Results
    adapters: Adapters
    quarantine: Quarantine
    prices: Prices
    alerts: Alerts
    told: Told
    replaying: Replaying
    nudge: Callable[[], None]

    async def figures(self) -> Figures:
        """How many targets and quarantined offers there are, up to a number."""
        return await self.store.read(lambda unit: figures_of(unit, COUNTED_TO))

    async def targets_in_order(
        self, wanted: Filter, order: Order, after: str | None = None
    ) -> TargetsPart:
        """Some targets, and where the next ones begin."""
        return await self.store.read(lambda unit: list_in_order(unit, wanted, order, after))

    async def start_run(
        self,
        who: str,
        *,
        source: str | None = None,
        adapter: str | None = None,
        target_ids: Sequence[str] = (),
    ) -> Launch:
        """Read targets now."""
        source_id = await self.source_id(source)
        try:
            launch = await self.runs.start(
                who,
                source_id=source_id,
                adapter=adapter,
                target_ids=target_ids,
                trigger=Trigger.MANUAL,
            )
        except RunRefused as refused:
            raise invalid("targets", str(refused)) from refused
        self.nudge()
        return launch

    async def retry_run(self, who: str, run_id: str) -> Launch:
        """Read those targets of a run again that could not be read."""
        if await self.runs.get(run_id) is None:
            raise NotFound("Run not found")
        try:
            launch = await self.runs.retry(who, run_id)
        except RunRefused as refused:
            raise Conflict(str(refused)) from refused
        self.nudge()
        return launch

    async def source_id(self, name_or_id: str | None) -> str | None:
        """The id of a source that may be named; nothing for nothing."""
        if name_or_id is None:
            return None
        source_id: str = (await self.shops.get(name_or_id))["id"]
        return source_id

    async def enable_adapter(self, adapter_id: str, who: str) -> AdapterStatus:
        """Let an adapter read again."""
        try:
            return await self.adapters.enable(adapter_id, who)
        except UnknownAdapterStatus as unknown:
            raise NotFound(str(unknown)) from unknown

    async def disable_adapter(
        self, adapter_id: str, who: str, reason: DisabledReason = DisabledReason.MANUAL
    ) -> AdapterStatus:
        """Stop an adapter on a source."""
        try:
            return await self.adapters.disable(adapter_id, who, reason)
        except UnknownAdapterStatus as unknown:
            raise NotFound(str(unknown)) from unknown

    async def why(self, id_or_url: str) -> Explanation:
        """Why a target is as it is."""

        def look(unit: Unit) -> Explanation | None:
            return explain(unit, look_up(unit, id_or_url)["id"])

        found = await self.store.read(look)
        if found is None:
            raise NotFound("Target not found")
        return found

    async def replay(self, adapter: str, selection: Selection, pages: int) -> Part:
        """Read kept pages again with an adapter: so many at most, and not for ever."""
        try:
            return await self.replaying.part(adapter, selection, pages, REPLAY_SECONDS)
        except SettingsError as error:
            raise invalid("adapter", str(error)) from error

    async def shadow(self, adapter: str, since: int) -> tuple[list[ShadowReport], int | None]:
        """How candidates did beside an adapter; the time (ms) at which there was too much."""
        return await self.store.read(
            lambda unit: report_of_newest(unit, adapter, since, MOST_IN_SHADOW)
        )

    async def page(self, result_id: str) -> bytes:
        """The page of a result as it was."""
        query = select(scrape_results.c.body).where(scrape_results.c.id == result_id)
        address = await self.store.read(lambda unit: unit.run(query).scalar())
        data = await self.blobs.get(address) if address else None
        if data is None:
            raise NotFound("This page is not kept, or not any more")
        return data


def open_service(
    means: Means, settings: MonitorSettings, quality: QualitySettings
) -> MonitorService:
    """The service, put together."""
    store, log = means.store, means.log
    drafter = Drafter(means.registry, means.admission)
    launcher = Launcher(
        means.put_in,
        means.registry,
        max_age=settings.max_age_hours * 3600,
        canary_size=settings.canary_targets,
    )
    return MonitorService(
        store=store,
        blobs=means.blobs,
        shops=Shops(store, drafter, log),
        targets=Targets(store, drafter, log, means.chance, settings.default_schedule),
        importer=Importer(store, drafter, log, settings.import_lines),
        exporter=Exporter(store),
        price_exporter=PriceExporter(store),
        runs=Runs(store, launcher),
        results=Results(store),
        adapters=Adapters(store, log),
        quarantine=Quarantine(store, log),
        prices=Prices(store, log),
        alerts=Alerts(store, means.admission),
        told=Told(store),
        replaying=Replaying(store, means.blobs, means.registry, quality),
        nudge=means.nudge,
    )
