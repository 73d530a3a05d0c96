"""Webhooks: what a caller wanted to be told is posted to its URL, signed.

A sink of the event log: at least once, with the event's id on every attempt. Every attempt is
admitted anew, follows no redirect, uses no proxy and has one deadline from DNS to the last byte.
Results are not in the log but looked up for each attempt: what was erased is not sent any more.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

import orjson

from penstock.core.clock import Clock
from penstock.core.errors import NotDelivered, UrlError
from penstock.core.urls import parse
from penstock.kernel.admission import Admission
from penstock.kernel.fetchers.http import HttpFetcher
from penstock.kernel.model import Failure, Page, Redirect
from penstock.kernel.ports import Hop
from penstock.kernel.settings import HttpSettings
from penstock.notify.secret import WebhookSecret
from penstock.notify.settings import NotifySettings
from penstock.notify.signature import signed_headers
from penstock.notify.topics import JOB_FINISHED, OPS_ALERT, PRICE_ALERT, TASK_FINISHED

NAME = "webhooks"
#: Of these everything that the event says is posted, but for the URL itself.
ALERTS = (PRICE_ALERT, OPS_ALERT)
TOPICS = (JOB_FINISHED, TASK_FINISHED, *ALERTS)
#: A job of more tasks than this is told of without their results.
MOST_RESULTS = 100
#: What a receiver answers is of no interest.
REPLY_BYTES = 16 * 1024


#: For what an event says of a job or task: what came of it, as far as that is still kept.
ResultsOf = Callable[[Mapping[str, Any]], Awaitable[Sequence[Any]]]


class Told(Protocol):
    """A message of the event log, as much of it as matters here."""

    @property
    def id(self) -> str: ...

    @property
    def topic(self) -> str: ...

    @property
    def data(self) -> Mapping[str, Any]: ...


class Announcement(Protocol):
    """An event of the log."""

    @property
    def message(self) -> Told: ...


class WebhookSubscription:
    """Which events are owed to receivers, and to whom: those that name a callback URL."""

    name = NAME

    def wants(self, topic: str) -> bool:
        return topic in TOPICS

    def line_of(self, message: Told) -> str | None:
        """The receiver's host and port: what is slow or down as one."""
        url = message.data.get("callback_url")
        if not url:
            return None
        try:
            return parse(url).authority
        except UrlError:
            return "not a URL"


class WebhookSink(WebhookSubscription):
    """Posts events to their receivers; use as an async context manager."""

    def __init__(
        self,
        settings: NotifySettings,
        secret: WebhookSecret,
        admission: Admission,
        clock: Clock,
        *,
        agent: str,
        http: HttpSettings,
        results: ResultsOf,
    ) -> None:
        self._settings = settings
        self._secret = secret
        self._admission = admission
        self._clock = clock
        self._agent = agent
        self._fetcher = HttpFetcher(http, admission, clock)
        self._results = results

    async def __aenter__(self) -> Self:
        await self._fetcher.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._fetcher.__aexit__(kind, error, traceback)

    async def deliver(self, events: Sequence[Announcement]) -> None:
        """Post each event to its receiver; raise `NotDelivered` at the first that is not taken."""
        for event in events:
            await self._post(event.message)

    async def _post(self, message: Told) -> None:
        try:
            url = parse(message.data["callback_url"])
        except UrlError as error:
            raise NotDelivered(f"the callback URL cannot be used: {error}") from error
        if refused := self._admission.check(url):
            raise NotDelivered(f"the callback URL is refused: {refused.detail}")
        body = await self._body(message)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": self._agent,
            **signed_headers(self._secret.key, message.id, self._now(), body),
        }
        post = Hop(
            url,
            headers,
            timeout=self._settings.timeout_seconds,
            method="POST",
            max_bytes=REPLY_BYTES,
            truncate=True,
            body=body,
        )
        _require_taken(await self._fetcher.fetch(post))

    async def _body(self, message: Told) -> bytes:
        if message.topic in ALERTS:
            return alert_payload(message)
        return payload(message, await self._results(message.data))

    def _now(self) -> int:
        return int(self._clock.now().timestamp())


def payload(message: Told, results: Sequence[Any] | None) -> bytes:
    """What the receiver gets: which job or task it is, how it ended, and what came of it."""
    data = message.data
    name = "job_id" if message.topic == JOB_FINISHED else "task_id"
    summary = data["summary"]
    content = {
        name: data[name],
        "status": data["status"],
        "summary": summary,
        "results": results if summary["total"] <= MOST_RESULTS else None,
    }
    return orjson.dumps(content)


def alert_payload(message: Told) -> bytes:
    """What the receiver of an alert gets."""
    data = {name: value for name, value in message.data.items() if name != "callback_url"}
    return orjson.dumps({"event": message.topic, "id": message.id, **data})


def _require_taken(answer: Page | Redirect | Failure) -> None:
    match answer:
        case Page(status=status) if 200 <= status < 300:  # noqa: PLR2004
            return
        case Page(status=status):
            raise NotDelivered(f"the receiver answered {status}")
        case Redirect(status=status):
            raise NotDelivered(f"the receiver answered {status}: redirects are not followed")
        case Failure():
            raise NotDelivered(f"the receiver was not reached: {answer.detail or answer.reason}")
