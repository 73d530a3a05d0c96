"""Durable work as a person runs it: killed, resumed, paused, backed up, restored."""

import asyncio
import json
import signal
import sqlite3
from typing import Any

from tests.shell import Shell, eventually

PRODUCTS = [f"http://shop{shop:02}.test/product/{n}" for shop in (1, 2, 4, 5) for n in range(1, 16)]


def listed(shell: Shell, urls: list[str]) -> str:
    path = shell.folder / "urls.txt"
    path.write_text("\n".join(urls))
    return str(path)


def ask(shell: Shell, query: str) -> list[tuple[Any, ...]]:
    database = shell.folder / "penstock-data" / "penstock.db"
    store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return store.execute(query).fetchall()
    finally:
        store.close()


async def until(shell: Shell, query: str, wanted: int) -> None:
    """Wait until a count in the store has come up to a number."""

    def is_there() -> bool:
        try:
            return bool(ask(shell, query)[0][0] >= wanted)
        except sqlite3.OperationalError:
            return False

    await eventually(is_there)


async def test_durable_fetching_keeps_every_outcome_and_its_event(shell: Shell) -> None:
    urls = [*PRODUCTS[:10], "http://shop01.test/nothing-here", "http://private.test/x"]
    ran = await shell.run("fetch", "--durable", "-f", listed(shell, urls), "--json")
    assert ran.code == 1, ran.err
    assert {outcome["url"] for outcome in ran.objects} == set(urls)
    states = dict(ask(shell, "SELECT state, count(*) FROM queue_items GROUP BY state"))
    assert states == {"done": 11, "dead": 1}
    dead = await shell.run("queue", "dead", "--json")
    assert dead.objects[0]["failure"]["reason"] == "http_404"
    events = await shell.run("events", "tail", "-n", "100", "--json")
    assert sorted(event["data"]["url"] for event in events.objects) == sorted(urls)
    assert all(event["traceparent"].startswith("00-") for event in events.objects)


async def test_a_killed_run_goes_on_where_it_was(shell: Shell) -> None:
    arguments = ("fetch", "--durable", "-f", listed(shell, PRODUCTS), "--json")
    slow = {"PENSTOCK_PACING__REQUEST_DELAY_MS": "100"}
    process = await shell.start(*arguments, **slow)
    await until(shell, "SELECT count(*) FROM outcomes", 5)
    process.kill()
    await process.communicate()
    before = {url for (url,) in ask(shell, "SELECT url FROM outcomes")}
    ran = await shell.run(*arguments)
    assert ran.code == 0, ran.err
    assert {outcome["url"] for outcome in ran.objects} == set(PRODUCTS) - before
    assert ask(shell, "SELECT count(*), count(DISTINCT url) FROM outcomes") == [(60, 60)]
    assert ask(shell, "SELECT count(*) FROM events") == [(60,)]
    again = await shell.run(*arguments)
    assert len(again.objects) == 60, "a run that is over begins anew"


async def test_an_interrupted_run_gives_back_what_it_had_claimed(shell: Shell) -> None:
    arguments = ("fetch", "--durable", "-f", listed(shell, PRODUCTS))
    process = await shell.start(*arguments, PENSTOCK_PACING__REQUEST_DELAY_MS="200")
    await until(shell, "SELECT count(*) FROM outcomes", 3)
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(20):
        out, _ = await process.communicate()
    assert process.returncode == 130
    assert "run this again" in out.decode()
    assert ask(shell, "SELECT count(*) FROM queue_items WHERE state = 'claimed'") == [(0,)]
    assert ask(shell, "SELECT count(*) FROM queue_items WHERE attempts > 1") == [(0,)]
    assert ask(shell, "SELECT count(*) FROM workers") == [(0,)]


async def test_dead_letters_are_revived_and_fetched_again(shell: Shell) -> None:
    await shell.run("fetch", "--durable", "http://shop01.test/missing")
    revived = await shell.run("queue", "revive", "--all", "--json")
    assert revived.objects == [{"revived": 1}]
    process = await shell.start("up")
    await until(shell, "SELECT count(*) FROM events", 2)
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert ask(shell, "SELECT state FROM queue_items") == [("dead",)]
    purged = await shell.run("queue", "purge", "--state", "dead", "--yes", "--json")
    assert purged.objects == [{"purged": 1}]


async def test_pause_breaks_off_contact_within_a_second_and_resume_goes_on(shell: Shell) -> None:
    url = "http://slow.test/body?seconds=60"
    process = await shell.start("fetch", "--durable", url, "--json")
    await eventually(lambda: any("/body" in hit.path for hit in shell.site.hits))
    paused = await shell.run("pause", "--domain", "www.slow.test", "--reason", "they called")
    assert "paused: slow.test (they called)" in paused.out
    status = await shell.run("status")
    assert "slow.test is paused: they called" in status.out
    async with asyncio.timeout(10):
        while b"switches thrown" not in await process.stderr.readline():
            pass  # whoever resumes before it looked has paused nothing
    hits = len(shell.site.hits)
    resumed = (await shell.run("resume", "--domain", "slow.test")).out
    assert resumed.splitlines() == ["the pause of slow.test is over", "nothing is paused"]
    # Only a contact that was broken off can be begun again before its minute is over.
    await eventually(lambda: len(shell.site.hits) > hits)
    process.kill()


