"""Tasks, jobs and webhooks in the console."""

from pathlib import Path
from typing import Any

from sqlalchemy import update

from penstock.events.tables import deliveries
from penstock.kernel.model import UrlSpecific
from penstock.store.unit import Unit
from penstock.workloads.scrape.tables import scrape_jobs, scrape_tasks
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.services import claim, end, wanted
from tests.site import Site

PAGE = "http://shop01.test/product/1"
LISTS = ("/scrape", "/scrape/jobs", "/scrape/webhooks")
HOOK = "http://shop02.test/hook"
#: What is wrong in a form, and what is said of it.
WRONG = (
    ({"urls": ""}, "at least 1 character"),
    ({"urls": "ftp://shop01.test/"}, "only http and https"),
    ({"urls": "http://127.0.0.1/"}, "address"),
    ({"urls": f"{PAGE}\nhttp://127.0.0.1/"}, "http://127.0.0.1/: "),
    ({"workspace_id": ""}, "at least 1 character"),
    ({"target_type": "nothing"}, "Input should be"),
    ({"callback_url": "nowhere"}, "URL"),
    ({"fetcher": "carrier pigeon"}, "Input should be"),
)


async def park_webhooks(console: RunningConsole, error: str = "no answer") -> None:
    values = {"state": "parked", "attempts": 9, "error": error}
    await console.service.engine.store.write(
        lambda unit: unit.run(update(deliveries).values(values)) and None
    )


async def finish(console: RunningConsole, task_id: str) -> None:
    await end(console.service, await claim(console.service, [task_id]))


