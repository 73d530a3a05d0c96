"""A company is read from its own site; names and numbers of others on it are left to them."""

from typing import Any

import pytest

from penstock.extract.adapters.company_website import ADAPTER
from penstock.kernel.records import Extraction, ExtractReason
from tests.unit.extract.adapters.markup import ODD_VALUES, data, meta, page, read

URL = "https://www.brightkiln.example/about"
TITLE = "<title>Bright Kiln</title>"


def company(**properties: Any) -> dict[str, Any]:
    return {"@type": "Organization", "name": "Bright Kiln Ltd", **properties}


def extract(text: str, url: str = URL) -> Extraction:
    return read(ADAPTER, text, url)


def field(name: str, text: str, url: str = URL) -> Any:
    return extract(text, url).fields.get(name)


def test_structured_organisation_gives_every_field() -> None:
    item = company(
        url="https://www.brightkiln.example/",
        description="Bricks since 1880.",
        industry="Ceramics",
        numberOfEmployees={"@type": "QuantitativeValue", "value": 120},
        address={"addressLocality": "Leeds", "addressCountry": "GB"},
        email="mailto:info@brightkiln.example",
        telephone="020 7946 0958",
    )

    found = extract(page(data(item)))

    assert found.ok
    assert found.fields == {
        "company_name": "Bright Kiln Ltd",
        "description": "Bricks since 1880.",
        "industry": "Ceramics",
        "employee_count_range": "51-200",
        "headquarters": {"addressLocality": "Leeds", "addressCountry": "GB"},
        "contact_email": "info@brightkiln.example",
        "contact_phone": "+442079460958",
        "website_url": "https://www.brightkiln.example/",
    }
    assert found.evidence["industry"].source == "json-ld Organization.industry"


def test_owner_of_the_site_is_found_by_reference_in_a_graph() -> None:
    site = {"@type": "WebSite", "publisher": {"@id": "#us"}}
    owner = {"@type": "Plumber", "@id": "#us", "name": "Bright Kiln Ltd"}

    assert field("company_name", page(data({"@graph": [site, owner]}))) == "Bright Kiln Ltd"


@pytest.mark.parametrize(
    "other",
    [
        {"@type": "Review", "author": company(name="Tidewater")},
        {"@type": "Article", "publisher": company(name="Tidewater", logo="/t.png")},
        {"@type": "Product", "brand": company(name="Tidewater"), "manufacturer": company(name="T")},
        {"@type": "Person", "worksFor": company(name="Tidewater")},
        company(name="Tidewater", url="https://tidewater.example", logo="/t.png"),
    ],
    ids=["reviewer", "publisher", "brand", "employer", "customer"],
)
def test_other_organisation_does_not_lend_its_name(other: dict[str, Any]) -> None:
    assert field("company_name", page(data(other), TITLE)) == "Bright Kiln"


def test_own_organisation_is_the_one_with_the_site_address() -> None:
    branch = {"@type": "Store", "name": "Kiln Shop Hull", "telephone": "+44 20 7946 0111"}
    own = company(url="https://brightkiln.example")

    found = extract(page(data(branch, own)))

    assert found.fields["company_name"] == "Bright Kiln Ltd"
    assert "contact_phone" not in found.fields


def test_data_win_over_the_site_name_and_the_evidence_says_so() -> None:
    found = extract(page(data(company()), meta(og_site_name="Kiln Blog")))

    assert found.fields["company_name"] == "Bright Kiln Ltd"
    assert found.evidence["company_name"].text.endswith("(but meta og:site_name: Kiln Blog)")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (meta(og_site_name="Bright Kiln"), ""),
        ("<title>Bricks that last | Bright Kiln</title>", ""),
        ("<title>Bright Kiln \u2013 Bricks that last</title>", ""),
        (
            "<title>Home</title>",
            "<footer>© 1999\u20132026 Bright Kiln. All rights reserved.</footer>",
        ),
        ("", "<footer>Copyright 2026 by Bright Kiln | Privacy</footer>"),
        ("<title>Welcome to Bright Kiln</title>", ""),
        ("<title>Bricks, red: Bright Kiln: Home and garden</title>", ""),
    ],
)
def test_name_is_found_without_data(head: str, body: str) -> None:
    assert field("company_name", page(body, head)) == "Bright Kiln"


