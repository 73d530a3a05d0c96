"""Profiles are read from LinkedIn's public markup; what it hides or guards is not a value."""

from typing import Any

import pytest

from penstock.extract.adapters.linkedin_profile import ADAPTER
from penstock.kernel.records import Extraction, ExtractReason
from tests.unit.extract.adapters.markup import ODD_VALUES, data, meta, page, read

URL = "https://www.linkedin.com/in/ada-quarrie"
NAME = '<h1 class="top-card-layout__title">Ada Quarrie</h1>'


def person(**properties: Any) -> dict[str, Any]:
    return {"@type": "Person", "name": "Ada Quarrie", **properties}


def employer(name: str, **role: Any) -> dict[str, Any]:
    return {"@type": "Organization", "name": name, "member": {"@type": "OrganizationRole", **role}}


def extract(text: str, url: str = URL) -> Extraction:
    return read(ADAPTER, text, url)


def field(name: str, text: str) -> Any:
    return extract(text).fields.get(name)


def test_person_in_a_graph_gives_every_field() -> None:
    item = person(
        jobTitle=["Glazier"],
        worksFor=[employer("Bright Kiln", startDate=2019)],
        address={"addressLocality": "Leeds, England, United Kingdom", "addressCountry": "GB"},
        description="I glaze.",
        url=URL,
    )

    found = extract(page(data({"@graph": [{"@type": "WebPage"}, item]})))

    assert found.ok
    assert found.fields == {
        "name": "Ada Quarrie",
        "headline": "Glazier",
        "current_company": "Bright Kiln",
        "location": "Leeds, England, United Kingdom",
        "summary": "I glaze.",
        "profile_url": URL,
    }


def test_top_card_gives_every_field_without_data() -> None:
    body = f"""{NAME}<h2 class="top-card-layout__headline">Glazier of things</h2>
      <span class="top-card__subline-item">Leeds, UK</span>
      <span class="top-card__subline-item">500+ connections</span>
      <div data-section="currentPositionsDetails"><a class="top-card-link" href="/c">
      <span class="top-card-link__description">Bright Kiln</span></a></div>
      <section class="summary"><div class="core-section-container__content">
      <p>I glaze.</p></div></section>"""

    assert extract(page(body)).fields == {
        "name": "Ada Quarrie",
        "headline": "Glazier of things",
        "current_company": "Bright Kiln",
        "location": "Leeds, UK",
        "summary": "I glaze.",
        "profile_url": URL,
    }


def test_older_top_card_is_read_too() -> None:
    body = """<div class="pv-top-card"><h1 class="text-heading-xlarge">Ada Quarrie</h1>
      <div class="text-body-medium break-words">Glazier of things</div></div>"""

    found = extract(page(body))

    assert found.fields["name"] == "Ada Quarrie"
    assert found.fields["headline"] == "Glazier of things"


def test_masked_values_are_not_values() -> None:
    item = person(
        jobTitle=["***** ****"],
        worksFor=[employer("*******")],
        address={"addressLocality": "****"},
        description="********",
    )

    found = extract(page(NAME + data(item)))

    assert found.fields == {"name": "Ada Quarrie", "profile_url": URL}


def test_first_unmasked_position_counts() -> None:
    item = person(jobTitle=["****", "Glazier"], worksFor=[employer("***"), employer("Bright Kiln")])

    found = extract(page(data(item)))

    assert found.fields["headline"] == "Glazier"
    assert found.fields["current_company"] == "Bright Kiln"


def test_employer_of_the_past_is_not_current() -> None:
    item = person(worksFor=[employer("Old Hut", endDate=2018), employer("Bright Kiln")])

    assert field("current_company", page(data(item))) == "Bright Kiln"


def test_current_position_is_found_among_the_experience() -> None:
    body = """<section data-section="experience"><ul>
      <li><h4>Old Hut</h4><p class="date-range">2001 - 2018</p></li>
      <li><h4>Bright Kiln</h4><p class="date-range">2018 - Present</p></li></ul></section>"""

    assert field("current_company", page(NAME + body)) == "Bright Kiln"


def test_title_of_three_parts_names_headline_and_company() -> None:
    head = meta(og_title="Ada Quarrie - Glazier - by trade - Bright Kiln | LinkedIn")

    found = extract(page("", head))

    assert found.fields["name"] == "Ada Quarrie"
    assert found.fields["headline"] == "Glazier - by trade"
    assert found.fields["current_company"] == "Bright Kiln"


def test_title_of_two_parts_is_ambiguous() -> None:
    found = extract(page("", meta(og_title="Ada Quarrie - Bright Kiln | LinkedIn")))

    assert found.fields == {"name": "Ada Quarrie", "profile_url": URL}


