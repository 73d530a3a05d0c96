"""Alerts: what ops have to know goes to the log, and through Apprise to any service it knows.

Apprise makes its own connections, past our guard: so its URLs come from the settings only, which
the operator writes. What a user names is told by a signed webhook, through the guard. The URLs
hold passwords: they appear in no log, no error and no event.
"""

import asyncio
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.core.errors import NotDelivered, SettingsError
from penstock.core.log import get_logger
from penstock.notify.settings import NotifySettings, Severity
from penstock.notify.topics import OPS_ALERT, PRICE_ALERT
from penstock.notify.webhooks import Announcement, Told

SETTING = "PENSTOCK_NOTIFY__ALERT_URLS"
#: The worst first.
SEVERITIES: tuple[Severity, ...] = ("P1", "P2", "P3")
#: What Apprise calls them.
TYPES = {"P1": "failure", "P2": "warning", "P3": "info"}

#: Sends a title, a text and its type to one service; whether that was taken.
Send = Callable[[str, str, str], bool]


class AlertLog:
    """Writes alerts to the log of the process."""

    name = "alert log"

    def wants(self, topic: str) -> bool:
        return topic == OPS_ALERT

    def line_of(self, message: Told) -> str | None:
        del message
        return self.name

    async def deliver(self, events: Sequence[Announcement]) -> None:
        """Log each alert, the worst ones as errors."""
        for event in events:
            data = event.message.data
            log = get_logger()
            tell = log.error if data["severity"] == "P1" else log.warning
            names = ("kind", "subject", "severity", "message", "count")
            tell("alert", **{name: data[name] for name in names})


class AlertChannel:
    """Sends alerts to one service; `name` is the same as long as the settings are."""

    def __init__(self, name: str, send: Send, least: Severity, seconds: float) -> None:
        self.name = name
        self._send = send
        self._told = SEVERITIES[: SEVERITIES.index(least) + 1]
        self._seconds = seconds
        self._sending: asyncio.Task[bool] | None = None

    def wants(self, topic: str) -> bool:
        return topic in (OPS_ALERT, PRICE_ALERT)

    def line_of(self, message: Told) -> str | None:
        """Everything in one line; what a user gets by a webhook is not sent here, too."""
        if message.topic == PRICE_ALERT:
            return None if message.data.get("callback_url") else self.name
        return self.name if message.data["severity"] in self._told else None

    async def deliver(self, events: Sequence[Announcement]) -> None:
        """Send each alert; raise `NotDelivered` at the first that is not taken."""
        for event in events:
            await self._deliver(event.message)

    async def _deliver(self, message: Told) -> None:
        if self._sending is not None and not self._sending.done():
            # A thread cannot be ended: there is never more than one of them.
            raise NotDelivered(f"{self.name}: the message before is still on its way")
        title, body = wording(message.topic, message.data)
        kind = TYPES[message.data.get("severity", "P3")]
        self._sending = asyncio.create_task(asyncio.to_thread(self._send, title, body, kind))
        try:
            was_taken = await asyncio.wait_for(asyncio.shield(self._sending), self._seconds)
        except TimeoutError:
            raise NotDelivered(f"{self.name}: no answer within {self._seconds:g} s") from None
        except Exception as error:
            # Its text may hold the URL.
            raise NotDelivered(f"{self.name}: {type(error).__name__}") from None
        if not was_taken:
            raise NotDelivered(f"{self.name}: the service did not take the message")


def wording(topic: str, data: Mapping[str, Any]) -> tuple[str, str]:
    """Title and text of an alert, for people."""
    if topic == PRICE_ALERT:
        return "Penstock: price alert", f"{data['message']}\n{data['url']}"
    often = f"\nraised {data['count']} times" if data["count"] > 1 else ""
    title = f"Penstock {data['severity']}: {data['kind'].replace('_', ' ')}"
    return title, f"{data['subject']}: {data['message']}{often}"


def open_channels(settings: NotifySettings) -> list[AlertLog | AlertChannel]:
    """The log, and a channel for every URL of the settings."""
    # It logs what it could not send, and where to.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    channels: list[AlertLog | AlertChannel] = [AlertLog()]
    for place, url in enumerate(settings.alert_urls.get_secret_value().split(), 1):
        name = f"alerts {place} {url.partition(':')[0]}"
        send = _open(url, place)
        channels.append(AlertChannel(name, send, settings.alert_severity, settings.alert_seconds))
    return channels


def _open(url: str, place: int) -> Send:
    with warnings.catch_warnings():
        # It tries modules that Python is about to drop; it does without them, too.
        warnings.simplefilter("ignore", DeprecationWarning)
        import apprise  # noqa: PLC0415 - heavy, and often not needed

        service = apprise.Apprise()
        is_known = service.add(url)
    if not is_known:
        raise SettingsError(
            f"{SETTING}: Apprise does not know what to do with URL number {place}; "
            "see https://github.com/caronc/apprise/wiki for how they are written"
        )

    def send(title: str, body: str, kind: str) -> bool:
        return bool(service.notify(body, title=title, notify_type=apprise.NotifyType(kind)))

    return send
