"""Companies, as their own sites present them: structured data first, then what the page shows."""

import re
from collections.abc import Iterator
from itertools import chain

from penstock.extract.adapter import Adapter, Findings
from penstock.extract.company.contact import contact_email, contact_phone
from penstock.extract.company.organisations import domain_label, is_own_address, own_organisations
from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.labels import glance, is_elsewhere, labelled_values
from penstock.extract.page.names import add_first, add_name, bare, page_url, title_parts
from penstock.extract.page.structured import fold
from penstock.extract.page.things import (
    Found,
    Place,
    Thing,
    place_text,
    places_in,
    places_of,
    things_of,
)
from penstock.extract.values.headcount import (
    headcount_in_words,
    read_headcount,
    structured_headcount,
)
from penstock.kernel.records import Extraction, ExtractReason, Kind

KIND: Kind = "company_website"
MAX_NAME = 100
MAX_TITLE = 40
MAX_SURPLUS = 20
MAX_INDUSTRY = 100
MAX_PLACE = 200
MAX_FOOTER = 500
MAX_LINES = 3_000
MAX_ADDRESSES = 20
MAX_LINKS = 2_000

#: In lower case: field by the labels that pages write beside it.
_LABELS = {
    "industry": "industry|industries|sector|business sector|branche|branchen|wirtschaftszweig"
    "|secteur|secteur d'activité|secteur d\u2019activité|sector de actividad|settore|bransch"
    "|branża",
    "employee_count_range": "employees|number of employees|company size|team size|headcount|staff"
    "|mitarbeiter|mitarbeitende|mitarbeiterzahl|anzahl mitarbeiter|unternehmensgröße|effectif"
    "|effectifs|nombre d'employés|empleados|número de empleados|dipendenti|medewerkers"
    "|aantal medewerkers|antal anställda",
    "headquarters": "headquarters|headquarter|head office|hq|global headquarters|company hq"
    "|corporate headquarters|hauptsitz|firmensitz|unternehmenssitz|zentrale|siège|siège social"
    "|sede central|sede principale|sede legale|hoofdkantoor|huvudkontor|hovedkontor",
}
_FIELD_OF = {label.casefold(): name for name, text in _LABELS.items() for label in text.split("|")}

_DESCRIPTIONS = ("og:description", "description", "twitter:description")
_NOT_NAMES = frozenset(
    [
        *["about", "aboutus", "accueil", "bienvenue", "contact", "contactus", "frontpage", "home"],
        *["homepage", "impressum", "index", "inicio", "kontakt", "mysite", "mywebsite", "start"],
        *["startseite", "untitled", "website", "welcome", "willkommen", "wordpress", "überuns"],
    ]
)
_WELCOME = re.compile(r"^(?:welcome to|willkommen bei|bienvenue (?:chez|à)|home of) ", re.I)
_LINES = "footer,p,div,span,small,li,td,address,section"
_CLAIM = re.compile(r"©|\(c\)|copyright", re.I)
_COPYRIGHT = re.compile(
    r"(?:©|\(c\)|\bcopyright\b)[\s©,]{0,5}(?:\d{4}(?: ?[-\u2013] ?(?:\d{4}|today|present|heute))?)?"
    r"[\s,.:|-]{0,5}(?:by )?([^\W\d_][^|•·©\n]{1,80})",
    re.I,
)
_LEGAL_FORM = re.compile(
    r".{2,60}?\b(?:GmbH & Co\. KG|GmbH|AG|SE|KG|Inc\b\.?|Ltd\b\.?|Limited|LLC|PLC|Corp\b\.?|S\.A\."
    r"|SAS|SARL|S\.r\.l\.|S\.p\.A\.|B\.V\.|BV|Oy|AB|ApS|A/S)(?!\w)"
)
_RIGHTS = re.compile(
    r"[.,;(|\u2013-]? ?\b(?:all rights|alle rechte|tous droits|todos los derechos|todos os direitos"
    r"|tutti i diritti|wszelkie prawa|vse pravice|všechna práva|or its affiliates|and/or its"
    r"|\d{4}\b|privacy|terms|imprint|impressum|legal|powered|made (?:by|with)|built|website by"
    r"|design|registered in|reg\. no|site by|cookie|datenschutz)",
    re.I,
)
_COLON = re.compile(r"\s*:\s+")
_HEADQUARTERED = re.compile(
    r"\b(?:headquartered|head office is|headquarters are|headquarters is|hauptsitz|siège social)"
    r" (?:located )?(?:in|à) ([^\W\d_][^.;:!?()]{1,80})",
    re.I,
)
_CAPITALISED = re.compile(
    r"(?:[^\W\d_a-zß-öø-ÿ][\w'\u2019-]*[ ,]*(?:(?:am|an der|of|the|de|la) )?){1,6}"
)
_REACH = re.compile(r"@|\b(?:tel|phone|fon|fax|mobil\w?|e-?mail|call|contact|vat|ust)\b|\+\d", re.I)
#: Pages on which a company tells of itself, the most telling first: by their links' words.
_PAGES = {
    "imprint": re.compile(r"(?i)\s*(?:imprint|impressum|legal notice|mentions légales)\b"),
    "contact": re.compile(r"(?i)\s*(?:contact(?: us)?|kontakt|contacto|contatti|get in touch)\b"),
    "about": re.compile(
        r"(?i)\s*(?:about(?: us)?|our company|company|who we are|über uns|ueber uns|unternehmen"
        r"|à propos|quienes somos|chi siamo|over ons)\b"
    ),
}
_TOLD_ELSEWHERE = {
    "contact_email": ("imprint", "contact"),
    "contact_phone": ("imprint", "contact"),
    "headquarters": ("imprint", "contact", "about"),
    "industry": ("about",),
    "employee_count_range": ("about",),
}
_HAS_NUMBER = re.compile(r"\d")