async def test_lists_without_anything_teach_the_next_step(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path in ("/scrape", "/scrape/jobs"):
            page = await console.get(path)
            assert 'href="/console/scrape/new"' in page.text
        assert "callback_url" in text_of(await console.get("/scrape/webhooks"))


async def test_tasks_are_listed_in_parts_and_by_status(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        ids = [await console.service.submit(f"{PAGE}{number}") for number in range(52)]
        await end(
            console.service,
            await claim(console.service, ids[:1]),
            UrlSpecific("http_404", "the site answered 404", 404),
        )

        first = await console.get("/scrape")
        assert first.text.count("/console/scrape/tasks/") == 50
        rest = await console.get("/scrape", after=ids[2])
        failed = await console.get("/scrape", status="failed")

        assert f"after={ids[2]}" in first.text
        assert rest.text.count("/console/scrape/tasks/") == 2
        assert failed.text.count("/console/scrape/tasks/") == 1
        assert "http_404" in text_of(failed)
        assert (await console.get("/scrape", status="nonsense")).status_code == 200


async def test_one_url_becomes_a_task(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/scrape/new", urls=PAGE, target_type="page", workspace_id="ops", formats="html"
        )

        assert "/console/scrape/tasks/" in str(page.url)
        assert "The task is taken on" in text_of(page)
        (task,) = await console.service.tasks()
        assert (task["target_url"], task["workspace_id"]) == (PAGE, "ops")
        assert "submit task" in text_of(await console.get("/audit"))


async def test_several_urls_become_a_job_that_can_be_cancelled(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/scrape/new", urls=f"{PAGE}\n{PAGE}2", target_type="product", workspace_id="ops"
        )
        assert "0 completed, 0 failed, of 2" in text_of(page)

        page = await console.post(f"{page.url.path}/cancel")

        assert "0 completed, 2 failed, of 2" in text_of(page)
        assert "cancelled" in text_of(page)
        assert "Cancel this job" not in text_of(page)


async def test_a_wrong_form_comes_back_with_what_is_wrong_and_what_was_typed(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site) as console:
        for changed, says in WRONG:
            said: dict[str, Any] = {"urls": PAGE, "target_type": "page", "workspace_id": "ops"}
            said |= changed

            page = await console.post("/scrape/new", **said)

            assert page.status_code == 422
            assert 'class="error"' in page.text
            assert says in text_of(page)
            assert said["urls"].split("\n")[-1] in page.text
        assert await console.service.tasks() == []


async def test_a_task_shows_its_result_and_has_its_page_as_a_download(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site, works=True) as console:
        wanted_forms = ["html", "markdown"]
        task_id = await console.service.submit(PAGE, "page", formats=wanted_forms)
        await console.service.finished(task_id)

        page = await console.get(f"/scrape/tasks/{task_id}")
        shown = text_of(page)
        assert "completed" in shown
        assert '"status": 200' in shown
        for name, ending in (("html", "html"), ("markdown", "md")):
            file = await console.get(f"/scrape/tasks/{task_id}/files/{name}")
            assert file.headers["content-type"] == "application/octet-stream"
            assert "sandbox" in file.headers["content-security-policy"]
            kept_as = f'attachment; filename="{task_id}.{ending}"'
            assert file.headers["content-disposition"] == kept_as
            assert file.content
        for name in ("screenshot", "nothing", "..%2f..%2fkey"):
            missing = await console.get(f"/scrape/tasks/{task_id}/files/{name}")
            assert missing.status_code == 404


async def test_a_task_that_is_not_over_can_be_cancelled(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        task_id = await console.service.submit(PAGE)
        assert "Cancel this task" in text_of(await console.get(f"/scrape/tasks/{task_id}"))

        page = await console.post(f"/scrape/tasks/{task_id}/cancel")

        assert "The task is cancelled" in text_of(page)
        assert (await console.service.task(task_id))["status"] == "failed"
        assert "Cancel this task" not in text_of(page)


async def test_who_may_only_look_changes_nothing(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        task_id = await console.service.submit(PAGE)

        page = await console.reader.get(f"/scrape/tasks/{task_id}")
        assert "disabled" in page.text
        await console.reader.post(f"/scrape/tasks/{task_id}/cancel")
        await console.reader.post("/scrape/new", urls=PAGE, target_type="page", workspace_id="ops")

        assert [task["status"] for task in await console.service.tasks()] == ["queued"]


async def test_unknown_tasks_and_jobs_are_not_found(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path in ("/scrape/tasks/nope", "/scrape/jobs/nope", "/scrape/tasks/nope/files/html"):
            assert (await console.get(path)).status_code == 404


async def test_parked_webhooks_are_sent_again_one_or_all(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for number in range(3):
            task_id = await console.service.submit(f"{PAGE}{number}", callback_url=HOOK)
            await finish(console, task_id)
        await park_webhooks(console)

        page = await console.get("/scrape/webhooks")
        assert page.text.count('name="id"') == 3
        assert "no answer" in text_of(page)
        page = await console.post("/scrape/webhooks/resend", id=f"{task_id}.finished")
        assert "1 will be sent again" in text_of(page)
        assert page.text.count('name="id"') == 2
        page = await console.post("/scrape/webhooks/resend-parked")
        assert "2 will be sent again" in text_of(page)

        assert "No webhook is parked" in text_of(page)
        assert "waiting" in text_of(await console.get("/scrape/webhooks", state="waiting"))


async def test_nothing_chosen_is_said(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await console.get("/scrape/webhooks")

        page = await console.post("/scrape/webhooks/resend")

        assert "choose some of the list" in text_of(page)


async def test_webhooks_that_were_sent_are_listed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site, works=False) as console:
        task_id = await console.service.submit(PAGE, callback_url=HOOK)
        await finish(console, task_id)
        await console.service.engine.store.write(
            lambda unit: unit.run(deliveries.delete()) and None
        )

        assert task_id in text_of(await console.get("/scrape/webhooks", state="sent"))


async def test_whatever_was_scraped_or_submitted_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        target = wanted(PAGE)
        job_id = await console.service.submit_batch([target] * len(XSS), callback_url=HOOK)
        tasks = [row["id"] for row in (await console.service.api.service.progress(job_id))[1]]
        await end(console.service, await claim(console.service, tasks))
        await console.service.engine.store.write(lambda unit: spoil(unit, tasks))
        await park_webhooks(console, " ".join(XSS))

        for path in (*(f"/scrape/tasks/{task}" for task in tasks), *LISTS):
            page = await console.get(path)
            assert page.status_code == 200
            assert_harmless(page)
        assert_harmless(await console.get(f"/scrape/jobs/{job_id}"))


def spoil(unit: Unit, tasks: list[str]) -> None:
    """Write into every column what somebody might write there; into each row another."""
    for task_id, text in zip(tasks, XSS, strict=True):
        submitted: dict[str, Any] = {"workspace_id": text, "callback_url": text}
        scraped = {"target_url": text, "error": text, "result": {text: [text]}}
        row = update(scrape_tasks).where(scrape_tasks.c.id == task_id)
        unit.run(row.values(submitted | scraped))
    everything = " ".join(XSS)
    unit.run(update(scrape_jobs).values(workspace_id=everything, callback_url=everything))


async def test_whatever_is_typed_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for text in XSS:
            page = await console.post(
                "/scrape/new", urls=text, target_type=text, workspace_id=text, callback_url=text
            )
            assert page.status_code == 422
            assert_harmless(page)
            said = {"status": text, "type": text, "workspace": text, "after": text}
            assert_harmless(await console.get("/scrape", **said))
