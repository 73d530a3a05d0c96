"""Job postings are read from data and from what pages show; nobody else's job gets in."""

from typing import Any

import pytest

from penstock.extract.adapters.job_posting import ADAPTER
from penstock.kernel.records import Extraction, ExtractReason
from tests.unit.extract.adapters.markup import ODD_VALUES, data, meta, page, read

URL = "https://jobs.brightkiln.example/openings/17"


def posting(**properties: Any) -> dict[str, Any]:
    return {"@type": "JobPosting", "title": "Kiln Operator", **properties}


def extract(text: str, url: str = URL) -> Extraction:
    return read(ADAPTER, text, url)


def salary(base: Any, **properties: Any) -> Any:
    item = posting(baseSalary=base, **properties)
    return extract(page(data(item))).fields.get("salary_range")


def test_structured_posting_gives_every_field() -> None:
    item = posting(
        hiringOrganization={"@type": "Organization", "name": "Bright Kiln"},
        jobLocation={
            "@type": "Place",
            "address": {"addressLocality": "Leeds", "postalCode": "LS1"},
        },
        baseSalary={"currency": "GBP", "value": {"minValue": 30000, "maxValue": 34000}},
        description="<p>Fire bricks.</p>",
        url="/openings/17",
    )

    found = extract(page(data(item)))

    assert found.ok
    assert found.fields == {
        "job_title": "Kiln Operator",
        "company_name": "Bright Kiln",
        "location": {"addressLocality": "Leeds"},
        "salary_range": "GBP 30,000\u201334,000",
        "description": "<p>Fire bricks.</p>",
        "posting_url": URL,
    }
    assert found.evidence["job_title"].source == "json-ld JobPosting.title"


def test_employer_is_found_by_reference_in_a_graph() -> None:
    organisation = {"@type": "Organization", "@id": "#us", "name": "Bright Kiln"}
    graph = {"@graph": [posting(hiringOrganization={"@id": "#us"}), organisation]}

    assert extract(page(data(graph))).fields["company_name"] == "Bright Kiln"


@pytest.mark.parametrize(
    ("organisation", "name"),
    [("Bright Kiln", "Bright Kiln"), (["", {"name": "Bright Kiln"}], "Bright Kiln"), (7, "7")],
)
def test_employer_may_be_a_text_or_a_list(organisation: Any, name: str) -> None:
    found = extract(page(data(posting(hiringOrganization=organisation))))

    assert found.fields["company_name"] == name


@pytest.mark.parametrize(
    ("base", "text"),
    [
        (
            {
                "currency": "USD",
                "value": {"minValue": 9e4, "maxValue": "120000", "unitText": "YEAR"},
            },
            "USD 90,000\u2013120,000 per year",
        ),
        (
            {"currency": "USD", "value": {"value": "18.50", "unitText": "hour"}},
            "USD 18.50 per hour",
        ),
        (
            {"currency": "EUR", "minValue": 4000, "maxValue": 4000, "unitText": "MONTH"},
            "EUR 4,000 per month",
        ),
        ({"currency": "EUR", "value": 52000}, "EUR 52,000"),
        ({"currency": "EUR", "value": "52k"}, "EUR 52,000"),
        ({"currency": "EUR", "value": {"minValue": 52000, "maxValue": 0}}, "from EUR 52,000"),
        ({"currency": "EUR", "value": {"minValue": None, "maxValue": 52000}}, "up to EUR 52,000"),
        ({"currency": "CHF", "median": 6000, "duration": "P1M"}, "CHF 6,000 per month"),
        ([{"currency": "USD", "value": [{"minValue": 1, "maxValue": 2}]}], "USD 1\u20132"),
        ("$90k \u2013 $110k", "$90k \u2013 $110k"),
        (61000, "61,000"),
    ],
)
def test_salary_is_read_in_the_forms_that_sites_give_it_in(base: Any, text: str) -> None:
    assert salary(base) == text


def test_figure_that_can_be_read_in_two_ways_stays_as_written() -> None:
    base = {"currency": "EUR", "value": {"minValue": "60.000", "maxValue": "70.000"}}

    assert salary(base) == "EUR 60.000\u201370.000"


