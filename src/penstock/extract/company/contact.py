"""A company's own e-mail address and phone number, among those of others on its pages."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from penstock.core.errors import UrlError
from penstock.extract.company.organisations import is_own_domain
from penstock.extract.page.document import Document, Node, text_of
from penstock.extract.page.labels import ELSEWHERE, is_elsewhere
from penstock.extract.page.things import Found, Thing
from penstock.extract.values.contact import find_emails, find_phones, read_phone

MAX_LINKS = 200
MAX_AREAS = 20
MAX_AREA = 5_000
MAX_TEXT = 20_000
MAX_PHONE = 40
FEWEST_DIGITS = 6
COUNTRY_CODE = 2

_AREAS = (
    "footer,address,[class*=contact i],[id*=contact i],[class*=kontakt i],[id*=kontakt i]"
    ",[class*=impressum i],[class*=imprint i]"
)
_BEHIND = ELSEWHERE - {"nav", "a"}

#: Nobody reads it, or somebody who may not answer.
_NOT_FOR_CONTACT = re.compile(
    r"no-?_?reply|do-?not-?reply|mailer-daemon|postmaster|bounce|unsubscribe|abuse|^dpo\b|gdpr|rgpd"
    r"|dsgvo|^rodo\b|^iod\b|privacy|privacidad|datenschutz|data-?protection|ochronadanych",
    re.I,
)
_WELCOMING = re.compile(
    r"(?:info|contact|contacts|hello|hi|hallo|hola|bonjour|office|mail|post|kontakt|contacto|contatti"
    r"|enquiries|inquiries|service|welcome|team)(?:[._+-].{0,20})?",
    re.I,
)
_FOR_A_PURPOSE = re.compile(
    r"(?:jobs?|careers?|karriere|recruit\w{0,8}|talent|hr|bewerbung\w{0,3}|hiring|apply|press|presse"
    r"|media|legal|security|billing|accounting|invoices?|investors?|ir|webmaster|admin)"
    r"(?:[._+-].{0,20})?",
    re.I,
)
_FREE_MAIL = frozenset(
    [
        *["aol.com", "bluewin.ch", "free.fr", "gmail.com", "gmx.at", "gmx.ch", "gmx.de", "gmx.net"],
        *["googlemail.com", "hotmail.com", "icloud.com", "libero.it", "live.com", "mail.com"],
        *["orange.fr", "outlook.com", "proton.me", "protonmail.com", "t-online.de", "wanadoo.fr"],
        *["web.de", "yahoo.com"],
    ]
)
_FAX = re.compile(r"\b(?:tele)?fax\b[^\d+]{0,20}[+\d][\d\s()/.-]{4,30}", re.I)
_NOT_DIALLED = re.compile(r"[^\d+()/. x#-]")
#: Country endings that are sold as words.
_WORD_ENDINGS = frozenset(
    ["ai", "cc", "co", "eu", "fm", "gg", "io", "la", "ly", "me", "sh", "so", "to", "tv", "ws"]
)


def contact_email(document: Document, organisations: list[Thing]) -> list[Found]:
    """Addresses to write to, best first: for anybody before for a purpose, declared before told."""
    stages = (_declared(document, organisations), _linked(document), _told(document))
    found = [one for stage in stages for one in sorted(stage, key=_is_reserved)]
    usable = [one for one in found if not _NOT_FOR_CONTACT.search(one.value)]
    return sorted(usable, key=_is_for_a_purpose)


def _is_reserved(found: Found) -> bool:
    return not _WELCOMING.fullmatch(found.value.partition("@")[0])


def _is_for_a_purpose(found: Found) -> bool:
    return bool(_FOR_A_PURPOSE.fullmatch(found.value.partition("@")[0]))


def _declared(document: Document, organisations: list[Thing]) -> Iterator[Found]:
    for found in _properties(organisations, "email"):
        for address in _emails_in(document, found.value):
            yield Found(address, found.source)


def _properties(organisations: list[Thing], *names: str) -> Iterator[Found]:
    for organisation in organisations:
        for thing in (organisation, *organisation.things("contactPoint", "contactPoints")):
            yield from thing.found(*names)


def _linked(document: Document) -> list[Found]:
    """The addresses of links: the company's, or a stranger's if it is the only one."""
    nodes = document.css("a[href^='mailto:' i]")[:MAX_LINKS]
    links = [node.attributes.get("href") or "" for node in nodes if not is_elsewhere(node, _BEHIND)]
    addresses = dict.fromkeys(
        address
        for link in links
        for address in _emails_in(document, unquote(link.partition("?")[0]))[:1]
    )
    known = [address for address in addresses if _is_own(document, address) or _is_free(address)]
    chosen = known or (list(addresses) if len(addresses) == 1 else [])
    return [Found(address, "page mailto link") for address in chosen]


def _told(document: Document) -> Iterator[Found]:
    """The addresses in texts: the company's, and where it says how to reach it, free ones."""
    for address in _emails_in(document, _areas(document)):
        if _is_own(document, address) or _is_free(address):
            yield Found(address, "page contact text")
    for text in (document.visible_text[:MAX_TEXT], document.visible_text[-MAX_TEXT:]):
        for address in _emails_in(document, text):
            if _is_own(document, address):
                yield Found(address, "page text")


