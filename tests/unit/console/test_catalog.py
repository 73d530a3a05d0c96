"""The catalogue in the console: products, crawl tasks, submissions, errors and domains."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.products.search.ports import Document
from tests.catalog_rows import MINUTE, CatalogRows, rows_in
from tests.consoles import XSS, RunningConsole, assert_harmless, console_on, text_of
from tests.site import Site

UNKNOWN = "0" * 32
PAGES = ("", "/tasks", "/submit", "/submissions", "/errors", "/dead", "/domains")
PNG = b"\x89PNG\r\n\x1a\n"


async def rows_of(console: RunningConsole) -> CatalogRows:
    return await rows_in(console.service.engine.store)


async def test_pages_without_anything_are_there(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for path in PAGES:
            page = await console.get(f"/catalog{path}")

            assert page.status_code == 200
            assert page.text.count("<h1>") == 1
            assert_harmless(page)


async def test_what_is_not_there_is_not_found(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for kind in ("products", "tasks", "submissions", "domains"):
            for name in (UNKNOWN, "no-id", "%00"):
                assert (await console.get(f"/catalog/{kind}/{name}")).status_code == 404


async def test_products_are_listed_in_parts_and_found_by_filters(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        for number in range(30):
            task = await rows.task(shop)
            await rows.product(shop, task, brand="Acme" if number < 2 else "Other")
        first = text_of(await console.get("/catalog"))
        page = await console.get("/catalog", sort="name")
        link = page.text.split('rel="next"')[0].rpartition('href="')[2].partition('"')[0]
        second = text_of(await console.get(link.replace("&amp;", "&")))
        of_brand = await console.get("/catalog", brand="Acme")

    assert first.count("19.90 EUR") == 24
    assert second.count("19.90 EUR") == 6
    assert text_of(of_brand).count("19.90 EUR") == 2


async def test_amount_that_is_none_is_said_at_its_field(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.get("/catalog", price_min="cheap", currency="EUR")

    assert page.status_code == 422
    assert 'value="cheap"' in page.text
    assert "is an amount such as 19.99" in text_of(page)


async def test_product_shows_facts_prices_and_pictures(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        task = await rows.task(shop)
        product = await rows.product(shop, task, brand="Acme")
        await rows.price(shop, product, task, at=MINUTE, price=Decimal("24.90"))
        address = await console.service.engine.blobs.put(PNG)
        image = await rows.image(product, image_path=address, content_type="image/png")
        page = await console.get(f"/catalog/products/{product}")
        picture = await console.reader.get(f"/catalog/products/{product}/images/{image}")
        listed = await console.get("/catalog")

    assert "Acme" in text_of(page)
    assert page.text.count("<circle") == 2
    assert f'href="/console/catalog/tasks/{task}"' in page.text
    assert f"/catalog/products/{product}/images/{image}" in page.text
    assert f"/catalog/products/{product}/images/{image}" in listed.text
    assert picture.content == PNG
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in picture.headers["content-security-policy"]


async def test_picture_of_a_kind_that_could_run_is_not_served(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        product = await rows.product(shop, await rows.task(shop))
        address = await console.service.engine.blobs.put(b"<svg onload=alert(1)>")
        for place, kind in enumerate(("image/svg+xml", "text/html", None)):
            image = await rows.image(product, image_path=address, content_type=kind, position=place)
            answer = await console.get(f"/catalog/products/{product}/images/{image}")

            assert answer.status_code == 404
            assert "<svg onload" not in answer.text
        page = await console.get(f"/catalog/products/{product}")

    assert "/images/" not in page.text


async def test_picture_is_for_who_is_signed_in(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        path = f"/console/catalog/products/{UNKNOWN}/images/{UNKNOWN}"
        console.http.cookies.clear()
        answer = await console.http.get(path)

    assert str(answer.url).startswith(f"{console.address}/console/sign-in")


async def test_tasks_are_filtered_and_come_in_parts(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        ids = sorted([await rows.task(shop) for _ in range(51)])
        await rows.task(shop, status="failed", url="https://shop.example/broken")
        first = await console.get("/catalog/tasks", status="completed")
        second = await console.get("/catalog/tasks", status="completed", after=ids[49])
        broken = await console.get("/catalog/tasks", url="brok")

    assert first.text.count('name="ids"') == 50
    assert f"after={ids[49]}" in first.text
    assert second.text.count('name="ids"') == 1
    assert broken.text.count('name="ids"') == 1


TOLD = {
    "pause": ("paused", "is_paused", True),
    "resume": ("resumed", "is_paused", False),
    "prioritise": ("given another priority", "priority", 2),
    "stop": ("stopped", "status", "failed"),
    "retry": ("tried again", "status", "pending"),
}


async def test_ticked_tasks_do_what_they_are_told(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows, api = await rows_of(console), console.service
        shop = await rows.site()
        chosen, other = [await rows.task(shop, status="pending") for _ in range(2)]
        before = (await api.get(f"/admin/tasks/{other}")).json()["data"]
        for action, (said, column, value) in TOLD.items():
            page = await console.post(
                "/catalog/tasks/act", ids=chosen, action=action, scope="ticked", new_priority="2"
            )
            changed = (await api.get(f"/admin/tasks/{chosen}")).json()["data"]

            assert f"1 task was {said}" in text_of(page)
            assert changed[column] == value
        after = (await api.get(f"/admin/tasks/{other}")).json()["data"]
        audit = text_of(await console.get("/audit"))

    assert after == before
    assert all(f"catalog task {action}" in audit for action in TOLD)


async def test_task_that_an_action_is_not_for_stays(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        task = await rows.task(await rows.site())
        await console.get(f"/catalog/tasks/{task}")
        page = await console.post("/catalog/tasks/act", ids=task, action="retry", scope="ticked")
        odd = await console.post("/catalog/tasks/act", ids=task, action="explode", scope="ticked")

    assert "is one for this" in text_of(page)
    assert "there is no such action" in text_of(odd)


async def test_all_that_fit_are_told_and_no_others(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        for _ in range(3):
            await rows.task(shop, status="pending")
        other = await rows.task(shop)
        page = await console.post(
            "/catalog/tasks/act", action="pause", scope="all_that_fit", filter_status="pending"
        )
        left = (await console.service.get(f"/admin/tasks/{other}")).json()["data"]

    assert "3 tasks were paused" in text_of(page)
    assert left["is_paused"] is False


async def test_nothing_ticked_is_never_all(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        task = await rows.task(await rows.site(), status="pending")
        await console.get("/catalog/tasks")
        ticked = await console.post(
            "/catalog/tasks/act", action="stop", scope="ticked", filter_status="pending"
        )
        everything = await console.post("/catalog/tasks/act", action="stop", scope="all_that_fit")
        left = (await console.service.get(f"/admin/tasks/{task}")).json()["data"]

    assert "tick some" in text_of(ticked)
    assert "say which tasks" in text_of(everything)
    assert left["status"] == "pending"


async def test_reader_sees_tasks_and_changes_none(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        task = await rows.task(await rows.site(), status="pending")
        page = await console.reader.get(f"/catalog/tasks/{task}")
        refused = await console.reader.post(
            "/catalog/tasks/act", ids=task, action="stop", scope="ticked"
        )
        left = (await console.service.get(f"/admin/tasks/{task}")).json()["data"]

    assert "disabled" in page.text
    assert "admin key" in text_of(refused)
    assert left["status"] == "pending"


async def test_task_shows_attempts_errors_and_its_page_as_a_download(
    tmp_path: Path, site: Site
) -> None:
    html = b"<script>alert(1)</script>"
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        address = await console.service.engine.blobs.put(html)
        task = await rows.task(shop, html_path=address, html_at=rows.now)
        await rows.attempt(task, status="failed", error_type="dns", error_message="no such host")
        await rows.error(task, domain_id=shop.id, error_message="it went wrong")
        page = await console.get(f"/catalog/tasks/{task}")
        kept = await console.get(f"/catalog/tasks/{task}/page")

    assert "dns: no such host" in text_of(page)
    assert "it went wrong" in text_of(page)
    assert kept.content == html
    assert kept.headers["content-disposition"].startswith("attachment")
    assert kept.headers["content-type"] == "application/octet-stream"


async def test_task_is_changed_or_says_what_is_wrong(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        task = await rows.task(await rows.site(), crawl_frequency=60)
        path = f"/catalog/tasks/{task}/edit"
        wrong = await console.post(path, priority="2", crawl_frequency="often", max_retries="3")
        right = await console.post(path, priority="2", crawl_frequency="", max_retries="9")
        found = (await console.service.get(f"/admin/tasks/{task}")).json()["data"]

    assert wrong.status_code == 422
    assert 'value="often"' in wrong.text
    assert 'id="crawl_frequency-error"' in wrong.text
    assert 'data-stream=""' in wrong.text
    assert "The task was changed" in text_of(right)
    assert (found["priority"], found["crawl_frequency"], found["max_retries"]) == (2, None, 9)


async def test_urls_are_submitted_and_their_progress_is_shown(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        urls = "http://shop01.test/product/1\n\nhttp://shop01.test/product/2\nftp://shop01.test/"
        page = await console.post("/catalog/submit", urls=urls, priority="3")
        listed = await console.get("/catalog/submissions")
        tasks = await console.get("/catalog/tasks")

    assert "/catalog/submissions/" in str(page.url)
    assert "2 pages were taken on, 0 were known already, 1 were refused" in text_of(page)
    assert "0 of 2 tasks are over" in text_of(page)
    assert "urls accepted service 3 2 0 1" in text_of(listed)
    assert "http://shop01.test/product/2" in text_of(tasks)


async def test_sitemap_is_submitted(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post(
            "/catalog/submit", sitemap_url="http://shop01.test/sitemap.xml", priority="5"
        )

    assert "The sitemap is read now" in text_of(page)
    assert "reading" in text_of(page)


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, ""),
    ({"urls": "http://a.test/", "sitemap_url": "http://a.test/s.xml"}, ""),
    ({"urls": "http://a.test/", "crawl_frequency": "-1"}, "crawl_frequency"),
    ({"urls": "http://a.test/", "parser": "nobody"}, "parser"),
    ({"sitemap_url": "gopher://a.test/"}, "sitemap_url"),
)


async def test_wrong_submission_keeps_what_was_typed(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for fields, field in WRONG:
            page = await console.post("/catalog/submit", priority="5", **fields)

            assert page.status_code == 422
            assert f'id="{field}-error"' in page.text if field else "say either" in text_of(page)
            assert all(text in page.text for text in fields.values())
        listed = text_of(await console.get("/catalog/submissions"))

    assert "Nothing has been submitted yet" in listed


async def test_errors_are_shown_by_pattern(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        for _ in range(3):
            await rows.error(await rows.task(shop), domain_id=shop.id, error_type="read_timeout")
        page = await console.get("/catalog/errors")
        elsewhere = await console.get("/catalog/errors", domain="nowhere.example")

    assert "shop.example network read_timeout 3 3" in text_of(page)
    assert 'class="spark"' in page.text
    assert elsewhere.status_code == 404


async def test_dead_letters_are_revived(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        shop = await rows.site()
        failure = {"category": "http", "error_type": "http_500", "message": "?"}
        ids = [await rows.task(shop, status="failed", failure=failure) for _ in range(3)]
        await console.get("/catalog/dead")
        none = await console.post("/catalog/dead/revive", scope="ticked")
        one = await console.post("/catalog/dead/revive", scope="ticked", ids=ids[0])
        rest = await console.post("/catalog/dead/revive", scope="all", category="http")

    assert "tick some" in text_of(none)
    assert "1 dead letter is crawled again" in text_of(one)
    assert "2 dead letters are crawled again" in text_of(rest)


async def test_domain_is_added_changed_and_switched(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        added = await console.post(
            "/catalog/domains", domain="shop01.test", crawl_delay_seconds="3"
        )
        path = "/catalog/domains/shop01.test"
        wrong = await console.post(
            f"{path}/edit",
            base_url="http://shop01.test",
            crawl_delay_seconds="soon",
            max_concurrent_requests="2",
        )
        await console.post(
            f"{path}/edit",
            base_url="http://shop01.test",
            crawl_delay_seconds="7",
            max_concurrent_requests="2",
        )
        off = await console.post(f"{path}/deactivate")
        found = (await console.service.get("/admin/domains/shop01.test")).json()["data"]
        on = await console.post(f"{path}/activate")
        listed = text_of(await console.get("/catalog/domains"))

    assert "shop01.test was added" in text_of(added)
    assert wrong.status_code == 422
    assert 'value="soon"' in wrong.text
    assert found["crawl_delay_seconds"] == 7
    assert found["is_active"] is False
    assert "inactive" in text_of(off)
    assert "is crawled again" in text_of(on)
    assert "shop01.test active 7 s 2" in listed


async def test_domain_that_is_none_is_said_at_its_field(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.post("/catalog/domains", domain="not a domain")

    assert page.status_code == 422
    assert 'id="domain-error"' in page.text


async def test_nothing_that_was_scraped_or_sent_runs(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        rows = await rows_of(console)
        bad = " ".join(XSS)
        shop = await rows.site()
        failure = {"category": "http", "error_type": bad, "message": bad}
        task = await rows.task(
            shop,
            status="failed",
            url=f"https://shop.example/{bad}",
            error_message=bad,
            failure=failure,
            created_by=bad,
            parser=bad,
        )
        product = await rows.product(
            shop,
            task,
            title=bad,
            brand=bad,
            category=bad,
            description=bad,
            retailer_sku=bad,
            url="javascript:alert(1)",
            metadata={bad: bad},
        )
        await rows.image(product, alt_text=bad, image_url=bad, status="failed", error=bad)
        await rows.attempt(task, error_type=bad, error_message=bad, proxy=bad, fetcher=bad)
        await rows.error(task, domain_id=shop.id, error_type=bad, error_message=bad)
        submission = await rows.submission(
            task, origin_name=bad, error=bad, created_by=bad, options={bad: bad}
        )
        paths = [
            *PAGES,
            f"/products/{product}",
            f"/tasks/{task}",
            f"/submissions/{submission}",
            "/domains/shop.example",
        ]
        for path in paths:
            page = await console.get(f"/catalog{path}")
            assert page.status_code == 200
            assert_harmless(page)
        for each in XSS:
            page = await console.get("/catalog", q=each, brand=each, sort=each, after="")
            assert_harmless(page)
            assert_harmless(await console.get("/catalog/tasks", url=each, status=each))
            assert_harmless(await console.post("/catalog/submit", urls=each, parser=each))
            assert_harmless(await console.post("/catalog/domains", domain=each, parser=each))


async def test_words_that_were_found_are_marked_and_nothing_else_is_html(
    tmp_path: Path, site: Site
) -> None:
    async with console_on(tmp_path, site) as console:
        engine = console.service.engine
        rows = await rows_in(engine.store)
        shop = await rows.site()
        name, said = "Brass <b>lamp</b>", 'a "brass" lamp <script>alert(1)</script>'
        product = await rows.product(shop, await rows.task(shop), title=name, description=said)
        url = "https://shop.example/lamp"
        found = Document(product, name, "shop.example", url, rows.now, rows.now, said)
        await engine.index.prepare()
        await engine.index.put([found])

        page = await console.get("/catalog", q="brass")

    assert "<mark>Brass</mark> &lt;b&gt;lamp&lt;/b&gt;" in page.text
    assert "a &#34;<mark>brass</mark>&#34; lamp &lt;script&gt;" in page.text
    assert_harmless(page)
