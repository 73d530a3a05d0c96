"""Whatever part of a page is missing, the rest of it becomes a record."""

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.extract.adapter import Adapter
from penstock.extract.adapters import company_website, job_posting, linkedin_profile
from penstock.extract.page.document import Document
from penstock.quality.normalise import normalise


class Ways(NamedTuple):
    """How a page can give a field: by properties of its data, or by what it shows."""

    data: dict[str, Any]
    shown: str


class Kind(NamedTuple):
    """A kind of page: its naming field comes first; `given` needs no markup."""

    adapter: Adapter
    url: str
    type: str
    fields: dict[str, Ways]
    given: str


class Sample(NamedTuple):
    """A page, and which fields it has."""

    kind: Kind
    text: str
    present: frozenset[str]


ADDRESS = {"@type": "PostalAddress", "addressLocality": "Leeds", "addressCountry": "GB"}
SALARY = {"currency": "GBP", "value": {"minValue": 30000, "maxValue": 34000, "unitText": "YEAR"}}
JOB = Kind(
    job_posting.ADAPTER,
    "https://jobs.brightkiln.example/openings/17",
    "JobPosting",
    {
        "job_title": Ways({"title": "Kiln Operator"}, "<h1>Kiln Operator</h1>"),
        "company_name": Ways(
            {"hiringOrganization": {"@type": "Organization", "name": "Bright Kiln"}},
            '<p class="company-name">Bright Kiln</p>',
        ),
        "location": Ways({"jobLocation": {"address": ADDRESS}}, "<p>Location: Leeds, UK</p>"),
        "salary_range": Ways(
            {"baseSalary": SALARY}, "<dl><dt>Salary</dt><dd>£30,000 - £34,000</dd></dl>"
        ),
        "description": Ways(
            {"description": "<p>Fire bricks.</p>"},
            '<div class="job-description">Fire bricks.</div>',
        ),
    },
    given="posting_url",
)
COMPANY = Kind(
    company_website.ADAPTER,
    "https://www.brightkiln.example/about",
    "Organization",
    {
        "company_name": Ways({"name": "Bright Kiln"}, "<footer>© 2026 Bright Kiln</footer>"),
        "description": Ways(
            {"description": "Bricks."}, '<meta property="og:description" content="Bricks.">'
        ),
        "industry": Ways({"industry": "Ceramics"}, "<dl><dt>Industry</dt><dd>Ceramics</dd></dl>"),
        "employee_count_range": Ways({"numberOfEmployees": {"value": 35}}, "<p>Employees: 35</p>"),
        "headquarters": Ways({"address": ADDRESS}, "<p>Headquarters: Leeds, UK</p>"),
        "contact_email": Ways(
            {"email": "info@brightkiln.example"},
            '<a href="mailto:info@brightkiln.example">Write to us</a>',
        ),
        "contact_phone": Ways(
            {"telephone": "+44 20 7946 0958"}, '<a href="tel:+442079460958">Call us</a>'
        ),
    },
    given="website_url",
)
PROFILE = Kind(
    linkedin_profile.ADAPTER,
    "https://www.linkedin.com/in/ada-quarrie",
    "Person",
    {
        "name": Ways(
            {"name": "Ada Quarrie"}, '<h1 class="top-card-layout__title">Ada Quarrie</h1>'
        ),
        "headline": Ways(
            {"jobTitle": ["****", "Glazier"]}, '<h2 class="top-card-layout__headline">Glazier</h2>'
        ),
        "current_company": Ways(
            {"worksFor": [{"@type": "Organization", "name": "Bright Kiln"}]},
            '<div data-section="currentPositionsDetails">Bright Kiln</div>',
        ),
        "location": Ways({"address": ADDRESS}, '<p class="top-card__subline-item">Leeds, UK</p>'),
        "summary": Ways(
            {"description": "I glaze."}, '<section class="summary"><p>I glaze.</p></section>'
        ),
    },
    given="profile_url",
)
#: What sites write for something they do not know.
nothing: st.SearchStrategy[Any] = st.sampled_from([None, "", [], {}, "null", " "])


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    kind = draw(st.sampled_from([JOB, COMPANY, PROFILE]))
    naming, *others = kind.fields
    present = frozenset([naming, *draw(st.lists(st.sampled_from(others), unique=True))])
    item: dict[str, Any] = {"@type": kind.type, "url": kind.url}
    shown: list[str] = []
    for name, ways in kind.fields.items():
        if name not in present:
            item |= {key: draw(nothing) for key in ways.data if draw(st.booleans())}
        elif draw(st.booleans()):
            item |= ways.data
        else:
            shown.append(ways.shown)
    data = f'<script type="application/ld+json">{json.dumps(item)}</script>'
    text = f"<html><body>{''.join(draw(st.permutations([data, *shown])))}</body></html>"
    return Sample(kind, text, present)


# Feature: scraping-microservices, Property 13: Missing extraction fields default to null
@pytest.mark.property_number(13)
@settings(max_examples=300, deadline=None)
@given(samples())
def test_missing_fields_are_null_and_cost_no_other_field(sample: Sample) -> None:
    extraction = sample.kind.adapter.read(Document(sample.text, sample.kind.url))

    normalised = normalise(extraction)

    assert extraction.ok
    assert not normalised.invalid
    fields = normalised.record.model_dump()
    assert fields.keys() == {*sample.kind.fields, sample.kind.given}
    found = {name for name, value in fields.items() if value is not None}
    assert found == sample.present | {sample.kind.given}