def _emails_in(document: Document, text: str) -> list[str]:
    # An address at the site's own domain is no placeholder, whatever the domain is.
    domain = re.escape(_domain(document))
    own = re.findall(
        rf"(?<![\w.+-])[\w.+-]{{1,64}}@(?:[\w-]{{1,63}}\.){{0,3}}{domain}\b", text, re.I
    )
    return list(dict.fromkeys([*own, *find_emails(text)]))


def _domain(document: Document) -> str:
    try:
        return document.location.domain
    except UrlError:
        return "invalid"


def _is_own(document: Document, address: str) -> bool:
    return is_own_domain(document, address.rpartition("@")[2])


def _is_free(address: str) -> bool:
    return address.rpartition("@")[2].lower() in _FREE_MAIL


def _areas(document: Document) -> str:
    """The texts of the parts of a page that say how to reach its owner."""
    nodes = [node for node in document.css(_AREAS)[-MAX_AREAS:] if not is_elsewhere(node, _BEHIND)]
    return " \n ".join(text_of(node)[:MAX_AREA] for node in nodes)[:MAX_TEXT]


def contact_phone(document: Document, organisations: list[Thing], country: str) -> Iterator[Found]:
    """Numbers to call, best first; a country code is needed to read those without a prefix."""
    region = country or _region(document)
    for found in _properties(organisations, "telephone", "phone"):
        yield Found(_phone(found.value, region), found.source)
    for node in document.css("a[href^='tel:' i]")[:MAX_LINKS]:
        if not is_elsewhere(node, _BEHIND) and not _is_fax(node):
            number = unquote((node.attributes.get("href") or "")[len("tel:") :])
            yield Found(_phone(number, region), "page tel link")
    for number in find_phones(_FAX.sub(" ", _areas(document)), region):
        yield Found(number, "page contact text")
    numbers = find_phones(_FAX.sub(" ", document.visible_text[-MAX_TEXT:]), region)
    if len(numbers) == 1:
        yield Found(numbers[0], "page text")


def _phone(text: str, region: str) -> str:
    """A number in its international form, or as it is written if nobody says of which country."""
    text = _NOT_DIALLED.sub("", text).strip()
    if number := read_phone(text, region):
        return number
    is_local = not region and not text.startswith(("+", "00")) and len(text) <= MAX_PHONE
    return text if is_local and sum(map(str.isdigit, text)) >= FEWEST_DIGITS else ""


def _is_fax(node: Node) -> bool:
    before = node.prev.text() if node.prev is not None else ""
    return "fax" in f"{before[-MAX_PHONE:]} {text_of(node)[:MAX_PHONE]}".lower()


def _region(document: Document) -> str:
    """The country that the page's language or the end of its domain names; empty if neither."""
    spoken = document.language.partition("-")[2]
    if len(spoken) == COUNTRY_CODE:
        return spoken.upper()
    ending = _domain(document).rpartition(".")[2]
    if len(ending) != COUNTRY_CODE or ending in _WORD_ENDINGS:
        return ""
    return "GB" if ending == "uk" else ending.upper()