@pytest.mark.parametrize("base", [0, "0", "competitive", {"value": {"minValue": 0}}, -5, 1e300])
def test_salary_that_says_nothing_is_left_out(base: Any) -> None:
    assert salary(base) is None


def test_currency_may_stand_beside_the_salary() -> None:
    assert salary("45000", salaryCurrency="PLN") == "PLN 45,000"


def test_remote_job_names_where_applicants_may_live() -> None:
    item = posting(
        jobLocationType="TELECOMMUTE",
        applicantLocationRequirements=[{"@type": "Country", "name": "Chile"}, {"name": "Peru"}],
    )

    assert extract(page(data(item))).fields["location"] == "Remote (Chile; Peru)"


def test_remote_job_with_an_office_keeps_the_office() -> None:
    item = posting(
        jobLocationType="TELECOMMUTE",
        jobLocation=[{"@type": "Place", "address": "1 Mill Lane, Leeds"}],
    )

    assert extract(page(data(item))).fields["location"] == "1 Mill Lane, Leeds"


def test_evidence_tells_of_further_places() -> None:
    places = [{"address": {"addressLocality": town}} for town in ("Leeds", "York", "Hull")]

    found = extract(page(data(posting(jobLocation=places))))

    assert found.fields["location"] == {"addressLocality": "Leeds"}
    assert found.evidence["location"].text == "Leeds (and 2 more)"


def test_data_win_over_the_heading_and_the_evidence_says_so() -> None:
    found = extract(page("<h1>Join our crew</h1>" + data(posting())))

    assert found.fields["job_title"] == "Kiln Operator"
    assert found.evidence["job_title"].text == "Kiln Operator (but page h1: Join our crew)"


def test_microdata_are_read_like_json_ld() -> None:
    body = """<div itemscope itemtype="http://schema.org/JobPosting">
      <h2 itemprop="title">Glazier</h2>
      <span itemprop="hiringOrganization" itemscope itemtype="http://schema.org/Organization">
      <span itemprop="name">Bright Kiln</span></span></div>"""

    found = extract(page(body))

    assert found.fields["job_title"] == "Glazier"
    assert found.evidence["company_name"].source == "microdata JobPosting.hiringOrganization"


def test_of_several_postings_the_one_at_the_page_address_counts() -> None:
    other = posting(title="Driver", url="/openings/16", description="Drive.")

    found = extract(page(data(other, posting(url=URL))))

    assert found.fields["job_title"] == "Kiln Operator"
    assert "description" not in found.fields


def test_of_several_postings_the_one_in_the_heading_counts() -> None:
    body = "<h1>Kiln operator</h1>" + data(posting(title="Driver"), posting())

    assert extract(page(body)).fields["job_title"] == "Kiln Operator"


def test_list_of_postings_is_not_a_posting() -> None:
    found = extract(page("<h1>Our jobs</h1>" + data(posting(), posting(title="Driver"))))

    assert found.reason is ExtractReason.TITLE_NOT_FOUND
    assert found.detail == "2 job postings, none of which is the page's own"


def test_page_without_data_is_read_by_its_labels_and_title() -> None:
    body = """<h1>Kiln Operator</h1><ul><li><b>Location:</b> Leeds, UK</li>
      <li><b>Salary range:</b> £30,000 to £34,000</li></ul>
      <div class="job-description"><p>Fire bricks.</p></div>"""

    found = extract(page(body, "<title>Kiln Operator | Bright Kiln Careers</title>"))

    assert found.fields == {
        "job_title": "Kiln Operator",
        "company_name": "Bright Kiln",
        "location": "Leeds, UK",
        "salary_range": "£30,000 to £34,000",
        "description": "Fire bricks.",
        "posting_url": URL,
    }


@pytest.mark.parametrize(
    "title",
    [
        "Kiln Operator at Bright Kiln",
        "Job Application for Kiln Operator at Bright Kiln",
        "Bright Kiln - Kiln Operator",
        "Kiln Operator @ Bright Kiln | Jobs",
        "Kiln Operator (m/f/d) \u2013 Bright Kiln | LinkedIn",
    ],
)
def test_employer_is_what_the_title_names_beside_the_job(title: str) -> None:
    found = extract(page("<h1>Kiln Operator</h1>", f"<title>{title}</title>"))

    assert found.fields["company_name"] == "Bright Kiln"


