"""Webhooks on the wire: what a receiver gets, and what never leaves."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator

import pytest

from penstock.core.errors import NotDelivered
from penstock.events.ports import Message
from penstock.notify.topics import TASK_FINISHED
from penstock.notify.webhooks import WebhookSubscription, payload
from tests.clocks import HandClock
from tests.site import Site
from tests.site.answers import Hit, Reply, Reset
from tests.unit.notify.deliveries import RECEIVER, SECRET, event, finished, open_sink


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        site.reply("backend.test", "/hooks/scraper", Reply(204))
        yield site


def received(site: Site) -> list[Hit]:
    return site.hits_of("backend.test")


async def test_the_payload_is_posted_as_it_is_signed(site: Site) -> None:
    clock = HandClock()
    async with open_sink(site, clock) as sink:
        await sink.deliver([event(finished())])

    (hit,) = received(site)
    timestamp = str(int(clock.now().timestamp()))
    assert (hit.method, hit.headers["Content-Type"]) == ("POST", "application/json")
    assert json.loads(hit.body) == {
        "job_id": "job-1",
        "status": "completed",
        "summary": {"total": 1, "completed": 1, "failed": 0},
        "results": [{"task_id": "t1", "status": "completed"}],
    }
    assert hit.headers["X-Webhook-Id"] == "event-1"
    assert hit.headers["X-Webhook-Timestamp"] == timestamp
    assert hit.headers["X-Webhook-Signature"] == hex_hmac(hit.body)
    signed = f"event-1.{timestamp}.".encode() + hit.body
    assert hit.headers["X-Webhook-Signature-V2"] == hex_hmac(signed)


def hex_hmac(content: bytes) -> str:
    return hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()


async def test_a_standalone_task_is_told_of_by_its_own_id(site: Site) -> None:
    data = {**finished().data, "task_id": "t7"}
    async with open_sink(site) as sink:
        await sink.deliver([event(Message("e", TASK_FINISHED, "t7", data))])

    (hit,) = received(site)
    content = json.loads(hit.body)
    assert content["task_id"] == "t7"
    assert "job_id" not in content


async def test_the_workspace_and_the_callback_url_are_not_in_the_payload() -> None:
    assert b"w1" not in payload(finished(), [])
    assert b"backend.test" not in payload(finished(), [])


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_any_answer_of_success_is_one(site: Site, status: int) -> None:
    site.reply("backend.test", "/hooks/scraper", Reply(status))
    async with open_sink(site) as sink:
        await sink.deliver([event(finished())])

    assert len(received(site)) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Reply(500), "answered 500"),
        (Reply(404), "answered 404"),
        (Reset(), "not reached"),
        (Reply(304), "answered 304"),
    ],
)
async def test_what_is_not_taken_is_told_without_the_content(
    site: Site, answer: Reply | Reset, told: str
) -> None:
    site.reply("backend.test", "/hooks/scraper", answer)
    async with open_sink(site) as sink:
        with pytest.raises(NotDelivered, match=told) as caught:
            await sink.deliver([event(finished())])

    assert "job-1" not in str(caught.value)
    assert SECRET not in repr(caught.value)


async def test_redirects_are_not_followed(site: Site) -> None:
    elsewhere = f"http://127.0.0.1:{site.canary.port}/"
    site.reply("backend.test", "/hooks/scraper", Reply(307, headers={"Location": elsewhere}))
    async with open_sink(site) as sink:
        with pytest.raises(NotDelivered, match="redirects are not followed"):
            await sink.deliver([event(finished())])

    assert (len(received(site)), site.canary.connections) == (1, 0)


async def test_a_receiver_that_does_not_answer_in_time_has_not_taken_it(site: Site) -> None:
    site.reply("backend.test", "/hooks/scraper", Reply(200, delay=5))
    async with open_sink(site, timeout_seconds=0.05) as sink:
        with pytest.raises(NotDelivered, match="deadline"):
            await sink.deliver([event(finished())])


async def test_an_endless_answer_is_not_read_to_its_end(site: Site) -> None:
    async with open_sink(site, timeout_seconds=5) as sink:
        await sink.deliver([event(finished("http://slow.test/endless"))])

    await site.left_alone()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://localhost:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://private.example:{port}/",
        "http://mixed.example:{port}/",
        "http://user:password@backend.test:{port}/",
        "ftp://backend.test/",
        "file:///etc/passwd",
        "not a url",
        "http://backend.test:22/",
    ],
)
async def test_no_callback_reaches_a_private_address(site: Site, url: str) -> None:
    async def lookup(host: str) -> list[str]:
        return ["127.0.0.1"] if host == "private.example" else ["93.184.215.14", "127.0.0.1"]

    async with open_sink(site, lookup=lookup) as sink:
        with pytest.raises(NotDelivered):
            await sink.deliver([event(finished(url.format(port=site.canary.port)))])

    assert site.canary.connections == 0


async def test_a_receiver_on_the_deny_list_is_not_contacted(site: Site) -> None:
    async with open_sink(site, admission={"deny": ("backend.test",)}) as sink:
        with pytest.raises(NotDelivered, match="deny list"):
            await sink.deliver([event(finished())])

    assert received(site) == []


def test_events_without_a_callback_url_are_owed_to_nobody() -> None:
    subscription = WebhookSubscription()

    assert subscription.line_of(finished(None)) is None
    assert subscription.line_of(finished(RECEIVER)) == "backend.test"
    assert subscription.line_of(finished("https://backend.test:8443/x")) == "backend.test:8443"
    assert not subscription.wants("fetch.finished")
