"""URLs: parsed once by the WHATWG rules, and what is derived from them.

`parse` gives the URL that is checked, asked of robots and fetched. `canonical` gives an
identity for de-duplication; nobody ever fetches it.
"""

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from urllib.parse import unquote_plus

import ada_url
import tldextract

from penstock.core.errors import UrlError

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 8192
MAX_HOST_LENGTH = 253
MAX_LABEL_LENGTH = 63

TRACKING_PARAMETERS = frozenset(
    [
        "campaign",
        "dclid",
        "fbclid",
        "gbraid",
        "gclid",
        "gclsrc",
        "igshid",
        "mc_cid",
        "mc_eid",
        "msclkid",
        "ref",
        "source",
        "twclid",
        "wbraid",
        "yclid",
    ]
)
TRACKING_PREFIX = "utm_"

#: Parsers take more, but a name with other characters is nobody's; `_` is in some that are used.
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9._-]")
_NOT_IN_A_URL = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


@dataclass(frozen=True, slots=True)
class Url:
    """A URL in its parsed form; `host` has no trailing dot and no brackets."""

    href: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: what robots rules and caller headers belong to."""
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and, unless it is the scheme's own, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"

    @property
    def domain(self) -> str:
        """The registrable domain: the key of every budget and breaker."""
        return registrable_domain(self.host)


def parse(text: str, base: Url | None = None) -> Url:
    """Parse a URL as a browser would; raise `UrlError` for what Penstock does not take."""
    _check_length(text)
    if _NOT_IN_A_URL.search(text):
        raise UrlError("characters", "the URL has control characters or backslashes")
    try:
        href = ada_url.join_url(base.href, text) if base else _normalised(text)
    except (ValueError, UnicodeError) as error:
        raise UrlError("syntax", "this is not an absolute URL") from error
    # Percent-encoding and a base make it longer.
    _check_length(href)
    return _split(href)


def _check_length(url: str) -> None:
    if len(url) > MAX_URL_LENGTH:
        raise UrlError("length", f"the URL is longer than {MAX_URL_LENGTH} characters")


def _normalised(text: str) -> str:
    # One attribute from the parser costs half of what a URL object does.
    href: str = ada_url.parse_url(text, attributes=("href",))["href"]
    return href


def _split(href: str) -> Url:
    """Take a normalised href apart; cheaper than asking the parser for each part."""
    scheme, separator, rest = href.partition("://")
    if scheme not in DEFAULT_PORTS or not separator:
        raise UrlError("scheme", "only http and https URLs are fetched")
    href, _, _ = href.partition("#")
    authority, slash, target = rest.partition("#")[0].partition("/")
    if "@" in authority:
        raise UrlError("user-info", "a user name or password in a URL is not accepted")
    host, port = authority, ""
    if not authority.endswith("]"):
        host, _, port = authority.rpartition(":") if ":" in authority else (authority, "", "")
    host = check_host(host)
    return Url(href, scheme, host, int(port) if port else DEFAULT_PORTS[scheme], slash + target)


@lru_cache(maxsize=65536)
def check_host(host: str) -> str:
    """Return a parsed host as a key: without brackets and trailing dot."""
    if host.startswith("["):
        return host[1:-1]
    name = host.removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_HOST_LENGTH or not all(0 < len(x) <= MAX_LABEL_LENGTH for x in labels):
        raise UrlError("host", "the host name has an empty or too long label")
    if _NOT_IN_A_NAME.search(name):
        raise UrlError("host", "the host name has characters that no site's name has")
    return name


def bare_host(text: str) -> str:
    """A host name that somebody wrote down, as a key; raise `UrlError` if it is more or less."""
    name = text.strip()
    is_bare_address = ":" in name and ip_literal(name) is not None
    url = parse(f"http://[{name}]/" if is_bare_address else f"http://{name}/")
    if "#" in name or url.target != "/" or url.port != DEFAULT_PORTS["http"]:
        raise UrlError("host", "this is not a bare host name")
    return url.host


def ip_literal(host: str) -> IpAddress | None:
    """The address, if the host is one rather than a name."""
    if not (host[-1:].isdigit() or ":" in host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


@cache
def _suffix_list() -> tldextract.TLDExtract:
    return tldextract.TLDExtract(
        suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
    )


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """eTLD+1 by the bundled public suffix list; an address or bare name is its own domain."""
    if ip_literal(host) is not None:
        return host
    parts = _suffix_list().extract_str(host)
    if parts.suffix and parts.domain:
        return f"{parts.domain}.{parts.suffix}"
    if parts.suffix:
        return host
    return ".".join(host.split(".")[-2:])


def canonical(url: Url) -> str:
    """The identity of a URL: one string for all spellings of the same page."""
    if url.port in (DEFAULT_PORTS["https"], DEFAULT_PORTS[url.scheme]):
        authority = Url("", "https", url.host, DEFAULT_PORTS["https"], "").authority
    else:
        authority = url.authority
    path, _, query = url.target.partition("?")
    pairs = (pair for pair in query.split("&") if _identifies(pair))
    kept = "&".join(sorted(pairs, key=_parameter_name))
    return f"https://{authority}{path.rstrip('/') or '/'}" + (f"?{kept}" if kept else "")


def _identifies(pair: str) -> bool:
    """Whether a query parameter is part of a page's identity: has a value, tracks nobody."""
    if not pair.partition("=")[2]:
        return False
    name = unquote_plus(_parameter_name(pair)).lower()
    return name not in TRACKING_PARAMETERS and not name.startswith(TRACKING_PREFIX)


def _parameter_name(pair: str) -> str:
    return pair.partition("=")[0]


def identity(url: Url) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical(url).encode()).hexdigest()
