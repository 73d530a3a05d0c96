"""Pages that need a login: the backend's credentials go to their own site, and nowhere else."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.services import serving, wanted
from tests.site import Reply, Site

ADAPTER = """
from penstock.extract.adapter import Adapter, Findings

def extract(document):
    found = Findings()
    found.add("company_name", "Members Ltd", "fixed")
    return found.found("company_website")

ADAPTER = Adapter(
    id="members",
    version="1.0.0",
    gives="company_website",
    extract=extract,
    domain="members.test",
    urls=("members.test/*",),
    login="members",
)
"""
CREDENTIALS = "/api/v1/workspaces/acme/credentials/members"


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        site.reply("members.test", "/area", Reply(200, "<title>Members</title>"))
        yield site


def with_backend(folder: Path) -> dict[str, Any]:
    path = folder / "members.py"
    path.write_text(ADAPTER)
    backend = {
        "backend_api_url": "http://backend.test/api/v1",
        "backend_service_key": "for-the-backend",
        "credential_max_retries": 0,
    }
    return {"extract": {"adapters": [str(path)]}, "scrape": backend}


async def test_the_login_of_an_adapter_goes_to_its_site_alone(tmp_path: Path, site: Site) -> None:
    site.reply("backend.test", CREDENTIALS, Reply(200, '{"token": "s3cret-of-members"}'))
    async with serving(site, tmp_path, **with_backend(tmp_path)) as service:
        tasks = [
            await service.finished(await service.submit(url, "company_website"))
            for url in ("http://members.test/area", "http://shop01.test/product/1")
        ]
        document = str([await service.engine.log.read(), tasks])

    (page,) = site.hits_of("members.test", "/area")
    (asked,) = site.hits_of("backend.test", CREDENTIALS)
    assert tasks[0]["result"]["company_name"] == "Members Ltd"
    assert page.headers["Authorization"] == "Bearer s3cret-of-members"
    assert asked.headers["X-Service-Key"] == "for-the-backend"
    others = [hit for hit in site.hits if hit.host not in ("members.test", "backend.test")]
    assert others
    assert not any("s3cret" in str(hit.headers) for hit in others)
    assert "s3cret" not in document


async def test_a_missing_credential_fails_the_task_and_is_an_answer_of_sync(
    tmp_path: Path, site: Site
) -> None:
    site.reply("backend.test", CREDENTIALS, Reply(404, "{}"))
    async with serving(site, tmp_path, **with_backend(tmp_path)) as service:
        body = wanted("http://members.test/area", "company_website")
        task = await service.finished(await service.submit(body["target_url"], "company_website"))
        answer = await service.post("/scrape/sync", body)

    assert (task["status"], task["error"]) == ("failed", "credential_not_found")
    assert answer.status_code == 502
    assert site.hits_of("members.test", "/area") == []


async def test_a_backend_that_is_away_fails_the_task_only(tmp_path: Path, site: Site) -> None:
    site.take_down("backend.test")
    async with serving(site, tmp_path, **with_backend(tmp_path)) as service:
        needy = await service.submit("http://members.test/area", "company_website")
        other = await service.finished(await service.submit("http://shop01.test/product/1"))
        task = await service.finished(needy)

    assert other["status"] == "completed"
    assert task["error"] == "credentials_unavailable"
