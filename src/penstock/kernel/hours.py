"""Hours: the part of the day in which a domain may be asked."""

from datetime import datetime, timedelta

from penstock.kernel.policy import AllowedHours


def is_open(hours: AllowedHours | None, now: datetime) -> bool:
    """Whether the moment lies in the window; start included, end not, midnight crossed."""
    if hours is None:
        return True
    if hours.start < hours.end:
        return hours.start <= now.hour < hours.end
    return now.hour >= hours.start or now.hour < hours.end


def next_opening(hours: AllowedHours | None, now: datetime) -> datetime:
    """The moment itself if the window is open, else when it opens next."""
    if hours is None or is_open(hours, now):
        return now
    opening = now.replace(hour=hours.start, minute=0, second=0, microsecond=0)
    return opening if opening > now else opening + timedelta(days=1)
