"""Patterns of URLs, like `sgammo.com/product/*`: a domain with all its hosts, and a path."""

import re
from collections.abc import Sequence

from penstock.core.urls import Url


class UrlPatterns:
    """The URLs that an adapter knows; in their paths `*` stands for anything."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [(one.partition("/")[0].lower(), one, _compile(one)) for one in patterns]

    def matching(self, url: Url) -> str | None:
        """The most specific of the patterns that fits a URL."""
        address = f".{url.host}{url.target}"
        rules = ((one, rule) for host, one, rule in self._rules if host in address)
        fitting = [pattern for pattern, rule in rules if rule.fullmatch(address)]
        return max(fitting, key=lambda pattern: (precision(pattern), pattern), default=None)


def precision(pattern: str) -> int:
    """How much a pattern says: what `*` stands for does not count."""
    return len(pattern) - pattern.count("*")


def begins_with_domain(pattern: str) -> bool:
    """Whether a pattern is for the pages of one site."""
    host = pattern.partition("/")[0]
    return bool(host) and "*" not in host and ":" not in host


def _compile(pattern: str) -> re.Pattern[str]:
    host, slash, path = pattern.partition("/")
    glob = ".*".join(re.escape(part) for part in (slash + path or "/*").split("*"))
    return re.compile(rf"(?:\.[^/]*)?\.{re.escape(host.lower())}{glob}", re.DOTALL)