def extract(document: Document) -> Extraction:
    """Read the company whose site the page is on."""
    findings = Findings()
    organisations = own_organisations(document)
    if not add_name(findings, "company_name", _names(document, organisations)):
        return findings.failed(KIND, ExtractReason.TITLE_NOT_FOUND, "no name of a company")
    for organisation in organisations:
        _add_structured(findings, organisation)
    _add_shown(findings, document)
    add_first(findings, "contact_email", contact_email(document, organisations))
    region = _country(findings.get("headquarters"))
    add_first(findings, "contact_phone", contact_phone(document, organisations, region))
    add_first(findings, "website_url", _addresses(document, organisations))
    return findings.found(KIND)


def _names(document: Document, organisations: list[Thing]) -> Iterator[Found]:
    for organisation in organisations:
        yield from organisation.found("name")
    for site in things_of(document):
        if "WebSite" in site.types:
            yield Found(_proper(site.text("name")), site.source("name"))
    for name in ("og:site_name", "application-name", "apple-mobile-web-app-title"):
        yield Found(_proper(document.meta_value(name)), f"meta {name}")
    yield Found(_name_in_title(document), "page title")
    yield Found(_name_in_footer(document), "page copyright line")
    yield Found(_whole_title(document), "page title")


def _proper(text: str) -> str:
    """A text, unless it is what a page calls itself when nobody has named it."""
    name = _WELCOME.sub("", text).strip(" -|:!")
    return name if len(name) <= MAX_NAME and bare(name) not in _NOT_NAMES else ""


def _name_in_title(document: Document) -> str:
    """The part of the title that the domain is named after."""
    label = bare(domain_label(document))
    title = document.title[:MAX_FOOTER]
    parts = map(_proper, chain(title_parts(title), _COLON.split(title)))
    return min((part for part in parts if _gave_name(part, label)), key=len, default="")


def _gave_name(part: str, label: str) -> bool:
    """Whether a domain's name is a text, or most of it, or the other way round."""
    spellings = (bare(part), bare(part.replace("&", " and ")))
    return bool(label) and any(
        (one in label and len(one) * 2 > len(label))
        or (label in one and len(one) - len(label) <= MAX_SURPLUS)
        for one in spellings
    )


def _name_in_footer(document: Document) -> str:
    """Who claims the copyright, in the last element that claims it."""
    for node in reversed(document.css(_LINES)[-MAX_LINES:]):
        own = node.text(deep=False)[-MAX_FOOTER:]
        if _CLAIM.search(own) and (line := _COPYRIGHT.search(glance(node))):
            return _proper(_holder(line[1]))
    return ""


def _holder(text: str) -> str:
    """A name without what follows it: its legal form ends it, or what else footers say."""
    if legal := _LEGAL_FORM.match(text):
        return legal[0]
    return _RIGHTS.split(text, maxsplit=1)[0].strip(" .,-|")


