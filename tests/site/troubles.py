"""Hosts that are in trouble for their first requests, and one that never stands still."""

from datetime import timedelta
from email.utils import format_datetime

from tests.site.answers import Hit, Plan, Reply
from tests.site.pages import html, page


def _open_again(hit: Hit) -> Reply:
    return page(f"{hit.host} is well", f"<p>Request {hit.nth}</p>")


def rate_limited(hit: Hit) -> Reply:
    return _limit(hit, str(hit.settings.retry_after_seconds))


def rate_limited_by_date(hit: Hit) -> Reply:
    retry_at = hit.settings.now() + timedelta(seconds=hit.settings.retry_after_seconds)
    return _limit(hit, format_datetime(retry_at, usegmt=True))


def _limit(hit: Hit, retry_after: str) -> Reply:
    if hit.nth > hit.settings.rate_limited_requests:
        return _open_again(hit)
    return Reply(429, html("Too many requests", ""), {"Retry-After": retry_after})


def outage(hit: Hit) -> Reply:
    if hit.nth > hit.settings.outage_requests:
        return _open_again(hit)
    return Reply(503, html("Service unavailable", ""))


def flaky(hit: Hit) -> Reply:
    return _open_again(hit) if hit.nth > 1 else Reply(500, html("Server error", ""))


def score(hit: Hit) -> Reply:
    overs, balls = divmod(hit.nth, 6)
    return Reply(
        200,
        html(
            "Penstock XI v Sluice XI",
            f'<p id="score" data-update="{hit.nth}">'
            f'<span class="runs">{hit.nth * 2}</span>/<span class="wickets">{hit.nth // 30}</span>'
            f' (<span class="overs">{overs}.{balls}</span> ov)</p>',
        ),
        {"Cache-Control": "no-store"},
    )


LIVE: dict[str, Plan] = {"/score": score}
