"""Job postings on any site: structured data first, then what the page shows."""

import re
from collections.abc import Iterator
from itertools import chain

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.labels import ELSEWHERE, is_elsewhere, labelled_values, marked_texts
from penstock.extract.page.names import (
    add_first,
    add_name,
    bare,
    canonical_url,
    page_url,
    title_parts,
)
from penstock.extract.page.structured import without_fragment
from penstock.extract.page.things import Found, Place, Thing, place_text, places_in, things_of
from penstock.extract.values.salary import salary_in_words, shown_salary, structured_salary
from penstock.kernel.records import Extraction, ExtractReason, Kind

KIND: Kind = "job_posting"
MAX_PLACE = 120
MAX_DESCRIPTION = 50_000
MIN_DESCRIPTION = 150
MAX_HEADINGS = 300
MAX_CLIMBS = 4

#: In lower case: field by the labels that pages write beside it.
_LABELS = {
    "location": "location|locations|location(s)|job location|office location|work location|office"
    "|place of work|standort|standorte|arbeitsort|einsatzort|dienstort|lieu|lieu de travail"
    "|localisation|ubicación|lugar de trabajo|localização|sede|sede di lavoro|locatie|plats|ort"
    "|lokalizacja|miejsce pracy",
    "company_name": "company|company name|employer|organisation|organization|hiring organization"
    "|unternehmen|arbeitgeber|firma|entreprise|employeur|société|empresa|azienda|bedrijf|företag"
    "|pracodawca",
    "salary_range": "salary|salary range|salary band|base salary|annual salary|pay|pay range"
    "|pay rate|compensation|compensation range|remuneration|wage|gehalt|gehaltsspanne|jahresgehalt"
    "|vergütung|salaire|rémunération|salario|retribución|salário|stipendio|retribuzione|salaris"
    "|lön|wynagrodzenie",
}
_FIELD_OF = {label: field for field, text in _LABELS.items() for label in text.split("|")}

_TITLES = (
    "[data-automation-id=jobPostingHeader]",
    ".posting-headline h2",
    "h1[class*=title i]",
    "h1",
    "[class*=job-title i],[class*=jobtitle i],[class*=job__title i],[class*=posting-title i]",
    "[data-testid*=job-title i],[data-testid*=jobtitle i]",
)
_COMPANIES = (
    "[class*=company-name i],[class*=companyname i],[class*=company_name i]",
    "[class*=company__name i],[class*=org-name i]",
    "[class*=employer-name i],[class*=employername i],[class*=hiring-organization i]",
    "[data-automation-id=company],[data-testid*=company-name i],[data-testid*=companyname i]",
)
_LOCATIONS = (
    "[class*=job-location i],[class*=joblocation i],[class*=job_location i]",
    "[class*=job__location i]",
    "[data-automation-id=locations] dd,[data-testid*=location i]",
    "[class*=location i]:not([class*=relocation i]):not([class*=allocation i])",
)
_SALARIES = (
    "[class*=salary i],[class*=compensation i],[data-testid*=salary i],[class*=pay-range i]",
)
_DESCRIPTIONS = (
    "[data-automation-id=jobPostingDescription]",
    "[class*=job-description i],[class*=jobdescription i],[class*=job_description i]",
    "[class*=job__description i],[id*=job-description i],[id*=jobdescription i]",
    "[class*=posting-description i],[data-qa*=job-description i],[data-testid*=description i]",
    ".posting-page .content",
    "main [class*=description i],article [class*=description i]",
)
#: The parts of a page that speak of other jobs, or of none.
_ASIDE = ELSEWHERE | {"footer"}
_LINKABLE = _ASIDE - {"a"}

