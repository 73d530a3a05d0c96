"""Which URLs are wanted, by patterns as in robots.txt: matching takes linear time, always."""

from collections.abc import Sequence

from penstock.core.urls import Url
from penstock.kernel.robots import Pattern, comparable


class UrlFilter:
    """Wanted is what an `include` pattern fits, or anything if there is none; `exclude` wins.

    A pattern is compared with path and query from their beginning: `*` stands for anything, and a
    final `$` for the end.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = [Pattern(pattern) for pattern in include]
        self._exclude = [Pattern(pattern) for pattern in exclude]

    def wants(self, url: Url) -> bool:
        """Whether a URL is wanted."""
        if not (self._include or self._exclude):
            return True
        target = comparable(url.target)
        if any(pattern.matches(target) for pattern in self._exclude):
            return False
        return not self._include or any(pattern.matches(target) for pattern in self._include)
