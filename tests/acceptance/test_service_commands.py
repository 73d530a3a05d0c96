"""`penstock up`, `api`, `worker` and `keys`, as an operator runs them."""

import asyncio
import re
import signal

import httpx
import pytest

from tests.services import wanted
from tests.shell import Shell

KEY = {"PENSTOCK_API__SERVICE_KEY": "a-key", "PENSTOCK_SCRAPE__RATE_LIMIT_TOKENS": "1000"}
URL = "http://shop01.test/product/1"


async def address_of(process: asyncio.subprocess.Process) -> tuple[str, str]:
    """Where a process listens, and what it said up to then."""
    assert process.stderr
    said = ""
    async with asyncio.timeout(30):
        while "penstock is up" not in said:
            said += (await process.stderr.readline()).decode()
    found = re.search(r"listens on (http://\S+)", said)
    return found[1] if found else "", said


async def finished(http: httpx.AsyncClient, task_id: str) -> dict[str, str]:
    async with asyncio.timeout(20):
        while True:
            task: dict[str, str] = (await http.get(f"/api/v1/scrape/{task_id}")).json()["data"]
            if task["completed_at"]:
                return task
            await asyncio.sleep(0.05)


async def test_up_serves_the_api_and_ends_gently(shell: Shell) -> None:
    process = await shell.start("up", **KEY)
    address, _ = await address_of(process)
    async with httpx.AsyncClient(base_url=address, headers={"X-Service-Key": "a-key"}) as http:
        answer = await http.post("/api/v1/scrape", json=wanted(URL))
        task = await finished(http, answer.json()["data"]["task_id"])
        ready = await http.get("/readiness")
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(20):
        await process.wait()

    assert task["status"] == "completed"
    assert ready.json()["success"] is (ready.status_code == 200)
    assert process.returncode == 0


async def test_the_api_alone_puts_tasks_in_the_queue_for_workers(shell: Shell) -> None:
    alone = await shell.start("api", **KEY)
    address, _ = await address_of(alone)
    async with httpx.AsyncClient(base_url=address, headers={"X-Service-Key": "a-key"}) as http:
        answer = await http.post("/api/v1/scrape", json=wanted(URL))
        worker = await shell.start("worker", "--lanes", "scrape", **KEY)
        await address_of(worker)
        task = await finished(http, answer.json()["data"]["task_id"])

    assert task["status"] == "completed"


async def test_without_the_api_nobody_listens(shell: Shell) -> None:
    process = await shell.start("up", "--no-api", **KEY)

    address, _ = await address_of(process)

    assert address == ""


async def test_a_missing_service_key_is_made_and_shown_once(shell: Shell) -> None:
    said = []
    for _ in range(2):
        process = await shell.start("api")
        said.append((await address_of(process))[1])
        process.send_signal(signal.SIGTERM)
        await process.wait()

    assert "the service key is pk_" in said[0]
    assert "pk_" not in said[1]


async def test_a_port_that_is_taken_is_named(shell: Shell) -> None:
    first = await shell.start("api", **KEY)
    address, _ = await address_of(first)
    port = address.rpartition(":")[2]

    ran = await shell.run("api", "--port", port, **KEY)

    assert ran.code == 2
    assert "PENSTOCK_API__PORT" in ran.err


async def test_keys_are_made_listed_and_revoked(shell: Shell) -> None:
    made = await shell.run(
        "keys", "create", "ci", "--scope", "read", "--workspace", "acme", "--days", "30", "--json"
    )
    key = made.objects[0]
    listed = (await shell.run("keys", "list", "--json")).objects
    table = await shell.run("keys", "list")
    revoked = await shell.run("keys", "revoke", key["id"])
    unknown = await shell.run("keys", "revoke", "nobody")
    after = (await shell.run("keys", "list", "--json")).objects

    assert key["scopes"] == ["read"]
    assert key["key"].startswith("pk_")
    assert listed == [{name: value for name, value in key.items() if name != "key"}]
    assert key["key"] not in table.out
    assert (revoked.code, unknown.code) == (0, 1)
    assert after[0]["revoked_at"] is not None


async def test_key_alone_is_printed_so_that_a_script_can_take_it(shell: Shell) -> None:
    made = await shell.run("keys", "create", "ci")

    assert made.out.startswith("pk_")
    assert made.out.split() == [made.out.strip()]
    assert "not shown again" in made.err


@pytest.mark.parametrize("arguments", [["--scope", "everything"], ["--rate", "0"]])
async def test_a_key_that_makes_no_sense_is_not_made(shell: Shell, arguments: list[str]) -> None:
    assert (await shell.run("keys", "create", "ci", *arguments)).code == 2
