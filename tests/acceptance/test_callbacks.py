"""Callbacks of the whole service, started as a person starts it: told once, signed, in the end."""

import asyncio
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.client import AsyncClient, Retrying, Target, TargetType, Webhook, verify_webhook
from tests.shell import Shell, eventually
from tests.site import Hit, Reply

KEY, SECRET = "a-key", "a-secret"
HOST = "backend.test"
#: Seconds; a busy machine may take its time.
PATIENCE = 60.0
HOOK = f"http://{HOST}/hooks"
SETTINGS = {
    "PENSTOCK_API__SERVICE_KEY": KEY,
    "PENSTOCK_SCRAPE__RATE_LIMIT_TOKENS": "1000",
    "PENSTOCK_NOTIFY__RETRY_SECONDS": "0.01",
}


def product(number: int, callback_url: str | None = None) -> Target:
    url = f"http://shop01.test/product/{number}"
    return Target(
        target_type=TargetType.PRODUCT,
        target_url=url,
        workspace_id="acme",
        callback_url=callback_url,
    )


def free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


@asynccontextmanager
async def up(
    shell: Shell, **settings: str
) -> AsyncIterator[tuple[AsyncClient, asyncio.Future[str]]]:
    """`penstock up`; a client of it, and what it had printed when it ended by SIGTERM."""
    port = free_port()
    process = await shell.start("up", "--port", port, **{**SETTINGS, **settings})
    printed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    patient = Retrying(retries=400, most_seconds=0.2)
    async with AsyncClient(f"http://127.0.0.1:{port}", KEY, retrying=patient) as client:
        await client.adapters()
        yield client, printed
    process.send_signal(signal.SIGTERM)
    _, errors = await process.communicate()
    printed.set_result(errors.decode())


def received(shell: Shell) -> list[Hit]:
    return shell.site.hits_of(HOST)


def read(hit: Hit, secret: str = SECRET) -> Webhook:
    return verify_webhook(hit.body, hit.headers, secret)


async def test_a_job_and_a_task_are_told_of_when_they_are_over(shell: Shell) -> None:
    shell.site.reply(HOST, "/hooks", Reply(503), Reply(200))
    async with up(shell, PENSTOCK_NOTIFY__WEBHOOK_SECRET=SECRET) as (client, _):
        job = await client.batch([product(1), product(2), product(404)], callback_url=HOOK)
        await client.wait_for_job(job.job_id, within=PATIENCE)
        await eventually(lambda: len(received(shell)) == 2, PATIENCE)
        task = await client.scrape(product(3, HOOK))
        await eventually(lambda: len(received(shell)) == 3, PATIENCE)

    refused, taken, last = map(read, received(shell))
    assert refused == taken, "the same callback, with the same id"
    assert (taken.job_id, taken.status) == (job.job_id, "partially_completed")
    assert taken.summary.model_dump() == {"total": 3, "completed": 2, "failed": 1}
    assert len(taken.results or ()) == 2
    assert (last.task_id, last.job_id, last.status) == (task.task_id, None, "completed")


async def test_what_nobody_takes_is_parked_listed_and_sent_again(shell: Shell) -> None:
    shell.site.reply(HOST, "/hooks", Reply(500))
    settings = {"PENSTOCK_NOTIFY__WEBHOOK_SECRET": SECRET, "PENSTOCK_NOTIFY__RETRIES": "0"}
    async with up(shell, **settings) as (client, _):
        await client.scrape(product(1, HOOK))
        await eventually(lambda: len(received(shell)) == 1, PATIENCE)
        # Each look starts a process, which is slow on a busy machine.
        parked: list[dict[str, object]] = []
        async with asyncio.timeout(PATIENCE):
            while not parked:
                parked = (await shell.run("webhooks", "list", "--parked", "--json")).objects
        shell.site.reply(HOST, "/hooks", Reply(200))
        await shell.run("webhooks", "resend", str(parked[0]["id"]))
        await eventually(lambda: len(received(shell)) == 2, PATIENCE)

    assert parked[0]["error"] == "the receiver answered 500"
    assert {hit.headers["X-Webhook-Id"] for hit in received(shell)} == {parked[0]["id"]}


async def test_what_was_owed_when_it_ended_is_delivered_by_the_next_with_the_same_secret(
    shell: Shell,
) -> None:
    shell.site.reply(HOST, "/hooks", Reply(500))
    async with up(shell, PENSTOCK_NOTIFY__RETRIES="1000") as (client, first):
        await client.scrape(product(1, HOOK))
        await eventually(lambda: len(received(shell)) > 0, PATIENCE)
    before = len(received(shell))
    shell.site.reply(HOST, "/hooks", Reply(200))

    async with up(shell) as (_, second):
        await eventually(lambda: len(received(shell)) > before, PATIENCE)

    shown = re.search(r"secret of webhooks is ([0-9a-f]{64})", await first)
    assert shown, "one was made, as none is set"
    assert shown[1] not in await second
    assert len({read(hit, shown[1]).id for hit in received(shell)}) == 1
