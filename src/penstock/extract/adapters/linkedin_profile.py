"""Public profiles: LinkedIn's markup, and any page that describes one person."""

import re
from collections.abc import Iterator
from itertools import chain, islice

from penstock.core.urls import parse, registrable_domain
from penstock.extract.adapter import Adapter, Findings
from penstock.extract.page.document import Document, text_of
from penstock.extract.page.labels import marked_texts
from penstock.extract.page.names import add_first, add_name, agree, bare, canonical_url, page_url
from penstock.extract.page.structured import fold, without_fragment
from penstock.extract.page.things import Found, Place, Thing, place_text, places_in, things_of
from penstock.kernel.records import Extraction, ExtractReason, Kind

MAX_TITLE = 500
MAX_PLACE = 120
MAX_SUMMARY = 20_000
MAX_POSITIONS = 50
KIND: Kind = "linkedin_profile"
LINKEDIN = "linkedin.com"

_NAMES = (".top-card-layout__title", ".pv-top-card h1", "h1.text-heading-xlarge", ".top-card__name")
_HEADLINES = (
    ".top-card-layout__headline",
    ".top-card__headline",
    ".pv-top-card .text-body-medium",
    ".text-body-medium.break-words",
    ".pv-top-card-section__headline",
    "[itemprop=headline],h1 ~ [class*=headline i]",
)
_COMPANIES = (
    "[data-section=currentPositionsDetails] .top-card-link__description",
    "[data-section=currentPositionsDetails]",
    "[data-tracking-control-name*=current-company]",
    "button[aria-label^='Current company']",
)
_LOCATIONS = (
    ".top-card__subline-item",
    ".profile-info-subheader span",
    ".top-card-layout__first-subline span",
    ".pv-top-card .text-body-small.inline",
    ".pv-top-card--list-bullet li",
)
_SUMMARIES = (
    "section.summary .core-section-container__content p",
    "[data-section=summary] .core-section-container__content",
    "section.summary p",
    ".pv-about__summary-text",
    "#about ~ div .inline-show-more-text",
)
_CURRENT = re.compile(r"\b(?:present|heute|aujourd.hui|actualidad|presente|heden|nu)\b", re.I)
_ASIDE = frozenset(["nav", "form", "dialog", "footer", "aside"])

#: Properties that lead from a page to people other than the one it is about.
_TO_OTHERS = """
    author creator contributor editor publisher review reviews employee founder colleague knows
    mentions follows itemListElement actor performer member sponsor relatedTo spouse children
    parent comment commentator
"""
_FOREIGN = frozenset(_TO_OTHERS.split())

_MASKED = re.compile(r"\*{2,}")
_NOBODY = frozenset(["linkedinmember", "linkedinmitglied", "membredelinkedin", "miembrodelinkedin"])
_COUNTED = re.compile(
    r"\d|followers|connections|contact info|follower|kontakte|abonné|relations", re.I
)
_SITE = re.compile(r" ?[|\u2013-] ?LinkedIn$", re.I)
_PIECE = re.compile(
    r"\s*(?P<label>experience|berufserfahrung|expérience|experiencia|location|ort|standort|lieu"
    r"|ubicación)\s?:\s*(?P<value>[^·]{1,120})",
    re.I,
)
_ABOUT_SITE = re.compile(
    r"profile on LinkedIn|Profil .{0,60}auf LinkedIn|profil .{0,60}sur LinkedIn", re.I
)
_EXPERIENCE = frozenset(["experience", "berufserfahrung", "expérience", "experiencia"])
_WALLS = "[class*=authwall i],[id*=authwall i],[class*=join-form i],form[action*=login-submit]"
_WALL_TITLE = re.compile(
    r"^(?:sign ?up|sign ?in|join|log ?in|anmelden|einloggen|s.identifier|security verification)\b"
    r"|linkedin.{0,3}(?:login|anmelden)",
    re.I,
)
_WALL_PATH = re.compile(r"^/(?:authwall|login|uas/login|checkpoint|signup)\b")


