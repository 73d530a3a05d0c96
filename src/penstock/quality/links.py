"""Addresses from pages: https, without tracking and fragment, and still to be fetched."""

import re
from urllib.parse import unquote_plus

from penstock.core.errors import UrlError
from penstock.core.urls import (
    DEFAULT_PORTS,
    MAX_URL_LENGTH,
    TRACKING_PARAMETERS,
    TRACKING_PREFIX,
    Url,
    parse,
)

#: What the URL parser would not change: most addresses, for a tenth of its price.
PLAIN_URL = re.compile(
    r"https://(?:[a-z][a-z0-9-]{0,39}\.){1,3}[a-z]{2,40}"
    r"(?:/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)?)+(?:\?[A-Za-z0-9._~&=,+/-]*)?"
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPED_AMPERSAND = re.compile(r"&(?:amp;)+")


def clean_url(text: str, base: str = "") -> str | None:
    """The address of a page as https, without tracking and fragment; None if it is none.

    Unlike the canonical form of `core.urls` it can be fetched: parameters keep their order.
    """
    text = text.strip()
    if not text or text.startswith("#"):
        return None
    if "&amp;" in text:
        text = _ESCAPED_AMPERSAND.sub("&", text)
    try:
        href = text if PLAIN_URL.fullmatch(text) else _as_https(_parsed(text, base))
    except UrlError:
        return None
    cleaned = _without_tracking(href)
    return cleaned if len(cleaned) <= MAX_URL_LENGTH else None


def _parsed(text: str, base: str) -> Url:
    if base and not _SCHEME.match(text):
        return parse(text, base=parse(base.strip()))
    return parse(f"https:{text}" if text.startswith("//") else text)


def _as_https(url: Url) -> str:
    if url.scheme == "https":
        return url.href
    upgraded = f"https{url.href.removeprefix('http')}"
    # A port that was odd for http may be the one of https.
    return upgraded if url.port == DEFAULT_PORTS["http"] else parse(upgraded).href


def _without_tracking(href: str) -> str:
    page, asks, query = href.partition("?")
    if not asks:
        return page
    kept = "&".join(pair for pair in query.split("&") if not _is_tracking(pair))
    return f"{page}?{kept}" if kept else page


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    if "%" in name or "+" in name:
        name = unquote_plus(name).lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIX)