_TASKS = re.compile(
    r"\b(?:about (?:the|this) (?:role|job|position)|the role|job description|responsibilities"
    r"|what you.{0,2}ll (?:do|be doing)|your (?:role|tasks|mission)|requirements|qualifications"
    r"|aufgaben|stellenbeschreibung|anforderungen|dein profil|ihr profil|vos missions|missions"
    r"|le poste|profil recherché|funciones|requisitos|responsabilidades|mansioni)\b",
    re.I,
)
_JOINT = re.compile(r" (?:at|@|bei|chez|hos) ")
_GENDERS = re.compile(r" ?\((?:\w{1,10}[/|]){1,3}\w{1,10}\)")
_PREFIX = re.compile(r"^(?:job application for|apply for|job:|stellenangebot:?|hiring:?) ?", re.I)
_CAREERS = re.compile(
    r"^(?:(?:careers?|jobs?|karriere|work|working|emplois?|jobs and careers) (?:at|bei|chez) )"
    r"|[ -](?:careers?|jobs?|karriere|recruitment|job board|logo)$",
    re.I,
)
#: Sites that show the jobs of others: their name is not the employer's.
_BOARDS = frozenset(
    [
        *["adzuna", "arbeitnow", "ashby", "bamboohr", "breezyhr", "careers", "dice", "glassdoor"],
        *["greenhouse", "greenhouseio", "hiringcafe", "home", "indeed", "infojobs", "jobs"],
        *[
            "jobvite",
            "join",
            "karriere",
            "lever",
            "leverco",
            "linkedin",
            "monster",
            "myworkdayjobs",
        ],
        *["personio", "recruitee", "reed", "remoteok", "seek", "simplyhired", "smartrecruiters"],
        *["stepstone", "teamtailor", "totaljobs", "welcometothejungle", "wellfound", "workable"],
        *["workday", "xing", "ziprecruiter"],
    ]
)


def extract(document: Document) -> Extraction:
    """Read the one job that a page offers."""
    findings = Findings()
    postings, others = _own_postings(document)
    if others:
        detail = f"{others} job postings, none of which is the page's own"
        return findings.failed(KIND, ExtractReason.TITLE_NOT_FOUND, detail)
    titles = chain(_said(postings, "title", "name"), _shown_titles(document))
    if not add_name(findings, "job_title", titles):
        return findings.failed(KIND, ExtractReason.TITLE_NOT_FOUND, "no name of a job")
    for posting in postings:
        _add_structured(findings, posting)
    _add_shown(findings, document)
    _add_url(findings, document, postings)
    return findings.found(KIND)


def _own_postings(document: Document) -> tuple[list[Thing], int]:
    """The postings that are the page's job; if that is not to be told, how many there are."""
    postings = [thing for thing in things_of(document) if "JobPosting" in thing.types]
    postings.sort(key=lambda posting: not _name(posting))
    names = {_name(posting) for posting in postings} - {""}
    if len(names) <= 1:
        return postings, 0
    for is_own in (_lives_here, _is_headed):
        own = {_name(posting) for posting in postings if is_own(document, posting)}
        if len(own) == 1:
            return [posting for posting in postings if _name(posting) in own], 0
    return [], len(names)


def _name(posting: Thing) -> str:
    return bare(posting.text("title", "name"))


def _lives_here(document: Document, posting: Thing) -> bool:
    """Whether a posting's address is the page's."""
    url = posting.text("url")
    here = {without_fragment(url) for url in (page_url(document), canonical_url(document)) if url}
    return bool(url) and without_fragment(document.absolute(url) or "") in here


def _is_headed(document: Document, posting: Thing) -> bool:
    """Whether a posting's title is the heading of the page."""
    return _name(posting) in {bare(text_of(node)) for node in document.css("h1")[:MAX_HEADINGS]}


def _said(postings: list[Thing], *names: str) -> Iterator[Found]:
    for posting in postings:
        yield from posting.found(*names)


def _shown_titles(document: Document) -> Iterator[Found]:
    site = bare(document.meta_value("og:site_name"))
    for found in marked_texts(document, _TITLES, _LINKABLE):
        if bare(found.value) not in ("", site):
            yield found
    for text, source in _page_titles(document):
        parts = title_parts(_PREFIX.sub("", text))
        if parts and bare(parts[0]) != site:
            yield Found(_JOINT.split(parts[0])[0], source)


def _page_titles(document: Document) -> list[Found]:
    og = Found(document.meta_value("og:title", "twitter:title"), "meta og:title")
    return [og, Found(document.title, "page title")]


def _add_structured(findings: Findings, posting: Thing) -> None:
    for part in posting.parts("hiringOrganization"):
        name = part if isinstance(part, str) else part.text("name", "legalName")
        findings.add("company_name", name, posting.source("hiringOrganization"))
    _add_place(findings, posting)
    if salary := structured_salary(posting):
        findings.add("salary_range", *salary)
    for found in posting.found("description", "responsibilities"):
        findings.add("description", found.value[:MAX_DESCRIPTION], found.source)


def _add_place(findings: Findings, posting: Thing) -> None:
    """The first place of work; a job without one may be done from anywhere, or from somewhere."""
    places = list(places_in(posting, "jobLocation"))
    is_remote = "TELECOMMUTE" in posting.text("jobLocationType").upper()
    if is_remote and not any(_is_town(place) for place in places):
        findings.add("location", _remote(posting), posting.source("jobLocationType"))
    elif places:
        first = max(places, key=_is_town)
        more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
        source, text = posting.source("jobLocation"), place_text(first) + more
        findings.add("location", first, source, text)


