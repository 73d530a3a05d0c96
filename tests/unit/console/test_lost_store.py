"""A store that is away is said in words, to who is signed in and to who is at the door."""

from pathlib import Path

import httpx
import pytest

from penstock.console.pages import POLICY
from penstock.console.sessions import Sessions
from penstock.core.errors import StoreLost
from tests.consoles import console_on, text_of
from tests.site import Site

LOST = "the store is out of reach: connection refused"


async def lose(*_given: object, **_more: object) -> None:
    raise StoreLost(LOST)


@pytest.mark.parametrize("path", ["/console", "/console/audit"])
async def test_who_is_signed_in_is_told(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    async with console_on(tmp_path, site) as console:
        monkeypatch.setattr(Sessions, "find", lose)
        page = await console.get(path)

    assert_told(page)


async def test_who_signs_in_or_out_is_told(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console_on(tmp_path, site) as console:
        for name in ("find", "begin"):
            monkeypatch.setattr(Sessions, name, lose)
        pages = [await console.post(path, key="a key") for path in ("/sign-in", "/sign-out")]

    for page in pages:
        assert_told(page)


def assert_told(page: httpx.Response) -> None:
    assert page.status_code == 503
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == POLICY
    assert LOST in text_of(page)
    assert "Go to the overview" in text_of(page)
