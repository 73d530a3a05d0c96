"""Webhooks as a real receiver gets them: properties 40 to 43."""

import asyncio
import hashlib
import hmac
import json
import random
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.client import verify_webhook
from penstock.core.urls import parse
from penstock.events.dispatch import Dispatcher, Dispatching
from penstock.notify.webhooks import payload
from penstock.queue.ports import Release
from penstock.workloads.scrape.announcing import results_of
from tests.archives import KEY, Archive, open_archive
from tests.clocks import HandClock
from tests.site import Hit, Reply, Site
from tests.stores import sqlite_stores
from tests.unit.notify.deliveries import event, finished, open_sink

OWN = "http://own.test/hook"
#: Durability is not at stake here: a folder in memory will do, where there is one.
WHERE = next(Path("/dev").glob("shm"), None)
TERMINAL = ("completed", "partially_completed", "failed", "cancelled")

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
results = st.lists(st.dictionaries(words, json_values, max_size=3), max_size=4)
secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


# Feature: scraping-microservices, Property 40: HMAC-SHA256 webhook signature correctness
@pytest.mark.property_number(40)
@settings(max_examples=100, deadline=None)
@given(results, secrets, st.sampled_from(TERMINAL))
def test_the_signature_is_that_of_the_bytes_received(
    some: list[dict[str, Any]], secret: str, status: str
) -> None:
    async def receive() -> Hit:
        async with Site() as site, open_sink(site, HandClock(), secret=secret) as sink:
            site.reply("backend.test", "/hooks/scraper", Reply(200))
            await sink.deliver([event(finished(results=some, status=status))])
            (hit,) = site.hits_of("backend.test")
            return hit

    hit = asyncio.run(receive())
    expected = hmac.new(secret.encode(), hit.body, hashlib.sha256).hexdigest()
    assert hit.headers["X-Webhook-Signature"] == expected
    assert json.loads(hit.body)["results"] == some
    now = HandClock().now().timestamp
    for tolerance in (300.0, None):
        read = verify_webhook(hit.body, hit.headers, secret, tolerance, now=now)
        assert (read.status, list(read.results or ())) == (status, some)


# Feature: scraping-microservices, Property 41: Webhook payload size by job task count
@pytest.mark.property_number(41)
@settings(max_examples=200, deadline=None)
@given(st.integers(0, 250).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_results_are_in_the_payload_of_up_to_100_tasks(counts: tuple[int, int]) -> None:
    total, completed = counts
    some = [{"task_id": str(number)} for number in range(completed)]
    summary = {"total": total, "completed": completed, "failed": total - completed}

    content = json.loads(payload(finished(summary=summary), some))

    assert content["summary"] == summary
    assert content["results"] == (some if total <= 100 else None)


hooks = st.builds(
    lambda host, path: f"http://{host}.test/{path}",
    st.from_regex("[a-z]{1,8}", fullmatch=True),
    st.from_regex("[a-z0-9/_-]{0,12}", fullmatch=True),
)


# Feature: scraping-microservices, Property 42: Webhook callback URL override
@pytest.mark.property_number(42)
@settings(max_examples=100, deadline=None)
@given(st.none() | hooks, st.just("") | hooks, st.booleans())
def test_the_url_of_the_request_is_called_instead_of_the_default(
    own: str | None, default: str, as_job: bool
) -> None:
    async def submit(archive: Archive) -> None:
        if as_job:
            await archive.submit_job(("w", "https://site.test/1"), callback_url=own)
        else:
            await archive.submit("w", "https://site.test/1", callback_url=own)
        await archive.work()

    hits = asyncio.run(carry_out(submit, own, default, default_hook=default))
    wanted = own or default
    called = [f"http://{hit.host}{hit.path}" for hit in hits]
    assert called == ([wanted] if wanted else [])


ends = st.lists(st.sampled_from(["completed", "failed", "cancelled"]), min_size=1, max_size=6)


# Feature: scraping-microservices, Property 43: Terminal job state triggers webhook
@pytest.mark.property_number(43)
@settings(max_examples=100, deadline=None)
@given(ends)
def test_a_job_that_is_over_is_told_of_once_with_its_status_and_summary(
    wanted: list[str],
) -> None:
    jobs: list[str] = []

    async def end(archive: Archive) -> None:
        targets = [("w", f"https://site.test/{number}") for number in range(len(wanted))]
        job_id, ids = await archive.submit_job(*targets, callback_url=OWN)
        jobs.append(job_id)
        fates = dict(zip(ids, wanted, strict=True))
        claims = await archive.claim()
        running = [claim for claim in claims if fates[claim.id] != "cancelled"]
        waiting = [(claim, Release()) for claim in claims if claim not in running]
        await archive.queue.settle(waiting)
        if waiting:
            await archive.service.cancel_job(KEY, job_id)
        await archive.finish(running, failing=[each for each in ids if fates[each] == "failed"])

    hits = asyncio.run(carry_out(end, OWN))
    (content,) = [json.loads(hit.body) for hit in hits]
    completed = wanted.count("completed")
    failed = len(wanted) - completed
    assert content["job_id"] == jobs[0]
    assert content["status"] == final_status(wanted)
    assert content["summary"] == {"total": len(wanted), "completed": completed, "failed": failed}
    assert len(content["results"]) == completed


async def carry_out(
    steps: Callable[[Archive], Awaitable[None]], *receivers: str | None, default_hook: str = ""
) -> list[Hit]:
    """What receivers get when tasks are submitted and end; each is told until nothing is owed."""
    with tempfile.TemporaryDirectory(dir=WHERE) as folder:
        async with Site() as site, sqlite_stores(Path(folder)) as stores:
            for url in filter(None, receivers):
                address = parse(url)
                site.reply(address.host, address.target, Reply(200))
            archive = await open_archive(
                stores, Path(folder), inline_bytes=1_000_000, default_webhook_url=default_hook
            )
            await steps(archive)
            kept = partial(results_of, archive.store)
            async with open_sink(site, stores.clock, results=kept) as sink:
                dispatcher = Dispatcher(archive.store, sink, Dispatching(()), random.Random(1))
                while await dispatcher.deliver_due():
                    pass
            return list(site.hits)


def final_status(wanted: Sequence[str]) -> str:
    if "cancelled" in wanted:
        return "cancelled"
    if "failed" not in wanted:
        return "completed"
    return "partially_completed" if "completed" in wanted else "failed"
