"""What went wrong, through the API: listed, settled, and the page that could not be read."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.workloads.live.model import ErrorType
from tests.live_api import UNKNOWN, LiveApi, open_live_api


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[LiveApi]:
    async with open_live_api(tmp_path) as api:
        await api.rows.put("m")
        yield api


async def test_errors_are_listed_latest_first_in_parts_and_by_kind(api: LiveApi) -> None:
    first = await api.rows.error("m")
    second = await api.rows.error("m", error_type=ErrorType.PARSING, message="no score")
    other = await api.rows.error("other")

    part = (await api.ask("GET", "/api/v1/live/errors?limit=2")).json()
    cursor = part["meta"]["next_cursor"]
    rest = await api.data("GET", f"/errors?limit=2&cursor={cursor}")
    of_feed = await api.data("GET", "/feeds/m/errors")
    parsing = await api.data("GET", "/feeds/m/errors?type=parsing")

    assert [each["id"] for each in part["data"] + rest] == [other, second, first]
    assert [each["id"] for each in of_feed] == [second, first]
    assert [(each["id"], each["error_message"]) for each in parsing] == [(second, "no score")]
    await api.refusal("GET", "/errors?type=bad%20luck", 422)


async def test_an_error_is_settled_once(api: LiveApi) -> None:
    error, other = await api.rows.error("m"), await api.rows.error("m")

    settled = await api.data("POST", f"/errors/{error}/resolve")
    api.clock.move(60)
    again = await api.data("POST", f"/errors/{error}/resolve")
    open_ones = await api.data("GET", "/errors?resolved=false")

    assert (settled["resolved"], settled["resolution_method"]) == (True, "manual")
    assert settled["resolution_time"] == "2026-03-04T12:00:00.000Z"
    assert again == settled
    assert [each["id"] for each in open_ones] == [other]
    await api.refusal("POST", f"/errors/{UNKNOWN}/resolve", 404)


@pytest.mark.parametrize(("kind", "name"), [("snapshot", "html"), ("screenshot", "png")])
async def test_what_could_not_be_read_is_for_keeping_and_not_for_showing(
    api: LiveApi, kind: str, name: str
) -> None:
    page = b"<script>alert(1)</script>"
    error = await api.rows.error("m", **{kind: await api.blobs.put(page)})
    bare = await api.rows.error("m")

    listed = await api.data("GET", "/errors")
    found = await api.ask("GET", f"/api/v1/live/errors/{error}/{kind}")

    assert [each[f"has_{kind}"] for each in listed] == [False, True]
    assert found.content == page
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"] == f'attachment; filename="{error}.{name}"'
    assert found.headers["content-security-policy"].startswith("sandbox")
    for unknown in (bare, UNKNOWN):
        await api.refusal("GET", f"/errors/{unknown}/{kind}", 404)
