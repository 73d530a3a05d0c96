"""Contacts: e-mail addresses and phone numbers in texts and links.

A phone number without its country code is read only where the caller knows the region: the same
digits ring somewhere in every country.
"""

import re
from itertools import islice
from urllib.parse import unquote

import phonenumbers

MAX_LENGTH = 20_000
MAX_PHONE_LENGTH = 120
MAX_LOCAL_PART = 64
MAX_DOMAIN = 253

_AT = re.compile(r"\s{0,3}[(\[{<]\s{0,3}(?:at|ät|@)\s{0,3}[)\]}>]\s{0,3}", re.IGNORECASE)
_DOT = re.compile(
    r"\s{0,3}[(\[{<]\s{0,3}(?:dot|punkt|point|\.)\s{0,3}[)\]}>]\s{0,3}", re.IGNORECASE
)
_EMAIL = re.compile(
    # Not from the middle of a word, nor from behind a letter that addresses do not have.
    r"(?<![A-Za-z0-9_.+%@À-ɏ-])(?<![A-Za-z]')"
    r"([A-Za-z0-9_](?:[A-Za-z0-9_+'-]|\.(?=[A-Za-z0-9_+-])){0,63})"
    r"@((?:[^\W_](?:[^\W_]|-(?=[^\W_]|-)){0,62}\.){1,8}"
    r"(?:[Xx][Nn]--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24}))(?![A-Za-z0-9@-])"
)
# The local part of a Sentry key and of other machine-made names.
_MACHINE_NAME = re.compile(r"[0-9a-f]{24,}", re.IGNORECASE)
_FILE_ENDINGS = frozenset(
    [
        *("avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "svg", "tif", "tiff", "webp"),
        *("css", "htm", "html", "js", "json", "mp4", "pdf", "php", "ttf", "webm", "woff", "woff2"),
    ]
)
_PLACEHOLDERS = re.compile(
    r"(?:[^@]{1,200}\.)?(?:example\.(?:com|org|net|edu)|your-?(?:domain|site|company|email)\.com|"
    r"[^.]{1,63}\.(?:example|test|invalid|localhost))"
)
_URL_BEFORE = re.compile(r"://\S{0,253}$")
# The matcher looks hard at every group of digits; a text with more than these lists parts.
_MAX_TRIES = 200
_MAX_PHONES = 50


def find_emails(text: str) -> tuple[str, ...]:
    """The e-mail addresses in a text or `mailto:` link, in order, each once."""
    plain = text[:MAX_LENGTH]
    if "mailto:" in plain[:40].lower():
        plain = unquote(plain, errors="ignore")
    plain = _DOT.sub(".", _AT.sub("@", plain))
    found = (_address(match) for match in _EMAIL.finditer(plain))
    return tuple(dict.fromkeys(address for address in found if address))


def _address(match: re.Match[str]) -> str | None:
    local, domain = match[1], match[2].lower()
    if _is_inside_url(match) or len(domain) > MAX_DOMAIN:
        return None
    if len(domain) != len(match[2]):
        # The Turkish I with a dot becomes a letter and a dot, which is no letter of a name.
        return None
    if domain.rpartition(".")[2] in _FILE_ENDINGS or _MACHINE_NAME.fullmatch(local):
        return None
    return None if _PLACEHOLDERS.fullmatch(domain) else f"{local}@{domain}"


def _is_inside_url(match: re.Match[str]) -> bool:
    """Whether it is the user name of a URL, or a part of its path."""
    before = match.string[max(0, match.start() - MAX_DOMAIN) : match.start()]
    return _URL_BEFORE.search(before) is not None


def read_phone(text: str, region: str | None = None) -> str | None:
    """The one phone number of a text or `tel:` link as E.164, without its extension.

    None if it is not valid, or has no country code and no region (ISO 3166) is given.
    """
    if len(text) > MAX_PHONE_LENGTH:
        return None
    try:
        number = phonenumbers.parse(_without_scheme(text), _region_code(region))
    except phonenumbers.NumberParseException:
        return None
    return _e164(number) if phonenumbers.is_valid_number(number) else None


def find_phones(text: str, region: str | None = None) -> tuple[str, ...]:
    """The valid phone numbers in a text as E.164, in order, each once."""
    matches = phonenumbers.PhoneNumberMatcher(
        _without_scheme(text[:MAX_LENGTH]),
        _region_code(region),
        leniency=phonenumbers.Leniency.VALID,
        max_tries=_MAX_TRIES,
    )
    return tuple(dict.fromkeys(_e164(match.number) for match in islice(matches, _MAX_PHONES)))


def _without_scheme(text: str) -> str:
    """The number of a `tel:` link, or the text itself."""
    scheme, _, number = text.strip().partition(":")
    return unquote(number, errors="ignore") if scheme.lower() == "tel" else text


def _region_code(region: str | None) -> str | None:
    code = (region or "").strip().upper()
    return code if code in phonenumbers.SUPPORTED_REGIONS else None


def _e164(number: phonenumbers.PhoneNumber) -> str:
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
