"""A sink and what it is told, for tests of webhooks against a real receiver on the local site."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr

from penstock.core.clock import Clock
from penstock.events.ports import Event, Message
from penstock.kernel.admission import Admission, Lookup
from penstock.kernel.settings import AdmissionSettings, HttpSettings
from penstock.notify.secret import WebhookSecret
from penstock.notify.settings import NotifySettings
from penstock.notify.topics import JOB_FINISHED
from penstock.notify.webhooks import ResultsOf, WebhookSink
from tests.clocks import HandClock
from tests.site import Site

SECRET = "correct horse battery staple"
RECEIVER = "http://backend.test/hooks/scraper"


async def no_lookup(host: str) -> list[str]:
    raise AssertionError(f"{host} must not be looked up")


async def as_told(data: Mapping[str, Any]) -> list[Any]:
    """The results that a test put beside an event."""
    found: list[Any] = data["results"]
    return found


@asynccontextmanager
async def open_sink(
    site: Site,
    clock: Clock | None = None,
    lookup: Lookup = no_lookup,
    *,
    secret: str = SECRET,
    results: ResultsOf = as_told,
    admission: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[WebhookSink]:
    """A sink that knows the hosts of the site."""
    rules = AdmissionSettings(known_hosts=site.known_hosts, **(admission or {}))
    sink = WebhookSink(
        NotifySettings(**settings),
        WebhookSecret(SecretStr(secret)),
        Admission(rules, lookup),
        clock or HandClock(),
        agent="Penstock/test",
        http=HttpSettings(),
        results=results,
    )
    async with sink:
        yield sink


def finished(
    callback_url: str | None = RECEIVER, *, name: str = "event-1", **changes: Any
) -> Message:
    """The end of a job, as the scrape workload writes it down."""
    data = {
        "job_id": "job-1",
        "workspace_id": "w1",
        "status": "completed",
        "summary": {"total": 1, "completed": 1, "failed": 0},
        "callback_url": callback_url,
        "results": [{"task_id": "t1", "status": "completed"}],
    }
    return Message(name, JOB_FINISHED, "job-1", {**data, **changes})


def event(message: Message) -> Event:
    return Event(1, 0, message)
