"""Tasks that need a real browser: screenshots, and pages that scripts fill in."""

from pathlib import Path

from tests.browsers import Place
from tests.services import serving
from tests.shell import eventually
from tests.site import Site


async def test_a_screenshot_is_a_file_of_its_task(tmp_path: Path, browsers: Place) -> None:
    async with Site() as site, serving(site, tmp_path, browser=browsers.settings()) as service:
        task = await service.finished(
            await service.submit(
                "http://lazy.test/product/1", "page", formats=["html", "screenshot"]
            )
        )
        image = await service.http.get(task["files"]["screenshot"]["href"])
        pool = (await service.http.get("/health")).json()["data"]["pool"]

    assert image.headers["content-type"] == "image/png"
    assert image.content.startswith(b"\x89PNG")
    assert pool["pages_processed"] >= 1
    assert pool["in_use"] == 0


async def test_a_page_that_only_scripts_fill_needs_no_word_about_browsers(
    tmp_path: Path, browsers: Place
) -> None:
    async with Site() as site, serving(site, tmp_path, browser=browsers.settings()) as service:
        filled = await service.finished(await service.submit("http://scripted.test/product/4"))
        forbidden = await service.finished(
            await service.submit("http://scripted.test/product/5", fetcher="http")
        )

    assert filled["error"] is None
    assert filled["result"]["name"] == "Eastmere Bicycle Pump Model 4"
    assert (forbidden["status"], forbidden["error"]) == ("failed", "empty_shell")


async def test_cancelling_a_task_ends_its_page_in_the_browser(
    tmp_path: Path, browsers: Place
) -> None:
    async with Site() as site, serving(site, tmp_path, browser=browsers.settings()) as service:
        task_id = await service.submit(
            "http://slow.test/body?seconds=25", "page", fetcher="browser"
        )
        await eventually(lambda: any("/body" in hit.path for hit in site.hits))
        await service.api.service.cancel_task(task_id)
        await eventually(lambda: service.platform.browsers.stats().in_use == 0, 8)
        task = await service.task(task_id)

    assert (task["status"], task["error"]) == ("failed", "cancelled")


async def test_readiness_says_that_browsers_do_not_start(tmp_path: Path, browsers: Place) -> None:
    broken = browsers.settings(executable="/bin/false")
    async with Site() as site, serving(site, tmp_path, browser=broken) as service:
        answer = await service.http.get("/readiness")

    assert answer.status_code == 503
    assert answer.json()["meta"]["browsers_available"] == 0
    assert "does not start" in answer.json()["meta"]["browser_trouble"]


async def test_readiness_starts_a_browser_to_know(tmp_path: Path, browsers: Place) -> None:
    async with Site() as site, serving(site, tmp_path, browser=browsers.settings()) as service:

        async def is_ready() -> bool:
            return (await service.http.get("/readiness")).status_code == 200

        # On a busy machine a browser takes longer than an answer may; it is the same one then.
        await eventually(is_ready)
        answer = await service.http.get("/readiness")

    assert answer.json()["data"]["browsers_available"] > 0
    assert browsers.files_left() == []
