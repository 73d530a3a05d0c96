"""Pages that were kept, and what was written of them: as they can be looked at and read again."""

from collections.abc import Mapping
from typing import Any

from penstock.kernel.model import Page

#: In a result's document: what was read, with the page's own verdict.
RECORD, EVIDENCE = "record", "evidence"


def page_of(document: Mapping[str, Any], body: bytes) -> Page | None:
    """The page of a result, with the headers that say how to read it; None if there was none."""
    page = document.get("page")
    if not page:
        return None
    headers = dict(document.get("headers") or {"Content-Type": page.get("content_type") or ""})
    return Page(page["url"], page["status"], headers, body, 0.0, page.get("fetcher", "http"))


def record_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was read from the page, as `Reading.as_json` gives it; empty if nothing was."""
    return document.get(RECORD) or {}
