"""Alerts on their way: to the log, and through Apprise to a real receiver."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from penstock.core.errors import NotDelivered, SettingsError
from penstock.events.ports import Event, Message
from penstock.notify.alerts import AlertChannel, AlertLog, open_channels, wording
from penstock.notify.settings import NotifySettings
from penstock.notify.webhooks import WebhookSubscription, alert_payload
from tests.site import Reply, Site
from tests.unit.core.log_lines import captured_logs
from tests.unit.notify.deliveries import RECEIVER, open_sink

PASSWORD = "open-sesame"


def ops(severity: str = "P2", **changes: Any) -> Event:
    data = {
        "kind": "high_failure_rate",
        "subject": "product@shop",
        "severity": severity,
        "message": "60% of 20 pages could not be read",
        "count": 1,
        "first_at": 0,
        "callback_url": None,
        **changes,
    }
    return Event(1, 0, Message("a.1", "alert.told", "product@shop", data))


def price(callback_url: str | None = None) -> Event:
    data = {"message": "19.99 USD now", "url": "https://shop.example/1", "rule_id": "r"}
    return Event(2, 0, Message("p.r", "price.alert", "sp", {**data, "callback_url": callback_url}))


class Receiver:
    """A service that takes JSON, or refuses it."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.status = 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                del args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"json://user:{PASSWORD}@127.0.0.1:{self._server.server_port}/hook"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def channel(receiver: Receiver, **settings: Any) -> AlertChannel:
    chosen = NotifySettings(alert_urls=SecretStr(receiver.url), **settings)
    found = open_channels(chosen)[-1]
    assert isinstance(found, AlertChannel)
    return found


async def test_alert_arrives_at_the_service(receiver: Receiver) -> None:
    await channel(receiver).deliver([ops(), price()])

    first, second = receiver.got
    assert first["title"] == "Penstock P2: high failure rate"
    assert first["message"] == "product@shop: 60% of 20 pages could not be read"
    assert first["type"] == "warning"
    assert "19.99 USD now" in second["message"]


async def test_service_that_refuses_is_told_later_again(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.status = 500
    caplog.set_level(logging.DEBUG)
    telling = channel(receiver)

    with pytest.raises(NotDelivered, match="alerts 1 json: the service did not take") as error:
        await telling.deliver([ops()])

    assert PASSWORD not in str(error.value) + caplog.text


async def test_service_that_hangs_is_given_up_and_not_asked_twice_at_once() -> None:
    gate = threading.Event()
    asked: list[str] = []

    def send(title: str, body: str, kind: object) -> bool:
        del title, kind
        asked.append(body)
        return gate.wait(30)

    hanging = AlertChannel("alerts 1 slow", send, "P3", 0.01)

    with pytest.raises(NotDelivered, match=r"no answer within 0\.01 s"):
        await hanging.deliver([ops()])
    with pytest.raises(NotDelivered, match="still on its way"):
        await hanging.deliver([ops()])
    assert len(asked) == 1

    gate.set()
    assert hanging._sending is not None
    await asyncio.wait([hanging._sending])
    await hanging.deliver([ops()])
    assert len(asked) == 2


async def test_error_of_the_library_tells_nothing_of_the_url() -> None:
    def send(title: str, body: str, kind: object) -> bool:
        raise OSError(f"cannot reach smtp://user:{PASSWORD}@mail.example")

    with pytest.raises(NotDelivered) as error:
        await AlertChannel("alerts 1 mailto", send, "P3", 5).deliver([ops()])

    assert str(error.value) == "alerts 1 mailto: OSError"
    assert error.value.__cause__ is None


def test_channel_takes_what_is_bad_enough_and_has_no_webhook(receiver: Receiver) -> None:
    telling = channel(receiver, alert_severity="P2")

    assert telling.line_of(ops("P1").message)
    assert telling.line_of(ops("P2").message)
    assert telling.line_of(ops("P3").message) is None
    assert telling.line_of(price().message)
    assert telling.line_of(price("https://me.example/hook").message) is None
    assert telling.wants("alert.told")
    assert not telling.wants("alert.raised")


def test_url_that_means_nothing_is_refused_without_being_shown() -> None:
    with pytest.raises(SettingsError, match="URL number 2") as error:
        open_channels(NotifySettings(alert_urls=SecretStr(f"json://a.example nope://{PASSWORD}")))

    assert PASSWORD not in str(error.value)


async def test_log_is_always_told() -> None:
    (log,) = open_channels(NotifySettings())
    assert isinstance(log, AlertLog)

    with captured_logs() as lines:
        await log.deliver([ops("P1"), ops("P3")])

    assert [(line["level"], line["kind"]) for line in lines.parsed()] == [
        ("error", "high_failure_rate"),
        ("warning", "high_failure_rate"),
    ]


def test_alert_that_was_raised_often_says_so() -> None:
    assert "raised 7 times" in wording("alert.told", ops(count=7).message.data)[1]


async def test_webhook_of_a_rule_is_posted_signed_and_through_the_guard() -> None:
    async with Site() as site:
        site.reply("backend.test", "/hooks/scraper", Reply(204))
        async with open_sink(site) as sink:
            await sink.deliver([price(RECEIVER)])
            with pytest.raises(NotDelivered, match=r"refused|not reached"):
                await sink.deliver([price("http://169.254.169.254/latest")])

        (hit,) = site.hits_of("backend.test", "/hooks/scraper")
    assert json.loads(hit.body)["rule_id"] == "r"
    assert hit.headers["X-Webhook-Id"] == "p.r"
    assert hit.headers["X-Webhook-Signature"]


def test_webhook_gets_what_the_event_says_but_not_its_own_url() -> None:
    message = price("https://me.example/hook?token=1").message
    posted = json.loads(alert_payload(message))

    assert WebhookSubscription().line_of(message) == "me.example"
    assert posted["event"] == "price.alert"
    assert posted["message"] == "19.99 USD now"
    assert "token" not in json.dumps(posted)