def extract(document: Document) -> Extraction:
    """Read the one person that a page is about."""
    findings = Findings()
    persons = _own_persons(document)
    # The headings of a wall are not names.
    is_wall = _is_wall(document)
    names = chain(_given_names(document, persons), () if is_wall else _headlined_names(document))
    if not add_name(findings, "name", names):
        if is_wall:
            return findings.failed(KIND, ExtractReason.BLOCKED_PAGE, "the site asks to sign in")
        return findings.failed(KIND, ExtractReason.TITLE_NOT_FOUND, "no name of a person")
    _add_details(findings, document, persons)
    add_first(findings, "profile_url", _addresses(document, persons))
    return findings.found(KIND)


def _is_wall(document: Document) -> bool:
    """Whether the page is, or has on it, a demand to sign in."""
    keys = document.meta_value("pagekey")
    is_named_so = "auth_wall" in keys or "authwall" in keys or _WALL_TITLE.search(document.title)
    return bool(is_named_so or _WALL_PATH.match(_path(document)) or document.first(_WALLS))


def _path(document: Document) -> str:
    url = document.absolute("")
    return parse(url).target if url else ""


def _is_linkedin(document: Document) -> bool:
    url = document.absolute("")
    return url is not None and registrable_domain(parse(url).host) == LINKEDIN


def _own_persons(document: Document) -> list[Thing]:
    """The person the page is about, as often as described; none if that is not to be told."""
    persons = [thing for thing in things_of(document, _FOREIGN) if "Person" in thing.types]
    persons.sort(key=lambda person: not _name(person))
    names = {_name(person) for person in persons} - {""}
    if len(names) <= 1:
        return persons
    here = {_name(person) for person in persons if _lives_here(document, person)}
    own = here or names & _headings(document)
    return [person for person in persons if len(own) == 1 and _name(person) in own]


def _name(person: Thing) -> str:
    return bare(_full_name(person))


def _full_name(person: Thing) -> str:
    parts = (person.text("givenName"), person.text("familyName"))
    return _unmasked(person.text("name") or fold(" ".join(parts)))


def _lives_here(document: Document, person: Thing) -> bool:
    here = {without_fragment(url) for url in (page_url(document), canonical_url(document)) if url}
    urls = (
        document.absolute(url) for name in ("url", "sameAs", "@id") if (url := person.text(name))
    )
    return any(url and without_fragment(url) in here for url in urls)


def _headings(document: Document) -> set[str]:
    return {bare(text_of(node)) for node in document.css("h1")[:MAX_POSITIONS]}


def _unmasked(text: str) -> str:
    """A text, unless the site hides it from visitors."""
    return "" if _MASKED.search(text) or bare(text) in _NOBODY else text


def _given_names(document: Document, persons: list[Thing]) -> Iterator[Found]:
    for person in persons:
        yield Found(_full_name(person), person.source("name"))
    for found in marked_texts(document, _NAMES, _ASIDE):
        yield Found(_unmasked(found.value), found.source)


def _headlined_names(document: Document) -> Iterator[Found]:
    title = document.meta_value("og:title", "twitter:title")
    if document.meta_value("og:type") == "profile" or (" - " in title and _SITE.search(title)):
        yield Found(_unmasked(_SITE.sub("", title).split(" - ")[0].strip()), "meta og:title")
    if not _is_linkedin(document):
        yield from marked_texts(document, ["h1"], _ASIDE)


def _add_details(findings: Findings, document: Document, persons: list[Thing]) -> None:
    headline, company = _titled(document, str(findings.get("name")))
    headlines = chain(marked_texts(document, _HEADLINES, _ASIDE), [headline], _job_titles(persons))
    add_first(findings, "headline", headlines, _unmasked)
    told = _told(document)
    employers = chain(_employers(persons), _shown_employers(document), [company])
    experience = (found for label, found in told if label in _EXPERIENCE)
    add_first(findings, "current_company", chain(employers, experience), _unmasked)
    _add_home(findings, persons)
    shown = marked_texts(document, _LOCATIONS, _ASIDE)
    told_places = (found for label, found in told if label not in _EXPERIENCE)
    add_first(findings, "location", chain(shown, told_places), _shown_place)
    summaries = sorted(_summaries(document, persons), key=_is_cut)
    add_first(findings, "summary", summaries, _unmasked)


