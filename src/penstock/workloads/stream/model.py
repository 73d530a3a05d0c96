"""What the page fetcher says to others: events of pages, and why there is none."""

from datetime import datetime
from hashlib import sha256
from typing import Literal

from pydantic import BaseModel

from penstock.kernel.model import Failure, Page, SiteWide

NAME = "stream"
_PAGES = "webpage:"


class WebpageEvent(BaseModel):
    """A page that was fetched; its body is in the cache under `cache_key`, for a while."""

    type: Literal["webpage_fetched"] = "webpage_fetched"
    url: str
    cache_key: str
    status_code: int
    content_type: str | None
    content_length: int
    content_hash: str
    fetched_at: datetime


class SiteWideFailure(BaseModel):
    """The site as a whole does not answer."""

    type: Literal["site_wide"] = "site_wide"
    reason: str


class UrlSpecificFailure(BaseModel):
    """This URL has no page."""

    type: Literal["url_specific"] = "url_specific"
    status_code: int | None
    reason: str


FetchFailure = SiteWideFailure | UrlSpecificFailure


def key_of(url: str) -> str:
    """What names a URL: the hash of the text as it was pushed."""
    return sha256(url.encode("utf-8", "surrogateescape")).hexdigest()


def cache_key(url: str) -> str:
    """Where the body of a page is."""
    return f"{_PAGES}{key_of(url)}"


def key_in(key: str) -> str:
    """What names the URL whose page is under a key of the cache."""
    return key.removeprefix(_PAGES)


def event_of(url: str, page: Page, fetched_at: datetime) -> WebpageEvent:
    """The event of a page."""
    return WebpageEvent(
        url=url,
        cache_key=cache_key(url),
        status_code=page.status,
        # As it came: without the charset the body could not be decoded.
        content_type=page.headers.get("Content-Type"),
        content_length=len(page.body),
        content_hash=sha256(page.body).hexdigest(),
        fetched_at=fetched_at,
    )


def wire_form(failure: Failure) -> FetchFailure:
    """A failure as it is written for others."""
    reason = str(failure)
    if isinstance(failure, SiteWide):
        return SiteWideFailure(reason=reason)
    return UrlSpecificFailure(status_code=failure.status, reason=reason)
