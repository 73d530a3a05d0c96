"""What a task of the scrape service gives: data, a page in its forms, or a word for why not."""

from pathlib import Path

import pytest
from sqlalchemy import update

from penstock.queue.tables import items
from penstock.workloads.scrape.retention import forget_expired
from tests.services import SHOP, Service, claim, end, serving, wanted
from tests.site import Reply, Site


async def test_a_task_gives_validated_data_of_its_page(service: Service) -> None:
    task = await service.finished(await service.submit(SHOP.format(1)))

    assert task["status"] == "completed"
    assert task["result"]["name"] == "Brightwell Lamp Model 1"
    assert task["result"]["currency"] == "USD"


async def test_requested_fields_limit_the_result(service: Service) -> None:
    task = await service.finished(
        await service.submit(SHOP.format(2), requested_fields=["name", "price"])
    )

    assert set(task["result"]) == {"name", "price"}


async def test_a_page_comes_in_the_forms_that_are_wanted(service: Service) -> None:
    task = await service.finished(
        await service.submit(SHOP.format(3), "page", formats=["html", "markdown"])
    )

    result = task["result"]
    assert result["html"].startswith("<!doctype html>")
    assert "<" not in result["markdown"]
    assert result["text"] is None
    assert result["status"] == 200


async def test_a_long_page_becomes_a_file(tmp_path: Path, site: Site) -> None:
    site.reply("shop01.test", "/long", Reply(200, "<title>Long</title>" + "x" * 70_000))
    async with serving(site, tmp_path) as service:
        task_id = await service.submit("http://shop01.test/long", "page")
        task = await service.finished(task_id)
        href = task["files"]["html"]["href"]
        file = await service.http.get(href)
        other = await service.http.get(href.replace("html", "text"))

    assert task["result"]["html"] is None
    assert len(file.content) == task["files"]["html"]["bytes"] > 70_000
    assert file.headers["content-security-policy"].startswith("sandbox")
    assert other.status_code == 404


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://private.test/", "robots_denied"),
        ("http://shop01.test/nowhere", "http_404"),
        ("http://blocked.test/captcha", "captcha"),
    ],
)
async def test_a_failed_task_says_why_in_a_word(service: Service, url: str, error: str) -> None:
    task = await service.finished(await service.submit(url, "page"))

    assert (task["status"], task["error"], task["result"]) == ("failed", error, None)


async def test_a_task_whose_item_cannot_be_read_fails(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False) as service:
        job_id = await service.submit_batch([wanted(SHOP.format(n)) for n in (1, 2)])
        ids = [task["task_id"] for task in await service.tasks()]
        broken = update(items).values(payload={"target_type": "unheard_of"})
        await service.engine.store.write(lambda unit: unit.run(broken) and None)
    async with serving(site, tmp_path) as service:
        tasks = [await service.finished(task_id) for task_id in ids]
        job = await service.job(job_id)

    assert [task["error"] for task in tasks] == ["bad_payload", "bad_payload"]
    assert job["status"] == "failed"


async def test_a_page_whose_text_is_not_found_in_time_fails(tmp_path: Path, site: Site) -> None:
    parts = "".join(f"<div><h2>{n}</h2><p>Some text</p></div>" for n in range(15_000))
    site.reply("shop01.test", "/endless", Reply(200, f"<title>Endless</title>{parts}"))
    async with serving(site, tmp_path, scrape={"text_seconds": 0.3}) as service:
        task = await service.finished(
            await service.submit("http://shop01.test/endless", "page", formats=["text"])
        )

    assert (task["status"], task["error"]) == ("failed", "text_timeout")


async def test_a_key_is_good_again_when_what_it_led_to_is_forgotten(
    tmp_path: Path, site: Site
) -> None:
    once = {"Idempotency-Key": "once"}
    body = {"targets": [wanted(SHOP.format(1), "page")]}
    async with serving(site, tmp_path, works=False, scrape={"retention_hours": 1e-9}) as service:
        first = (await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)).json()
        job = (await service.post("/scrape/batch", body, **{"Idempotency-Key": "job"})).json()
        tasks = [first["data"]["task_id"], *job["data"]["task_ids"]]
        await end(service, await claim(service, tasks))
        await forget_expired(service.engine.store, 1e-9)
        again = await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)
        other = await service.post("/scrape/batch", body, **{"Idempotency-Key": "job"})
        replay = await service.post("/scrape", wanted(SHOP.format(1), "page"), **once)

    assert again.status_code == other.status_code == 202
    assert again.json()["data"]["task_id"] != tasks[0]
    assert replay.json() == again.json()
    assert replay.headers["Idempotency-Replayed"] == "true"


async def test_results_expire(tmp_path: Path, site: Site) -> None:
    async with serving(site, tmp_path, works=False, scrape={"retention_hours": 1e-9}) as service:
        task_id = await service.submit(SHOP.format(1), "page")
        waiting = await service.submit(SHOP.format(2), "page")
        await end(service, await claim(service, [task_id]))
        gone = await forget_expired(service.engine.store, 1e-9)
        found = [(await service.get(f"/scrape/{each}")).status_code for each in (task_id, waiting)]

    assert gone == 1
    assert found == [404, 200]
