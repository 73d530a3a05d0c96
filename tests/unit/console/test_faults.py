"""Faults of our own are pages that tell nothing of themselves, and a slash too many is none."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from penstock.console.pages import FAULT, POLICY
from penstock.workloads.live.service import LiveService
from tests.consoles import console_on, text_of
from tests.site import Site

DETAIL = "the password is hunter2"


async def fail(*_given: object, **_more: object) -> None:
    raise RuntimeError(DETAIL)


async def nothing(*_given: object, **_more: object) -> list[dict[str, str]]:
    return [{"match_id": "without all the rest"}]


async def test_fault_of_a_view_is_a_page_without_details_and_is_logged(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveService, "list_feeds", fail)
    async with console_on(tmp_path, site) as console:
        with capture_logs() as logged:
            page = await console.get("/live")

    assert page.status_code == 500
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == POLICY
    assert FAULT in text_of(page)
    assert DETAIL not in page.text
    [line] = [each for each in logged if each["event"] == "page failed"]
    assert (line["path"], line["exc_info"]) == ("/console/live", True)


async def test_fault_of_an_action_is_a_page_and_nothing_is_written_down(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveService, "stop", fail)
    async with console_on(tmp_path, site) as console:
        page = await console.post("/live/feeds/m/stop")
        audit = await console.get("/audit")

    assert page.status_code == 500
    assert FAULT in text_of(page)
    assert DETAIL not in page.text
    assert "live stop" not in text_of(audit)


async def test_fault_while_a_page_is_made_is_a_page_too(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console_on(tmp_path, site) as console:
        monkeypatch.setattr(LiveService, "list_feeds", nothing)
        page = await console.get("/live")

    assert page.status_code == 500
    assert FAULT in text_of(page)


async def test_slash_too_many_leads_to_the_console(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        answer = await console.http.get("/console/", follow_redirects=False)
        page = await console.get("/console/")

    assert answer.is_redirect
    assert page.url.path == "/console"
    assert page.status_code == 200
