"""A company's site: its front page is completed by its pages about itself, politely."""

from collections.abc import AsyncIterator

import pytest

from penstock.app import Platform
from penstock.kernel.model import Outcome, Request
from penstock.kernel.records import CompanyWebsite
from tests.platforms import said
from tests.site import Site
from tests.site.answers import Reply

HOST = "acme-pumps.test"
FRONT = """<html><head><title>Acme Pumps</title><meta property="og:site_name" content="Acme Pumps">
<meta name="description" content="Pumps since 1950."></head><body><h1>Welcome</h1>
<a href="/products">Products</a><a href="/about-us">About us</a><a href="/contact">Contact</a>
<a href="https://elsewhere.test/contact">Contact our partner</a></body></html>"""
ABOUT = """<html><head><title>About | Acme Pumps</title>
<meta property="og:site_name" content="Acme Pumps"><meta name="description" content="Not this.">
</head><body><dl><dt>Industry</dt><dd>Machinery</dd><dt>Employees</dt><dd>51-200</dd></dl>
</body></html>"""
CONTACT = """<html><head><title>Contact | Acme Pumps</title>
<meta property="og:site_name" content="Acme Pumps"></head><body>
<a href="mailto:info@acme-pumps.test">info@acme-pumps.test</a></body></html>"""


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        site.reply(HOST, "/robots.txt", Reply(404))
        site.reply(HOST, "/", Reply(200, FRONT))
        site.reply(HOST, "/about-us", Reply(200, ABOUT))
        site.reply(HOST, "/contact", Reply(200, CONTACT))
        yield site


async def scrape(platform: Platform, **options: float) -> tuple[Outcome, CompanyWebsite]:
    request = Request(f"http://{HOST}/", extract="company_website", **options)  # type: ignore[arg-type]
    outcome = await platform.pipeline.run(request)
    assert outcome.reading
    assert isinstance(outcome.reading.record, CompanyWebsite)
    return outcome, outcome.reading.record


async def test_front_page_is_completed_by_the_pages_about_the_company(
    platform: Platform, site: Site
) -> None:
    outcome, record = await scrape(platform)

    assert outcome.ok
    assert (record.company_name, record.description) == ("Acme Pumps", "Pumps since 1950.")
    assert (record.industry, record.employee_count_range) == ("Machinery", "51-200")
    assert record.contact_email == "info@acme-pumps.test"
    assert said(outcome, "further") == ["/contact", "/about-us"]
    assert outcome.page
    assert outcome.page.url == f"http://{HOST}/"
    assert outcome.reading
    assert outcome.reading.extraction.evidence["industry"].source.endswith("of /about-us")
    assert not site.hits_of("elsewhere.test")
    assert [hit.path for hit in site.hits_of(HOST)] == [
        "/robots.txt",
        "/",
        "/contact",
        "/about-us",
    ]


async def test_every_further_page_takes_a_turn_and_keeps_no_slot(
    platform: Platform, site: Site
) -> None:
    outcome, _ = await scrape(platform)

    assert said(outcome, "pacing").count("turn") == 4
    again, _ = await scrape(platform)
    assert again.ok


async def test_page_that_robots_deny_is_left_alone(platform: Platform, site: Site) -> None:
    site.reply(HOST, "/robots.txt", Reply(200, "User-agent: *\nDisallow: /contact"))

    outcome, record = await scrape(platform)

    assert outcome.ok
    assert (record.contact_email, record.industry) == (None, "Machinery")
    assert said(outcome, "further") == ["robots_denied", "/about-us"]
    assert not site.hits_of(HOST, "/contact")


@pytest.mark.parametrize(
    "answer", [Reply(404), Reply(500), Reply(200, "{}", {"Content-Type": "text/plain"})]
)
async def test_page_that_cannot_be_had_is_done_without(
    platform: Platform, site: Site, answer: Reply
) -> None:
    site.reply(HOST, "/contact", answer)

    outcome, record = await scrape(platform)

    assert outcome.ok
    assert (record.contact_email, record.industry) == (None, "Machinery")
    assert len(site.hits_of(HOST, "/contact")) == 1


async def test_page_that_leads_to_another_site_is_not_followed(
    platform: Platform, site: Site
) -> None:
    site.reply(HOST, "/contact", Reply(302, headers={"Location": "http://elsewhere.test/contact"}))

    outcome, record = await scrape(platform)

    assert (outcome.ok, record.industry) == (True, "Machinery")
    assert not site.hits_of("elsewhere.test")


async def test_page_that_moved_on_the_site_is_followed(platform: Platform, site: Site) -> None:
    site.reply(HOST, "/contact", Reply(301, headers={"Location": "/kontakt"}))
    site.reply(HOST, "/kontakt", Reply(200, CONTACT))

    outcome, record = await scrape(platform)

    assert record.contact_email == "info@acme-pumps.test"
    assert outcome.hops == ()


async def test_complete_front_page_needs_no_other(platform: Platform, site: Site) -> None:
    organisation = """<script type="application/ld+json">{"@type": "Organization",
    "name": "Acme Pumps", "url": "http://acme-pumps.test/", "email": "info@acme-pumps.test",
    "telephone": "+49 30 1234567", "industry": "Machinery", "numberOfEmployees": 120,
    "address": {"@type": "PostalAddress", "addressLocality": "Berlin", "addressCountry": "DE"}}
    </script></head>"""
    site.reply(HOST, "/", Reply(200, FRONT.replace("</head>", organisation)))

    outcome, record = await scrape(platform)

    assert (record.industry, record.contact_email) == ("Machinery", "info@acme-pumps.test")
    assert said(outcome, "further") == []


async def test_without_time_left_what_was_found_is_given(platform: Platform, site: Site) -> None:
    site.reply(HOST, "/contact", Reply(200, CONTACT, delay=5.0))

    outcome, record = await scrape(platform, timeout=0.5)

    assert outcome.ok
    assert (record.company_name, record.contact_email) == ("Acme Pumps", None)
    assert said(outcome, "further") == ["task_timeout"]
    assert not site.hits_of(HOST, "/about-us")
