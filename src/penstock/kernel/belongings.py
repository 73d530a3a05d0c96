"""What a visit takes along to a site: who we are, headers and cookies.

The caller's own go to the origin that the caller named, and nowhere else.
"""

from collections.abc import Mapping

from penstock.core.urls import parse
from penstock.kernel.identity import Identities
from penstock.kernel.model import NO_HEADERS, Proxy, Visit
from penstock.kernel.ports import Browsing


def headers_for(visit: Visit, proxy: Proxy | None, identities: Identities) -> Mapping[str, str]:
    """Who we are and what the policy adds; the caller's own only for the caller's origin."""
    request = visit.request
    if visit.errand:
        return identities.honest()
    if visit.policy.identity == "browser":
        headers = identities.browser_like(proxy.region if proxy else None)
    else:
        headers = identities.honest()
    own = request.headers if request.headers and _is_at_home(visit) else NO_HEADERS
    conditions = NO_HEADERS if visit.hops else request.conditions
    cookies = _cookie_header(_cookies_for(visit))
    if not (visit.policy.headers or own or conditions or cookies):
        return headers
    return {**headers, **dict(visit.policy.headers), **own, **conditions, **cookies}


def browsing_for(visit: Visit, proxy: Proxy | None) -> Browsing:
    """What a browser shall do with the page; the caller's own only for the caller's origin."""
    request, policy = visit.request, visit.policy
    own = request.headers if _is_at_home(visit) else NO_HEADERS
    block = policy.block_resources
    if block is None:
        is_read = request.extract is not None or bool(request.keep)
        block = is_read and not request.screenshot
    return Browsing(
        own_headers={**dict(policy.headers), **own},
        cookies=_cookies_for(visit),
        pause_ms=policy.action_delay_ms,
        wait_for=request.wait_for,
        scroll=request.scroll,
        screenshot=request.screenshot,
        block_resources=block,
        masked=policy.identity == "browser",
        region=proxy.region if proxy else policy.proxy.region,
        keep=request.keep,
    )


def _cookies_for(visit: Visit) -> Mapping[str, str]:
    """The caller's cookies for the caller's origin, and what the site gave on the way."""
    own = visit.request.cookies
    given = visit.cookies.get(visit.url.origin, NO_HEADERS) if visit.cookies else NO_HEADERS
    return {**own, **given} if own and _is_at_home(visit) else given


def _is_at_home(visit: Visit) -> bool:
    """Whether the visit is at the origin that the caller named."""
    return not visit.hops or visit.url.origin == parse(visit.request.url).origin


def _cookie_header(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """The header that gives a site its own cookies back."""
    if not cookies:
        return NO_HEADERS
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
