"""Proxies in the console: seen, added, imported, tested and switched, and never a password."""

from pathlib import Path
from typing import Any

from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.site import Site

SECRET = "hunter2-very-secret"


async def added(console: RunningConsole, host: str = "proxy.example", **more: Any) -> str:
    """The id of a proxy that was added with a form."""
    page = await console.post(
        "/proxies/new", proxy_protocol="http", proxy_url=host, proxy_port="3128", **more
    )
    assert page.status_code == 200, page.text
    found = (await console.service.get("/admin/proxies")).json()["data"]
    return str(next(each["id"] for each in found if each["proxy_url"] == host))


async def test_pages_without_proxies_are_there(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path in ("", "/new", "/import"):
            page = await console.get(f"/proxies{path}")

            assert page.status_code == 200
            assert_harmless(page)


async def test_proxy_is_added_and_its_password_shown_nowhere(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await added(console, proxy_username="ann", proxy_password=SECRET, cost_per_gb="4.50")
        page = await console.get("/proxies")
        audit = await console.get("/audit")
        [found] = (await console.service.get("/admin/proxies")).json()["data"]

    assert "http://proxy.example:3128" in text_of(page)
    assert "user ann, with a password" in text_of(page)
    assert SECRET not in page.text + audit.text
    assert found["cost_per_gb_micros"] == 4_500_000
    assert "proxy add" in text_of(audit)


WRONG: tuple[dict[str, Any], ...] = (
    {"proxy_port": "many"},
    {"proxy_port": "70000"},
    {"proxy_url": "no host"},
    {"cost_per_gb": "cheap"},
    {"proxy_protocol": "gopher"},
)


async def test_wrong_proxy_is_said_at_its_field_without_its_password(
    tmp_path: Path, site: Site
) -> None:
    form: dict[str, Any] = {
        "proxy_protocol": "http",
        "proxy_url": "proxy.example",
        "proxy_password": SECRET,
    }
    async with console_on(tmp_path, site) as console:
        for fields in WRONG:
            page = await console.post("/proxies/new", **form | fields)
            [field] = fields

            assert page.status_code == 422
            assert f'id="{field}-error"' in page.text
            assert SECRET not in page.text


async def test_import_is_tried_then_done(tmp_path: Path, site: Site) -> None:
    text = f"http://ann:{SECRET}@one.example:3128#de\n# a comment\nsocks5://two.example:1080\n"
    async with console_on(tmp_path, site) as console:
        tried = await console.post("/proxies/import", text=text, how="try")
        before = (await console.service.get("/admin/proxies")).json()["data"]
        done = await console.post("/proxies/import", text=text, how="import")
        audit = await console.get("/audit")

    assert "Of 2 lines, 2 proxies would be added and 0 are there already" in text_of(tried)
    assert before == []
    assert "2 proxies were added" in text_of(done)
    assert SECRET not in tried.text + done.text + audit.text


async def test_import_names_the_lines_that_are_wrong_and_imports_none(
    tmp_path: Path, site: Site
) -> None:
    text = f"http://one.example:3128\nnonsense {SECRET}\n"
    async with console_on(tmp_path, site) as console:
        page = await console.post("/proxies/import", text=text, how="import")
        found = (await console.service.get("/admin/proxies")).json()["data"]

    assert page.status_code == 422
    assert "Nothing was imported: 1 of 2 lines are wrong" in text_of(page)
    assert SECRET not in page.text
    assert found == []


async def test_proxy_is_disabled_enabled_and_removed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        proxy = await added(console)
        off = await console.post(f"/proxies/{proxy}/disable")
        disabled = (await console.service.get(f"/admin/proxies/{proxy}")).json()["data"]
        on = await console.post(f"/proxies/{proxy}/enable")
        enabled = (await console.service.get(f"/admin/proxies/{proxy}")).json()["data"]
        gone = await console.post(f"/proxies/{proxy}/remove")

    assert "is chosen no more" in text_of(off)
    assert disabled["is_active"] is False
    assert "is chosen again" in text_of(on)
    assert enabled["is_active"] is True
    assert "There are no proxies" in text_of(gone)


async def test_test_that_fails_is_said_and_written_down(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        proxy = await added(console, host="127.0.0.1")
        await console.get("/proxies")
        page = await console.post(f"/proxies/{proxy}/test")
        audit = text_of(await console.get("/audit"))

    assert "cannot be used" in text_of(page)
    assert "failing" in text_of(page)
    assert "proxy test" in audit


async def test_proxies_are_filtered_and_come_in_parts(tmp_path: Path, site: Site) -> None:
    text = "\n".join(f"http://p{number}.example:3128" for number in range(52))
    async with console_on(tmp_path, site) as console:
        await console.post("/proxies/import", text=text, how="import")
        first = await console.get("/proxies")
        last = first.text.partition("after=")[2][:32]
        second = await console.get("/proxies", after=last)
        none = await console.get("/proxies", active="no")

    assert first.text.count(">Test<") == 50
    assert second.text.count(">Test<") == 2
    assert "No proxy is like that" in text_of(none)


async def test_reader_sees_proxies_and_changes_none(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        proxy = await added(console)
        page = await console.reader.get("/proxies")
        await console.reader.post(f"/proxies/{proxy}/remove")
        found = (await console.service.get(f"/admin/proxies/{proxy}")).json()["data"]

    assert "disabled" in page.text
    assert found["id"] == proxy


async def test_nothing_that_is_sent_runs(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        await added(console, proxy_username="<script>alert(1)</script>")
        assert_harmless(await console.get("/proxies"))
        for each in XSS:
            form: dict[str, Any] = {
                "proxy_url": each,
                "proxy_username": each,
                "region": each,
                "cost_per_gb": each,
            }
            assert_harmless(await console.post("/proxies/new", proxy_protocol=each, **form))
            assert_harmless(await console.post("/proxies/import", text=each, how="import"))
            assert_harmless(await console.get("/proxies", active=each, after=each))
