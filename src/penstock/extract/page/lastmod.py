"""When a site says that a page last changed: a year, a month, a day or a moment."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

MAX_LENGTH = 64

_YEAR = re.compile(r"[0-9]{4}")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = timedelta(0)


class Lastmod(NamedTuple):
    """The first and the last moment that a date may mean, in UTC."""

    first: datetime
    last: datetime

    def may_be_after(self, moment: datetime) -> bool:
        """Whether the page may have changed after a moment."""
        return self.last > moment


def read_lastmod(text: str) -> Lastmod | None:
    """A date by the W3C's profile of ISO 8601, or as mails and feeds write it; else None."""
    text = text.strip()
    if not text or len(text) > MAX_LENGTH:
        return None
    try:
        first, width = _read(text)
        first = first.astimezone(UTC) if first.tzinfo else first.replace(tzinfo=UTC)
        return Lastmod(first, first + width)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _read(text: str) -> tuple[datetime, timedelta]:
    if _YEAR.fullmatch(text):
        return datetime.fromisoformat(f"{text}-01-01"), timedelta(days=366)
    if _MONTH.fullmatch(text):
        return datetime.fromisoformat(f"{text}-01"), timedelta(days=31)
    if _DAY.fullmatch(text):
        return datetime.fromisoformat(text), timedelta(days=1)
    if text[0].isdigit() and _DAY.match(text):
        return datetime.fromisoformat(text), _MOMENT
    return parsedate_to_datetime(text), _MOMENT
