"""Whom the pages of the console ask: the same services as the API."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.console.recent import Recent
from penstock.core.clock import Clock
from penstock.events.log import EventLog
from penstock.events.outbox import Outbox
from penstock.kernel.circuits import Circuits
from penstock.kernel.fetchers.browser.pool import PoolStats
from penstock.kernel.pipeline import Pipeline
from penstock.kernel.policy import PolicyBook
from penstock.kernel.ports import Pacing
from penstock.store.outages import Outages
from penstock.store.store import Store
from penstock.store.switches import StoredSwitches
from penstock.workloads.catalog.proxies import Proxies
from penstock.workloads.catalog.service import CatalogService
from penstock.workloads.live.service import LiveService
from penstock.workloads.monitor.service import MonitorService
from penstock.workloads.scrape.service import ScrapeService
from penstock.workloads.stream.desk import Desk as StreamDesk


class Setting(Protocol):
    """A setting that is in force, secrets masked."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def source(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that there is to look at and to change."""

    store: Store
    clock: Clock
    log: EventLog
    webhooks: Outbox
    switches: StoredSwitches
    policies: PolicyBook
    pipeline: Pipeline
    circuits: Circuits
    pacing: Pacing
    recent: Recent
    outages: Outages
    proxies: Proxies
    monitor: MonitorService
    scrape: ScrapeService
    stream: StreamDesk
    catalog: CatalogService
    live: LiveService
    #: Live pages in figures, as their health has them.
    live_health: Callable[[], Awaitable[dict[str, Any]]]
    #: The pool of browsers of this process, if it has one.
    browsers: Callable[[], PoolStats | None]
    #: Every setting and where it came from.
    settings: Callable[[], Sequence[Setting]]