def _whole_title(document: Document) -> str:
    """The title, if it is short and all one: of two parts either may be the slogan."""
    parts = [part for part in map(_proper, title_parts(document.title)) if part]
    return parts[0] if len(parts) == 1 and len(parts[0]) <= MAX_TITLE else ""


def _add_structured(findings: Findings, organisation: Thing) -> None:
    add_first(findings, "description", organisation.found("description", "slogan"))
    add_first(findings, "industry", organisation.found("industry"))
    if headcount := structured_headcount(organisation):
        findings.add("employee_count_range", *headcount)
    if seat := _seat(organisation):
        source, text = organisation.source("address"), place_text(seat)
        findings.add("headquarters", seat, source, text)


def _seat(organisation: Thing) -> Place | None:
    """The one address, or the one that is called headquarters; of several none is better."""
    for place in organisation.things("location", "address"):
        if "headq" in place.text("name", "@type", "description").lower():
            return next(places_of(place), None)
    for name in ("address", "location"):
        places = list(places_in(organisation, name))
        if len({place_text(place) for place in places}) == 1:
            return places[0]
    return None


def _add_shown(findings: Findings, document: Document) -> None:
    tags = (Found(document.meta_value(name), f"meta {name}") for name in _DESCRIPTIONS)
    add_first(findings, "description", tags)
    shown = labelled_values(document, _FIELD_OF)
    add_first(findings, "industry", shown.get("industry", ()), _short)
    sizes = shown.get("employee_count_range", ())
    add_first(findings, "employee_count_range", sizes, read_headcount)
    seats = chain(shown.get("headquarters", ()), _told_seats(document), _address_elements(document))
    add_first(findings, "headquarters", seats)
    if "employee_count_range" not in findings.fields:
        told = headcount_in_words(document.visible_text)
        findings.add("employee_count_range", told, "page text")


def _short(text: str) -> str:
    return text if len(text) <= MAX_INDUSTRY else ""


def _told_seats(document: Document) -> Iterator[Found]:
    for match in _HEADQUARTERED.finditer(document.visible_text):
        if name := _CAPITALISED.match(match[1]):
            yield Found(name[0].strip(" ,"), "page text")


def _address_elements(document: Document) -> Iterator[Found]:
    """The place in the page's address element, if all of them say the same."""
    nodes = [node for node in document.css("address")[:MAX_ADDRESSES] if not is_elsewhere(node)]
    places = {place for node in nodes if (place := _postal(node))}
    if len(places) == 1:
        yield Found(places.pop(), "page address")


def _postal(node: Node) -> str:
    """The lines of an address that are neither a link's nor for calling or writing."""
    lines = [fold(line) for line in node.text(separator="\n").split("\n")]
    linked = {text_of(link) for link in node.css("a")}
    kept = [line.strip(" ,") for line in lines if line not in linked and not _REACH.search(line)]
    text = ", ".join(line for line in kept if line)
    return text if len(text) <= MAX_PLACE and ("," in text or _HAS_NUMBER.search(text)) else ""


def _country(place: Place | None) -> str:
    """The country code that a postal address gives; empty if there is none."""
    code = place.get("addressCountry", "") if isinstance(place, dict) else ""
    return code.upper() if len(code) == len("DE") else ""


def _addresses(document: Document, organisations: list[Thing]) -> Iterator[Found]:
    for organisation in organisations:
        for found in organisation.found("url"):
            url = document.absolute(found.value)
            if url and is_own_address(document, url):
                yield Found(url, found.source)
    yield Found(document.absolute("/") or page_url(document), "page URL")


def further(document: Document, extraction: Extraction) -> list[str]:
    """The site's pages about itself and for getting in touch, if something is missing."""
    missing = [name for name in _TOLD_ELSEWHERE if name not in extraction.fields]
    wanted = {words for name in missing for words in _TOLD_ELSEWHERE[name]}
    found: dict[str, str] = {}
    for link in document.links[:MAX_LINKS]:
        for words in wanted - found.keys():
            if _PAGES[words].search(_last_part(link.url)) or _PAGES[words].match(link.text):
                found[words] = link.url
    return [found[words] for words in _PAGES if words in found]


def _last_part(url: str) -> str:
    """What a path ends in, as words."""
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    return path.rstrip("/").partition("/")[2].rpartition("/")[2].replace("-", " ").replace("_", " ")


ADAPTER = Adapter(id=KIND, version="1.1.0", gives=KIND, extract=extract, further=further)
