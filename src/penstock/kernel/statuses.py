"""What an HTTP status means for a request."""

from collections.abc import Callable
from datetime import datetime

from penstock.kernel.model import Failure, Page, RateLimited, ServerError, SiteWide, UrlSpecific
from penstock.kernel.retry import parse_retry_after

NOT_MODIFIED, TOO_MANY_REQUESTS, UNAVAILABLE = 304, 429, 503
NO_SUCH_METHOD = frozenset({405, 501})
GATEWAY_TROUBLE = frozenset({502, 503, 504})
FIRST_REDIRECT, FIRST_CLIENT_ERROR, FIRST_SERVER_ERROR = 300, 400, 500


def failure_of(
    page: Page, now: Callable[[], datetime], longest_retry_after: float
) -> Failure | None:
    """Why an answer is no page to use, by its status alone; None for a good one."""
    status = page.status
    if status < FIRST_REDIRECT or status == NOT_MODIFIED:
        return None
    retry_after = None
    if header := page.headers.get("Retry-After"):
        retry_after = parse_retry_after(header, now(), longest_retry_after)
    if status == TOO_MANY_REQUESTS or (status == UNAVAILABLE and retry_after is not None):
        return RateLimited("rate_limited", "the site asks us to slow down", status, retry_after)
    if status in GATEWAY_TROUBLE:
        return SiteWide("unavailable", f"the site answered {status}", status)
    if status >= FIRST_SERVER_ERROR:
        return ServerError("server_error", f"the site answered {status}", status)
    if status >= FIRST_CLIENT_ERROR:
        return UrlSpecific(f"http_{status}", f"the site answered {status}", status)
    return UrlSpecific("odd_redirect", f"the site answered {status} without a location", status)