def test_footer_is_not_part_of_the_name() -> None:
    body = "<div>© 2026 Bright Kiln Inc. or its friends <b>Menu</b></div><div>Back to top</div>"

    assert field("company_name", page(body)) == "Bright Kiln Inc."


@pytest.mark.parametrize("title", ["Home", "Bricks that last | Made with care", ""])
def test_slogan_is_not_a_name(title: str) -> None:
    found = extract(page("<h1>Bricks</h1>", f"<title>{title}</title>"))

    assert found.reason is ExtractReason.TITLE_NOT_FOUND


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ({"minValue": 51, "maxValue": 200}, "51-200"),
        ({"minValue": 50, "maxValue": 200}, "50-200"),
        ({"minValue": "10001"}, "10001+"),
        ({"value": "350"}, "201-500"),
        (7.0, "1-10"),
        ("1,001 - 5,000", "1001-5000"),
        ("250+", "250+"),
        ([None, {"value": 30}], "11-50"),
    ],
)
def test_headcount_becomes_a_range(count: Any, text: str) -> None:
    html = page(data(company(numberOfEmployees=count)))

    assert field("employee_count_range", html) == text


@pytest.mark.parametrize("count", [0, -3, "many", {"minValue": 9, "maxValue": 3}, 10**12])
def test_headcount_that_cannot_be_is_left_out(count: Any) -> None:
    assert field("employee_count_range", page(data(company(numberOfEmployees=count)))) is None


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("We are a team of 35 people.", "11-50"),
        ("Unsere 1.200 Mitarbeiterinnen", "1001-5000"),
        ("Facts: 50\u2013200 employees", "50-200"),
        ("For companies with 50\u2013200 employees", None),
        ("Tidewater has 5,000 employees and loves us", None),
        ("5 people found our review helpful; a game for 2-4 people", None),
    ],
)
def test_headcount_in_words_must_be_the_companys_own(words: str, text: str | None) -> None:
    assert field("employee_count_range", page(f"<p>{words}</p>", TITLE)) == text


@pytest.mark.parametrize(
    "body",
    [
        "<dl><dt>Industry</dt><dd>Ceramics</dd></dl>",
        "<table><tr><td>Branche:</td><td>Ceramics</td></tr></table>",
        "<p><strong>Industry:</strong> Ceramics<br><strong>Founded:</strong> 1880</p>",
        "<ul><li>Secteur : <span>Ceramics</span></li></ul>",
        "<div><div><h4>Industry</h4></div><div>Ceramics</div></div>",
    ],
)
def test_industry_is_read_beside_its_label(body: str) -> None:
    assert field("industry", page(body, TITLE)) == "Ceramics"


@pytest.mark.parametrize(
    "body",
    [
        "<nav><ul><li>Industries<ul><li>Ceramics</li></ul></li></ul></nav>",
        '<section class="case-studies"><p>Industry: Shipping</p></section>',
        "<table><tr><th>Industry</th><th>Headquarters</th></tr></table>",
        "<p>We serve every industry: shipping, mining and more, " + "and more, " * 30 + "</p>",
    ],
)
def test_industry_of_others_is_not_the_companys(body: str) -> None:
    assert field("industry", page(body, TITLE)) is None


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("<dl><dt>Headquarters</dt><dd>Leeds, UK</dd></dl>", "Leeds, UK"),
        ("<p>We are headquartered in Leeds, England with shops in Hull.</p>", "Leeds, England"),
        (
            "<footer><address>1 Mill Lane<br>Leeds LS1<br>Tel: 020 7946 0958</address></footer>",
            "1 Mill Lane, Leeds LS1",
        ),
        ("<address>1 Mill Lane, Leeds</address><address>2 Dock St, Hull</address>", None),
        ('<address><a href="mailto:a@b.example">Ada, our author</a></address>', None),
    ],
)
def test_headquarters_are_read_where_the_page_is_clear(body: str, place: str | None) -> None:
    assert field("headquarters", page(body, TITLE)) == place


def test_of_several_addresses_the_one_called_headquarters_counts() -> None:
    towns = [{"addressLocality": "Hull"}, {"name": "Headquarters", "addressLocality": "Leeds"}]

    assert field("headquarters", page(data(company(address=towns[:1])))) == towns[0]
    assert field("headquarters", page(data(company(address=towns)))) == {"addressLocality": "Leeds"}


