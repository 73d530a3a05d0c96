"""What a caller gets of an outcome: the fields of its record, or its page in some forms."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from penstock.blobs.ports import Blobs
from penstock.kernel.model import Outcome, Page
from penstock.kernel.reading import Reading, record_json
from penstock.kernel.records import Accept, Drop, DropReason, Product
from penstock.store.schema import storable
from penstock.workloads.scrape.model import PAGE_FIELDS, Format
from penstock.workloads.scrape.texts import Texts, TextTooSlow

MEDIA_TYPES = {
    Format.HTML: "text/html; charset=utf-8",
    Format.TEXT: "text/plain; charset=utf-8",
    Format.MARKDOWN: "text/markdown; charset=utf-8",
    Format.SCREENSHOT: "image/png",
}
#: An offer that is sold out or says nothing of its stock is an answer all the same.
GOOD_ENOUGH = frozenset({DropReason.UNKNOWN_AVAILABILITY, DropReason.OOS_NO_PRICE})
#: A record that says nothing else says nothing.
ADDRESSES = frozenset({"url", "website_url", "posting_url", "profile_url"})
NOTHING_FOUND, TEXT_TIMEOUT = "nothing_found", "text_timeout"
LONGEST_TITLE = 512
READABLE = (Format.TEXT, Format.MARKDOWN)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,2000})", re.I)


@dataclass(frozen=True, slots=True)
class File:
    """Something that is kept as a blob."""

    name: str
    address: str
    media_type: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Content:
    """What came of a task: a result, or the word for why there is none."""

    result: Mapping[str, Any] | None = None
    error: str | None = None
    files: Sequence[File] = field(default_factory=tuple)


def judge(outcome: Outcome, requested: Sequence[str] | None) -> Content:
    """The fields of an outcome's record; what cannot be trusted is no result."""
    if outcome.failure:
        return Content(error=outcome.failure.reason)
    if outcome.reading is None:
        return Content(error=NOTHING_FOUND)
    if problem := _problem_with(outcome.reading):
        return Content(error=problem)
    return Content(_limited(record_json(outcome.reading.record), requested))


def _problem_with(reading: Reading) -> str | None:
    verdict, record = reading.judgment.verdict, reading.record
    if isinstance(record, Product):
        match verdict:
            case Accept():
                return None
            case Drop(reason) if reason in GOOD_ENOUGH:
                return None
            case None:
                return str(reading.extraction.reason)
        return str(verdict.reason)
    found = record.model_dump(exclude_defaults=True)
    return None if found.keys() - ADDRESSES else NOTHING_FOUND


def _limited(fields: Mapping[str, Any], requested: Sequence[str] | None) -> Mapping[str, Any]:
    if requested is None:
        return fields
    return {name: fields[name] for name in requested if name in fields}


async def render(
    outcome: Outcome,
    formats: Sequence[str],
    requested: Sequence[str] | None,
    *,
    texts: Texts,
    blobs: Blobs,
    inline_bytes: int,
) -> Content:
    """A page in the forms that are wanted; what is long becomes a file."""
    page = outcome.page
    if outcome.failure or page is None:
        reason = outcome.failure.reason if outcome.failure else NOTHING_FOUND
        return Content(error=reason)
    wanted = [name for name in formats if requested is None or name in requested]
    title = await asyncio.to_thread(_title_of, page)
    try:
        found = await _texts_of(page, wanted, texts)
    except TextTooSlow:
        return Content(error=TEXT_TIMEOUT)
    fields: dict[str, Any] = dict.fromkeys(PAGE_FIELDS)
    fields |= {
        "url": page.url,
        "status": page.status,
        "content_type": page.content_type,
        "title": title,
    }
    files = []
    for name, text in found.items():
        data = await asyncio.to_thread(_as_stored, text)
        if len(data) <= inline_bytes:
            fields[name] = text
        else:
            files.append(await _keep(blobs, Format(name), data))
    if Format.SCREENSHOT in wanted and page.screenshot:
        files.append(await _keep(blobs, Format.SCREENSHOT, page.screenshot))
    return Content(_limited(fields, requested), files=files)


async def _keep(blobs: Blobs, form: Format, data: bytes) -> File:
    return File(form.value, await blobs.put(data), MEDIA_TYPES[form], len(data))


def _as_stored(text: str) -> bytes:
    return storable(text).encode()


def _title_of(page: Page) -> str | None:
    title = _TITLE.search(page.text) if page.is_html else None
    return " ".join(unescape(title[1]).split())[:LONGEST_TITLE] if title else None


async def _texts_of(page: Page, wanted: Sequence[str], texts: Texts) -> dict[str, str]:
    """The texts of a page, by form; one that cannot be made is left out."""
    if not page.is_html:
        is_text = page.content_type.startswith("text/")
        return {Format.TEXT.value: page.text} if is_text and Format.TEXT in wanted else {}
    found = {Format.HTML.value: page.text} if Format.HTML in wanted else {}
    if readable := [form for form in READABLE if form in wanted]:
        found |= await texts.make(page.text, page.url, readable)
    return found
