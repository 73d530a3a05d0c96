"""Headers that people may add to a request, and those that they may not."""

import re

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_A_HEADER = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
#: These say where a request goes and where it ends: a Host of the caller's would lead to a site
#: that no gate was asked about.
_FRAMING = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|"
    r"proxy-.*",
    re.I,
)


def problem_with(name: str, value: str) -> str | None:
    """Why a header cannot be sent; it could break out of its line, for one."""
    if not _HEADER_NAME.fullmatch(name) or _NOT_IN_A_HEADER.search(value):
        return f"{name[:40]!r} is no valid header"
    return None


def frames(name: str) -> str | None:
    """Why nobody may set a header: it says where a message goes or where it ends."""
    return f"{name[:40]!r} is not to be set" if _FRAMING.fullmatch(name) else None


def reserved(name: str) -> str | None:
    """Why a header is not a caller's to set: it frames the message or says who we are."""
    if name.lower() == "user-agent":
        return "the User-Agent is not a caller's to set; a policy may choose another identity"
    return frames(name)