def test_several_addresses_without_a_word_are_not_headquarters() -> None:
    towns = [{"addressLocality": "Hull"}, {"addressLocality": "Leeds"}]

    assert field("headquarters", page(data(company(address=towns)))) is None


def links(*addresses: str) -> str:
    return "".join(f'<a href="mailto:{address}">write</a>' for address in addresses)


@pytest.mark.parametrize(
    ("addresses", "chosen"),
    [
        (["jobs@brightkiln.example", "ada@brightkiln.example"], "ada@brightkiln.example"),
        (["ada@brightkiln.example", "hello@brightkiln.example"], "hello@brightkiln.example"),
        (
            ["web@agency.example.co.uk", "info@mail.brightkiln.example"],
            "info@mail.brightkiln.example",
        ),
        (["kiln@gmail.com", "web@agency.co.uk"], "kiln@gmail.com"),
        (["noreply@brightkiln.example"], None),
        (["dpo@brightkiln.example", "privacy@brightkiln.example"], None),
        (["info%40brightkiln.example?subject=Hi"], "info@brightkiln.example"),
        (["careers@brightkiln.example"], "careers@brightkiln.example"),
        (["web@agency.co.uk", "ada@tidewater.co.uk"], None),
        (["office@brightkiln-group.co.uk"], "office@brightkiln-group.co.uk"),
    ],
)
def test_email_is_the_one_for_everybody(addresses: list[str], chosen: str | None) -> None:
    assert field("contact_email", page(links(*addresses), TITLE)) == chosen


def test_general_address_of_a_link_beats_the_recruiters_in_the_data() -> None:
    point = {"@type": "ContactPoint", "email": "recruiting@brightkiln.example"}
    html = page(links("info@brightkiln.example") + data(company(contactPoint=[point])))

    assert field("contact_email", html) == "info@brightkiln.example"


def test_address_of_a_customer_in_a_testimonial_is_not_the_companys() -> None:
    quote = f"<blockquote>Great. {links('ada@tidewater.co.uk')}</blockquote>"

    assert field("contact_email", page(quote, TITLE)) is None


def test_address_is_found_in_the_text() -> None:
    html = page("<p>Ask ada@tidewater.co.uk or info (at) brightkiln.co.uk</p>", TITLE)

    assert field("contact_email", html, "https://brightkiln.co.uk/") == "info@brightkiln.co.uk"


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ('<a href="tel:+44-20-7946-0958">call</a>', "+442079460958"),
        (
            'Fax: <a href="tel:+442079460111">0111</a> <a href="tel:+442079460958">x</a>',
            "+442079460958",
        ),
        ("<footer>Fax +44 20 7946 0111, phone +44 20 7946 0958</footer>", "+442079460958"),
        ("<p>Call +44 20 7946 0958</p>", "+442079460958"),
        ("<p>Call +44 20 7946 0958 or +44 20 7946 0111</p>", None),
        ('<section class="testimonials"><a href="tel:+442079460958">Ada</a></section>', None),
        ('<a href="tel:+1234">call</a>', None),
        ('<a href="tel:020%207946%200958">call</a>', "020 7946 0958"),
    ],
)
def test_phone_is_the_companys_own(body: str, number: str | None) -> None:
    assert field("contact_phone", page(body, TITLE)) == number


@pytest.mark.parametrize(
    ("language", "url"), [("en-GB", URL), ("en", "https://brightkiln.co.uk/contact")]
)
def test_country_of_a_national_number_is_the_pages(language: str, url: str) -> None:
    html = page('<a href="tel:02079460958">call</a>', TITLE, language)

    assert field("contact_phone", html, url) == "+442079460958"


def test_website_is_the_front_door_of_the_page() -> None:
    elsewhere = company(url="https://brightkiln.facebook.example/")

    assert field("website_url", page("", TITLE)) == "https://www.brightkiln.example/"
    assert field("website_url", page(data(elsewhere), TITLE)) == "https://www.brightkiln.example/"


@pytest.mark.parametrize("odd", ODD_VALUES, ids=repr)
@pytest.mark.parametrize(
    "name",
    ["url", "description", "industry", "numberOfEmployees", "address", "contactPoint", "email"],
)
def test_odd_value_never_costs_the_other_fields(name: str, odd: Any) -> None:
    found = extract(page(data(company(logo="/logo.png", **{name: odd}))))

    assert found.ok
    assert found.fields["company_name"] == "Bright Kiln Ltd"
    assert found.fields["website_url"].startswith("https://")
