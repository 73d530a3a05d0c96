"""The links of a page that may be followed: `nofollow` is honoured on links and on whole pages."""

from collections.abc import Mapping

from penstock.core.errors import UrlError
from penstock.core.urls import Url, parse
from penstock.extract.page.document import MAX_LINKS, Document, Node
from penstock.kernel.document import decode, robots_tags
from penstock.kernel.model import NO_HEADERS

#: What a page, or one of its links, says if it is not to be followed.
NO_FOLLOWING = frozenset({"nofollow", "none"})


def links_to_follow(
    body: bytes, url: str, content_type: str = "", headers: Mapping[str, str] = NO_HEADERS
) -> tuple[Url, ...]:
    """Where the links of a page lead, in order, each once; none if the page forbids it."""
    if NO_FOLLOWING & set(robots_tags(body, headers)):
        return ()
    document = Document(decode(body, content_type), url)
    found: dict[str, Url] = {}
    for node in document.css("a[href], area[href]")[:MAX_LINKS]:
        link = _target(document, node)
        if link is not None:
            found.setdefault(link.href, link)
    return tuple(found.values())


def _target(document: Document, node: Node) -> Url | None:
    words = (node.attributes.get("rel") or "").lower().split()
    reference = (node.attributes.get("href") or "").strip()
    if "nofollow" in words or not reference or reference.startswith("#"):
        return None
    absolute = document.absolute(reference)
    try:
        return parse(absolute) if absolute else None
    except UrlError:
        return None