async def test_a_second_fetching_process_is_refused_and_told_why(shell: Shell) -> None:
    first = await shell.start("up")
    await until(shell, "SELECT count(*) FROM workers", 1)
    second = await shell.run("fetch", "http://shop01.test/")
    assert second.code == 2
    assert "PENSTOCK_SHARED__URL" in second.err
    elsewhere = await shell.run("worker", PENSTOCK_SHARED__LOCK_FILE=str(shell.folder / "other"))
    assert elsewhere.code == 2
    assert "another process fetches from this store" in elsewhere.err
    first.send_signal(signal.SIGINT)
    await first.communicate()
    assert (await shell.run("fetch", "http://shop01.test/")).code == 0


async def test_schedules_are_carried_out_by_a_running_platform(shell: Shell) -> None:
    added = await shell.run(
        "schedule", "add", "http://shop01.test/product/1", "--every", "1s", "--name", "first"
    )
    assert "scheduled as first" in added.out
    wrong = await shell.run("schedule", "add", "http://shop01.test/", "--cron", "never")
    assert (wrong.code, "no cron expression" in wrong.err) == (2, True)
    process = await shell.start("up")
    await until(shell, "SELECT count(*) FROM outcomes", 2)
    process.send_signal(signal.SIGTERM)
    await process.communicate()
    assert (await shell.run("schedule", "remove", "first")).code == 0
    assert (await shell.run("schedule", "list", "--json")).objects == []


async def test_a_backup_of_a_running_platform_is_restored_elsewhere(shell: Shell) -> None:
    keep = {"PENSTOCK_FETCH__KEEP_BODIES": "true"}
    await shell.run("fetch", "--durable", "-f", listed(shell, PRODUCTS[:5]), **keep)
    process = await shell.start("up", **keep)
    await until(shell, "SELECT count(*) FROM workers", 1)
    saved = await shell.run("backup", "all.tar.gz", "--json")
    assert saved.code == 0, saved.err
    process.kill()
    await process.communicate()
    other = {"PENSTOCK_STORE__FOLDER": str(shell.folder / "other")}
    restored = await shell.run("restore", "all.tar.gz", "--json", **other)
    assert restored.objects == saved.objects
    assert restored.objects[0]["outcomes"] == restored.objects[0]["blobs"] == 5
    events = await shell.run("events", "tail", "--json", **other)
    assert len(events.objects) == 5
    again = await shell.run("restore", "all.tar.gz", **other)
    assert (again.code, "not empty" in again.err) == (2, True)


async def test_the_store_is_set_up_checked_and_taken_back(shell: Shell) -> None:
    fresh = await shell.run("db", "check", "--json")
    assert (fresh.code, fresh.objects[0]["up_to_date"]) == (1, False)
    assert (await shell.run("db", "upgrade")).code == 0
    assert (await shell.run("db", "check")).code == 0
    assert (await shell.run("db", "downgrade", "-1", "--yes")).code == 0
    assert (await shell.run("db", "current", "--json")).objects[0]["missing"]
    unknown = await shell.run("db", "upgrade", "nonsense")
    assert (unknown.code, "nonsense" in unknown.err) == (2, True)


async def test_config_check_names_every_source_and_masks_secrets(shell: Shell) -> None:
    secret = shell.folder / "secret"
    secret.write_text("redis://:swordfish@127.0.0.1:1/0")
    (shell.folder / "penstock.yaml").write_text("http:\n  timeout_seconds: 7\n")
    ran = await shell.run("config", "check", "--json", PENSTOCK_SHARED__URL_FILE=str(secret))
    found = {setting["name"]: setting for setting in ran.objects}
    assert ran.code == 0, ran.err
    assert found["PENSTOCK_SHARED__URL"]["value"] == "***"
    assert found["PENSTOCK_SHARED__URL"]["source"] == f"file {secret}"
    assert found["PENSTOCK_HTTP__TIMEOUT_SECONDS"]["source"] == "penstock.yaml"
    assert found["PENSTOCK_PACING__REQUEST_DELAY_MS"]["source"] == "environment"
    assert found["PENSTOCK_QUEUE__MAX_PENDING"]["source"] == "default"
    assert "swordfish" not in ran.out + ran.err
    misspelt = await shell.run("config", "check", "--changed", PENSTOCK_HTTP__TIMEUOT="1")
    assert (misspelt.code, "PENSTOCK_HTTP__TIMEUOT" in misspelt.err) == (2, True)
    unread = await shell.run("config", "check", "--changed", PENSTOCK_QUEU__CAPACITY="1")
    assert (unread.code, "PENSTOCK_QUEU__CAPACITY" in unread.err) == (1, True)


def events_in(shell: Shell) -> list[dict[str, Any]]:
    file = shell.folder / "events.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


async def test_events_are_also_appended_to_a_file(shell: Shell) -> None:
    told = {"PENSTOCK_EVENTS__FILE": str(shell.folder / "events.jsonl")}
    await shell.run("fetch", "--durable", "-f", listed(shell, PRODUCTS[:5]), **told)
    process = await shell.start("up", **told)
    await eventually(lambda: len(events_in(shell)) >= 5)
    process.send_signal(signal.SIGINT)
    await process.communicate()
    assert {event["data"]["url"] for event in events_in(shell)} == set(PRODUCTS[:5])
    assert (await shell.run("events", "deliveries", "--json", **told)).objects == []