@pytest.mark.parametrize(
    "title", ["Kiln Operator | Leeds | Bright Kiln", "Careers", "Kiln Operator"]
)
def test_title_that_names_several_or_none_gives_no_employer(title: str) -> None:
    found = extract(page("<h1>Kiln Operator</h1>", f"<title>{title}</title>"))

    assert "company_name" not in found.fields


def test_job_board_is_not_the_employer() -> None:
    found = extract(page("<h1>Kiln Operator</h1>", meta(og_site_name="LinkedIn")))

    assert "company_name" not in found.fields


@pytest.mark.parametrize(
    "elsewhere",
    [
        '<section class="similar-jobs"><h3>Driver</h3><p class="location">Hull</p></section>',
        "<nav><div>Location <ul><li>Hull</li></ul></div></nav>",
        "<form><label>Location <select><option>Hull</option></select></label></form>",
        '<footer><p class="office-location">Hull</p></footer>',
        '<a href="/openings/16">Driver <span class="job-location">Hull</span></a>',
        '<div class="location-filter">All locations</div>',
    ],
)
def test_place_of_something_else_is_not_the_place_of_work(elsewhere: str) -> None:
    assert "location" not in extract(page(f"<h1>Kiln Operator</h1>{elsewhere}")).fields


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("The base salary is $120,000 - $150,000 per year.", "$120,000 - $150,000 per year"),
        ("Das Gehalt liegt bei 48.000 bis 56.000 € pro Jahr.", "48.000 bis 56.000 € pro Jahr"),
        ("Salaire : 38 000 € à 42 000 € par an", "38 000 € à 42 000 € par an"),
        ("Compensation: US$ 40/hour", "US$ 40/hour"),
    ],
)
def test_salary_is_read_from_a_sentence(words: str, text: str) -> None:
    found = extract(page(f"<h1>Kiln Operator</h1><article><p>About us. {words}</p></article>"))

    assert found.fields["salary_range"] == text


@pytest.mark.parametrize(
    "words",
    [
        "We raised $20 - $30 million last year.",
        "We pay a referral bonus of $500 - $1,000 per year.",
        "Salary: competitive",
        "The salary is 100 % fair, 5 - 6 weeks of leave per year.",
    ],
)
def test_other_sums_are_not_a_salary(words: str) -> None:
    found = extract(page(f"<h1>Kiln Operator</h1><p>{words}</p>"))

    assert "salary_range" not in found.fields


def test_description_is_what_surrounds_the_heading_of_the_tasks() -> None:
    tasks = "Load the kiln and watch the cones. " * 6
    body = f"<h1>Kiln Operator</h1><section><h2>What you'll do</h2><p>{tasks}</p></section>"

    assert extract(page(body)).fields["description"] == f"What you'll do {tasks.strip()}"


def test_canonical_link_is_the_address_unless_it_is_the_front_door() -> None:
    links = {"/openings/17-kiln": "/openings/17-kiln", "/": "/openings/17"}

    for link, path in links.items():
        text = page("<h1>Kiln Operator</h1>", f'<link rel="canonical" href="{link}">')
        found = extract(text, f"{URL}?src=feed" if link != "/" else URL)
        assert found.fields["posting_url"] == f"https://jobs.brightkiln.example{path}"


def test_page_without_any_name_of_a_job_says_so() -> None:
    assert extract(page("<p>Nothing here</p>")).reason is ExtractReason.TITLE_NOT_FOUND


@pytest.mark.parametrize("odd", ODD_VALUES, ids=repr)
@pytest.mark.parametrize(
    "name",
    ["hiringOrganization", "jobLocation", "jobLocationType", "baseSalary", "description", "url"],
)
def test_odd_value_never_costs_the_other_fields(name: str, odd: Any) -> None:
    found = extract(page(data(posting(**{name: odd}))))

    assert found.ok
    assert found.fields["job_title"] == "Kiln Operator"
    assert found.fields["posting_url"].startswith("https://")