def test_meta_description_fills_what_is_missing() -> None:
    told = "I glaze. · Experience: Bright Kiln · Education: Polytechnic · Location: Leeds · 9 more"

    found = extract(page(NAME, meta(og_description=told)))

    assert found.fields["summary"] == "I glaze."
    assert found.fields["current_company"] == "Bright Kiln"
    assert found.fields["location"] == "Leeds"


def test_invitation_of_the_site_is_not_a_summary() -> None:
    told = "View Ada Quarrie\u2019s profile on LinkedIn, a professional community."

    assert field("summary", page(NAME, meta(og_description=told))) is None


def test_whole_summary_of_the_page_beats_a_cut_one() -> None:
    whole = '<section class="summary"><p>I glaze and I teach.</p></section>'

    assert field("summary", page(whole + data(person(description="I glaze…")))) == (
        "I glaze and I teach."
    )


def test_authors_and_colleagues_are_other_people() -> None:
    article = {"@type": "Article", "author": {"@type": "Person", "name": "Bo Nystrand"}}
    colleague = {"@type": "Person", "name": "Cy Orr", "url": "https://www.linkedin.com/in/cy"}

    found = extract(page(data(article, colleague, person(url=URL, jobTitle="Glazier"))))

    assert found.fields["name"] == "Ada Quarrie"
    assert found.fields["headline"] == "Glazier"


def test_team_page_is_nobodys_profile() -> None:
    team = [{"@type": "Person", "name": name} for name in ("Bo Nystrand", "Cy Orr")]

    found = extract(page(data(*team)))

    assert found.reason is ExtractReason.TITLE_NOT_FOUND


def test_data_win_over_the_top_card_and_the_evidence_says_so() -> None:
    found = extract(page(NAME + data(person(name="Ada L. Byron"))))

    assert found.fields["name"] == "Ada L. Byron"
    assert "but page .top-card-layout__title: Ada Quarrie" in found.evidence["name"].text


@pytest.mark.parametrize(
    ("html", "url"),
    [
        (page('<main class="authwall"><h1>Join LinkedIn</h1></main>'), URL),
        (page("<h1>Join LinkedIn</h1>", "<title>Sign Up | LinkedIn</title>"), URL),
        (page("<h1>Welcome back</h1>"), "https://www.linkedin.com/authwall?trk=x"),
        (page("", '<meta name="pageKey" content="auth_wall_desktop_profile">'), URL),
        (page("<p>Sign in</p>", "<title>LinkedIn Login, Sign in | LinkedIn</title>"), URL),
    ],
)
def test_sign_in_wall_is_a_blocked_page(html: str, url: str) -> None:
    found = extract(html, url)

    assert found.reason is ExtractReason.BLOCKED_PAGE
    assert found.fields == {}


def test_profile_behind_an_invitation_to_join_is_still_a_profile() -> None:
    body = '<div class="authwall-join-form"><h2>Join LinkedIn</h2></div>' + NAME

    assert extract(page(body)).fields["name"] == "Ada Quarrie"


@pytest.mark.parametrize("name", ["LinkedIn Member", "***** ****"])
def test_hidden_person_has_no_name(name: str) -> None:
    found = extract(page(f'<h1 class="top-card-layout__title">{name}</h1>'))

    assert found.reason is ExtractReason.TITLE_NOT_FOUND


def test_missing_page_of_linkedin_is_not_a_person() -> None:
    found = extract(page("<h1>This page doesn\u2019t exist</h1>"))

    assert found.reason is ExtractReason.TITLE_NOT_FOUND


def test_profile_on_another_site_is_read_from_its_data() -> None:
    item = {
        "@type": "ProfilePage",
        "mainEntity": person(jobTitle="Glazier", worksFor="Bright Kiln"),
    }

    found = extract(page(data(item)), "https://people.example/ada")

    assert found.fields["headline"] == "Glazier"
    assert found.fields["current_company"] == "Bright Kiln"
    assert found.fields["profile_url"] == "https://people.example/ada"


@pytest.mark.parametrize("odd", ODD_VALUES, ids=repr)
@pytest.mark.parametrize(
    "name", ["jobTitle", "worksFor", "address", "description", "url", "sameAs"]
)
def test_odd_value_never_costs_the_other_fields(name: str, odd: Any) -> None:
    found = extract(page(data(person(**{name: odd}))))

    assert found.ok
    assert found.fields["name"] == "Ada Quarrie"
    assert found.fields["profile_url"].startswith("https://")
