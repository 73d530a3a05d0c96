"""What a failure of the path means for a feed."""

from penstock.kernel.model import Blocked, Broken, Failure, Refused, UrlSpecific
from penstock.workloads.live.model import ErrorType

GONE = (404, 410)
NOT_FOR_US = (401, 403, 407)
#: How reasons begin that are trouble of the browser and not of the site.
OF_BROWSERS = ("page_", "browser_")
ROBOTS_SAY_NO = "robots_denied"


def type_of(failure: Failure) -> ErrorType:
    """The kind of error that a failure is."""
    if isinstance(failure, Blocked) or failure.status in NOT_FOR_US:
        return ErrorType.AUTH
    if isinstance(failure, Broken) and failure.reason.startswith(OF_BROWSERS):
        return ErrorType.BROWSER
    return ErrorType.NETWORK


def is_gone(failure: Failure) -> bool:
    """Whether there is no such page any more."""
    return isinstance(failure, UrlSpecific) and failure.status in GONE


def is_final(failure: Failure) -> bool:
    """Whether the page must not be contacted: robots.txt or a list of ours says so."""
    if not isinstance(failure, Refused):
        return False
    return failure.gate == "admission" or failure.reason == ROBOTS_SAY_NO


def is_ours(failure: Failure) -> bool:
    """Whether it is this process that cannot look: it lacks a browser, for one."""
    return isinstance(failure, Refused) and failure.gate == "fetch"
