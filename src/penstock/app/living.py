"""Live pages, put together: who watches them, what is kept of them, and what people see."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.app import Platform
from penstock.blobs.ports import Blobs
from penstock.core.metrics import Metrics
from penstock.core.supervise import Supervisor
from penstock.core.urls import parse
from penstock.extract.live.adapter import LiveAdapter
from penstock.extract.live.registry import LiveRegistry, open_live_registry
from penstock.kernel import hours
from penstock.kernel.admission import Admission, SystemLookup
from penstock.kernel.fetchers.browser.processes import end_orphans, free_memory
from penstock.kernel.switches import Paused
from penstock.notify.ops import OpsAlerts
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.web.waiting import Waiters
from penstock.workloads.live.buffer import UpdateBuffer
from penstock.workloads.live.journal import Journal, open_journal
from penstock.workloads.live.keeping import Keeper
from penstock.workloads.live.metrics import LiveGauges
from penstock.workloads.live.model import WORKLOAD, Feed
from penstock.workloads.live.pace import Paces
from penstock.workloads.live.service import LiveService, Means
from penstock.workloads.live.stored_health import examine_store
from penstock.workloads.live.supervising import Supervision
from penstock.workloads.live.upkeep import LiveUpkeep
from penstock.workloads.live.visiting import Visitor
from penstock.workloads.live.vitals import Vitals
from penstock.workloads.live.watcher import Hands, Watcher
from penstock.workloads.live.ways import ByPage, ByRequest, Way

FOLDER = "live"


@dataclass(slots=True)
class Living:
    """Live pages in one process; `supervision` is there while it watches some."""

    settings: Settings
    platform: Platform
    store: Store
    blobs: Blobs
    ops: OpsAlerts
    registry: LiveRegistry
    vitals: Vitals
    paces: Paces
    waiters: Waiters = field(default_factory=Waiters)
    supervision: Supervision | None = None

    @property
    def upkeep(self) -> LiveUpkeep:
        """What is done from time to time, by one process for all."""
        return LiveUpkeep(self.store, self.settings.live)

    def service(self) -> LiveService:
        """What live pages do for people."""
        return LiveService(
            Means(
                store=self.store,
                blobs=self.blobs,
                registry=self.registry,
                # Only to look at URLs: names are looked up by whoever contacts them.
                admission=Admission(self.settings.admission, SystemLookup(1)),
                paces=self.paces,
                waiters=self.waiters,
                clock=self.platform.clock,
                settings=self.settings.live,
                supervision=lambda: self.supervision,
            )
        )

    async def examine(self) -> dict[str, Any]:
        """How all live pages do; of memory alone if this process watches some."""
        if self.supervision is None:
            return await examine_store(self.store)
        return self.vitals.status(self.supervision.watchers.values()).to_dict()

    async def watch(
        self, worker: Callable[[], str], supervisor: Supervisor, stack: AsyncExitStack
    ) -> Supervision:
        """Watch feeds in this process until the stack is left."""
        journal = stack.enter_context(open_journal(self.settings.store.folder / FOLDER))
        buffer = UpdateBuffer(self.settings.live, journal)
        keeper = self._keeper(buffer)
        show = partial(self._show, buffer, journal)
        supervision = self._supervision(keeper, worker, show)
        supervisor.start("live updates", keeper.run)
        supervisor.start("live pages", supervision.run)
        supervisor.start("measures of live pages", supervision.keep_measuring)
        supervisor.start("freshness of live pages", supervision.keep_telling)
        supervisor.start("orphaned browsers", supervision.keep_clearing)
        self.supervision = supervision
        live = self.settings.live
        if live.prometheus_port is not None and live.enable_prometheus_metrics:
            await self._show_metrics(live.prometheus_port, stack)
        return supervision

    def start_gauges(self, supervisor: Supervisor) -> None:
        """Say which feeds the store knows, in a process that is asked for its metrics."""
        if self.settings.live.enable_prometheus_metrics:
            gauges = LiveGauges(self.platform.metrics, self.store)
            supervisor.start("gauges of feeds", lambda: gauges.keep_looking(self.platform.clock))

    async def _show_metrics(self, port: int, stack: AsyncExitStack) -> None:
        from penstock.app.signs import open_metrics  # noqa: PLC0415 - heavy, and often not needed

        metrics = open_metrics(self.settings, port, self.platform.metrics)
        await stack.enter_async_context(metrics)

    def _keeper(self, buffer: UpdateBuffer) -> Keeper:
        return Keeper(
            self.store,
            buffer,
            self.platform.clock,
            ops=self.ops,
            blobs=self.blobs,
            counts=self.vitals,
            most_snapshots=self.settings.live.snapshots_per_feed,
            stored=lambda updates: self.waiters.wake([each.match_id for each in updates]),
        )

    def _supervision(
        self,
        keeper: Keeper,
        worker: Callable[[], str],
        show: Callable[[Mapping[str, Watcher]], None],
    ) -> Supervision:
        platform, pages = self.platform, self.platform.pages
        hands = Hands(
            settings=self.settings.live,
            store=self.store,
            desk=keeper,
            clock=platform.clock,
            restarted=self.vitals.metrics.restarted,
            way_for=partial(way_for, platform),
            free_memory=free_memory,
            floor_of=self.paces.floor_of,
            worker=worker,
        )
        return Supervision(
            hands=hands,
            keeper=keeper,
            adapter_named=self.registry.get,
            end_orphans=partial(end_orphans, self.settings.browser.folder),
            browsers=lambda: {each.pid or 0: each.memory_bytes for each in pages.browsers()},
            show=show,
        )

    def _show(
        self, buffer: UpdateBuffer, journal: Journal, watchers: Mapping[str, Watcher]
    ) -> None:
        self.vitals.show(watchers)
        self.vitals.metrics.show_dropped(sum(buffer.dropped.values()))
        self.vitals.metrics.show_buffer(len(buffer), journal.size if len(journal) else 0)


def open_living(
    settings: Settings, platform: Platform, store: Store, *, blobs: Blobs, ops: OpsAlerts
) -> Living:
    """Live pages on a store; nothing is watched yet."""
    return Living(
        settings=settings,
        platform=platform,
        store=store,
        blobs=blobs,
        ops=ops,
        registry=open_live_registry(settings.live.adapters),
        # What nobody wants to see is counted apart.
        vitals=Vitals(
            platform.metrics if settings.live.enable_prometheus_metrics else Metrics(),
            platform.clock,
        ),
        paces=Paces(platform.policies, settings.live.polling_interval_seconds),
    )


@dataclass(frozen=True, slots=True)
class _Leave:
    """Whether pages of a host may stay open."""

    platform: Platform
    host: str
    domain: str

    def may_stay(self) -> bool:
        window = self.platform.policies.look_up(self.host, WORKLOAD).hours
        is_open = window is None or hours.is_open(window, self.platform.clock.now())
        return is_open and not self.platform.switches.is_paused(self.domain)

    async def until_paused(self) -> None:
        with suppress(Paused):
            await self.platform.switches.contact(self.domain, asyncio.Event().wait())


def way_for(platform: Platform, feed: Feed, adapter: LiveAdapter) -> Way:
    """How a feed is looked at."""
    visitor = Visitor(platform.pipeline, platform.clock)
    url = parse(feed.url)
    if adapter.way_for(feed.options) == "http":
        return ByRequest(adapter.address_of(feed.url), visitor)
    return ByPage(
        feed.match_id,
        feed.url,
        adapter.wait_for,
        visitor=visitor,
        pages=platform.pages,
        leave=_Leave(platform, url.host, url.domain),
        clock=platform.clock,
        read_seconds=platform.settings.live.selector_timeout_seconds,
    )