def _job_titles(persons: list[Thing]) -> Iterator[Found]:
    for person in persons:
        for part in person.parts("jobTitle"):
            text = part if isinstance(part, str) else part.text("name")
            yield Found(text, person.source("jobTitle"))


def _titled(document: Document, name: str) -> tuple[Found, Found]:
    """Headline and company in a title like "Name - Headline - Company | LinkedIn"."""
    title = _SITE.sub("", document.meta_value("og:title", "twitter:title")[:MAX_TITLE])
    own, *pieces = title.split(" - ")
    # Of two parts, the second may be either.
    if len(pieces) <= 1 or not agree(own, name):
        pieces = ["", ""]
    source = "meta og:title"
    return Found(" - ".join(pieces[:-1]), source), Found(pieces[-1], source)


def _employers(persons: list[Thing]) -> Iterator[Found]:
    for person in persons:
        for part in person.parts("worksFor"):
            if isinstance(part, str) or not _has_left(part):
                text = part if isinstance(part, str) else part.text("name", "legalName")
                yield Found(text, person.source("worksFor"))


def _has_left(employer: Thing) -> bool:
    roles = (employer, *employer.things("member"))
    return any(role.text("endDate") for role in roles)


def _shown_employers(document: Document) -> Iterator[Found]:
    yield from marked_texts(document, _COMPANIES, _ASIDE)
    for item in document.css("[data-section=experience] li")[:MAX_POSITIONS]:
        dates = " ".join(text_of(node) for node in item.css("[class*=date],time,[class*=meta]"))
        company = item.css_first("[class*=subtitle],h4")
        if company is not None and _CURRENT.search(dates):
            yield Found(text_of(company), "page [data-section=experience]")


def _told(document: Document) -> list[tuple[str, Found]]:
    """The labelled pieces of a description like "… · Experience: Acme · Location: Bern"."""
    for name in ("og:description", "description"):
        pieces = document.meta_value(name).split(" · ")[:MAX_POSITIONS]
        found = [match for piece in pieces if (match := _PIECE.fullmatch(piece))]
        if found:
            return [(one["label"].lower(), Found(one["value"], f"meta {name}")) for one in found]
    return []


def _add_home(findings: Findings, persons: list[Thing]) -> None:
    for person in persons:
        for name in ("address", "homeLocation"):
            for place in islice(places_in(person, name), 1):
                text = _unmasked(place_text(place))
                findings.add("location", text and _home(place), person.source(name), text)


def _home(place: Place) -> Place:
    """A place; LinkedIn writes town, region and country into the town of an address."""
    town = place.get("addressLocality", "") if isinstance(place, dict) else ""
    return town if "," in town else place


def _shown_place(text: str) -> str:
    is_place = len(text) <= MAX_PLACE and not _COUNTED.search(text)
    return _unmasked(text) if is_place else ""


def _summaries(document: Document, persons: list[Thing]) -> Iterator[Found]:
    for person in persons:
        yield from person.found("description")
    for selector in _SUMMARIES:
        yield Found(document.first_text(selector)[:MAX_SUMMARY], f"page {selector}")
    for name in ("og:description", "description"):
        text = document.meta_value(name).split(" · ")[0]
        is_own = text and not _ABOUT_SITE.search(text) and not _PIECE.match(text)
        yield Found(text if is_own else "", f"meta {name}")


def _is_cut(found: Found) -> bool:
    return found.value.endswith(("…", "..."))


def _addresses(document: Document, persons: list[Thing]) -> Iterator[Found]:
    yield Found(canonical_url(document), "page link rel=canonical")
    for person in persons:
        for found in person.found("url"):
            yield Found(document.absolute(found.value) or "", found.source)
    yield Found(page_url(document), "page URL")


ADAPTER = Adapter(id=KIND, version="1.0.0", gives=KIND, extract=extract)
#: So that a profile's URL says what to read there.
ON_LINKEDIN = Adapter(
    id="linkedin",
    version=ADAPTER.version,
    gives=KIND,
    extract=extract,
    domain="linkedin.com",
    urls=("linkedin.com/in/*",),
)