def _is_town(place: Place) -> bool:
    return isinstance(place, str) or "addressLocality" in place


def _remote(posting: Thing) -> str:
    wanted = places_in(posting, "applicantLocationRequirements")
    where = "; ".join(dict.fromkeys(place_text(place) for place in wanted))
    return f"Remote ({where[:MAX_PLACE]})" if where else "Remote"


def _add_shown(findings: Findings, document: Document) -> None:
    shown = labelled_values(document, _FIELD_OF)
    add_name(findings, "company_name", _shown_companies(findings, document, shown))
    places = chain(shown.get("location", ()), marked_texts(document, _LOCATIONS, _ASIDE))
    add_first(findings, "location", places, _shown_place)
    sums = chain(shown.get("salary_range", ()), marked_texts(document, _SALARIES, _ASIDE))
    add_first(findings, "salary_range", sums, lambda text: shown_salary(_unlabelled(text)))
    if "salary_range" not in findings.fields:
        findings.add("salary_range", salary_in_words(document.visible_text), "page text")
    add_first(findings, "description", _shown_descriptions(document))


def _unlabelled(text: str) -> str:
    """A text without the label that it begins with."""
    label, colon, rest = text.partition(":")
    return rest.strip() if colon and label.strip().casefold() in _FIELD_OF else text


def _shown_place(text: str) -> str:
    place = _unlabelled(text)
    is_place = len(place) <= MAX_PLACE and any(map(str.isalpha, place))
    # "All locations" and the like are links or filters.
    return place if is_place and "location" not in place.lower() else ""


def _shown_companies(
    findings: Findings, document: Document, labelled: dict[str, list[Found]]
) -> Iterator[Found]:
    yield from labelled.get("company_name", ())
    yield from marked_texts(document, _COMPANIES, _LINKABLE)
    for text, source in _page_titles(document):
        yield Found(_employer(text, str(findings.get("job_title"))), source)
    site = document.meta_value("og:site_name")
    yield Found("" if bare(site) in _BOARDS else _CAREERS.sub("", site), "meta og:site_name")
    logo = document.attribute("[class*=logo i] img[alt],img[class*=logo i][alt]", "alt")
    yield Found("" if bare(logo) in ("", "logo") else _CAREERS.sub("", logo), "page logo")


def _employer(title: str, job: str) -> str:
    """Who offers the job, if the page's title names just the two of them; empty if not."""
    before, named, after = _GENDERS.sub("", _PREFIX.sub("", title)).partition(_GENDERS.sub("", job))
    if not named:
        return ""
    if joint := _JOINT.match(after):
        parts = title_parts(after[joint.end() :])[:1]
    else:
        parts = title_parts(before) + title_parts(after)
    names = [_CAREERS.sub("", part).strip(" -|") for part in parts]
    names = [name for name in names if bare(name) and bare(name) not in _BOARDS]
    return names[0] if len(names) == 1 else ""


def _shown_descriptions(document: Document) -> Iterator[Found]:
    for selector in _DESCRIPTIONS:
        texts = [text_of(node) for node in document.css(selector)[:MAX_CLIMBS]]
        yield Found(max(texts, key=len, default="")[:MAX_DESCRIPTION], f"page {selector}")
    yield Found(_told_tasks(document)[:MAX_DESCRIPTION], "page heading of tasks")
    for name in ("og:description", "description"):
        yield Found(document.meta_value(name), f"meta {name}")


def _told_tasks(document: Document) -> str:
    """The part of the page around a heading like "Your tasks"."""
    for node in document.css("h2,h3,h4,strong,b")[:MAX_HEADINGS]:
        heading = node.text()[:MAX_PLACE]
        if _TASKS.search(heading) and not is_elsewhere(node, _ASIDE):
            return _around(node)
    return ""


def _around(node: Node) -> str:
    """The text of the nearest element around another that is long enough to be a description."""
    for _ in range(MAX_CLIMBS):
        if node.parent is None or node.parent.tag in ("body", "html"):
            break
        node = node.parent
        if len(text := text_of(node)) >= MIN_DESCRIPTION:
            return text
    return ""


def _add_url(findings: Findings, document: Document, postings: list[Thing]) -> None:
    findings.add("posting_url", canonical_url(document), "page link rel=canonical")
    for found in _said(postings, "url"):
        findings.add("posting_url", document.absolute(found.value), found.source)
    findings.add("posting_url", page_url(document), "page URL")


ADAPTER = Adapter(id=KIND, version="1.0.0", gives=KIND, extract=extract)
