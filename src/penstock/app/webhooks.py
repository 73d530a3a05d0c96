"""Webhooks, put together: the secret, the sink, and who brings events to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from penstock.app import Platform
from penstock.core.supervise import Supervisor
from penstock.events.dispatch import Dispatcher, Dispatching
from penstock.kernel.admission import Admission, Lookup, SystemLookup
from penstock.kernel.identity import agent_string
from penstock.notify.secret import WebhookSecret, find_secret
from penstock.notify.webhooks import WebhookSink
from penstock.queue.heartbeat import Heartbeat
from penstock.queue.seats import Seat
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.scrape.announcing import results_of


@dataclass(frozen=True, slots=True)
class Webhooks:
    """Callbacks on their way; a secret that is new has to be shown to somebody."""

    secret: WebhookSecret
    dispatcher: Dispatcher
    seat: Seat

    async def deliver_due(self) -> int:
        """Deliver what is due, if that is ours to do; how many webhooks were taken."""
        return await self.dispatcher.deliver_due() if await self.seat.is_ours() else 0


@asynccontextmanager
async def open_webhooks(
    settings: Settings,
    platform: Platform,
    store: Store,
    heartbeat: Heartbeat,
    *,
    lookup: Lookup | None = None,
) -> AsyncIterator[Webhooks]:
    """Deliver callbacks until the block is left; of several processes one does it."""
    notify, clock = settings.notify, platform.clock
    secret = find_secret(notify.webhook_secret, settings.store.keys)
    sink = WebhookSink(
        notify,
        secret,
        Admission(settings.admission, lookup or SystemLookup(settings.admission.dns_threads)),
        clock,
        agent=agent_string(settings.identity),
        http=settings.http,
        results=partial(results_of, store),
    )
    dispatching = Dispatching(notify.pauses, notify.at_once, notify.per_receiver)
    dispatcher = Dispatcher(store, sink, dispatching, platform.chance)
    seat = Seat(store, heartbeat, f"relay {sink.name}")
    # The supervisor ends first: nothing is delivered through a sink that is closed.
    async with sink, Supervisor(clock) as supervisor:
        supervisor.start(sink.name, lambda: dispatcher.run(seat.is_ours, clock))
        platform.supervisors.append(supervisor)
        try:
            yield Webhooks(secret, dispatcher, seat)
        finally:
            platform.supervisors.remove(supervisor)
