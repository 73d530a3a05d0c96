"""Seeds from a YAML file: what is fetched again and again, and when. Errors name their lines."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import yaml

from penstock.core.errors import SettingsError, UrlError
from penstock.core.urls import parse
from penstock.queue.timing import Timing, read_span
from penstock.workloads.stream.filters import UrlFilter

MAX_BYTES = 10 * 1024 * 1024
MAX_PATTERNS = 100
SHORTEST_SECONDS = 60.0
#: `since: last` means the time of the seed's last round.
LAST: Literal["last"] = "last"

Since = datetime | timedelta | Literal["last"]


class SeedsRefused(SettingsError):
    """A seed file cannot be used; every problem says in which line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Seed:
    """A URL, or a sitemap and the URLs in it, that come again and again."""

    kind: Literal["url", "sitemap"]
    url: str
    timing: Timing
    limit: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    since: Since | None = None
    any_site: bool = False
    line: int = 0

    @cached_property
    def id(self) -> str:
        """The same for the same URLs, however often they come and wherever in the file."""
        said = (self.kind, self.url, self.limit, self.include, self.exclude, str(self.since))
        return sha256(repr((*said, self.any_site)).encode()).hexdigest()[:32]

    @cached_property
    def filter(self) -> UrlFilter:
        """Which of the URLs are wanted."""
        return UrlFilter(self.include, self.exclude)

    def since_when(self, now: datetime, last: datetime | None) -> datetime | None:
        """The moment after which a page has to have changed; None if that does not matter."""
        if isinstance(self.since, timedelta):
            return now - self.since
        return last if self.since == LAST else self.since


def load_seeds(path: Path) -> list[Seed]:
    """The seeds of a file; `SeedsRefused` tells all that is wrong with it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SeedsRefused([f"{path}: has more than {MAX_BYTES} bytes"])
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SeedsRefused([f"{path}: cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise SeedsRefused([f"{path}: is not UTF-8"]) from error
    return read_seeds(text, str(path))


def read_seeds(text: str, source: str) -> list[Seed]:
    """The seeds that a text describes; `source` is what problems call it."""
    problems: list[_Problem] = []
    seeds: dict[str, Seed] = {}
    for node in _items(text, source):
        try:
            seed = _read_seed(node)
        except _Problem as problem:
            problems.append(problem)
            continue
        if twin := seeds.get(seed.id):
            problems.append(_Problem(node, f"is the same as the seed in line {twin.line}"))
        seeds.setdefault(seed.id, seed)
    if problems:
        raise SeedsRefused([f"{source}:{problem.line}: {problem}" for problem in problems])
    return list(seeds.values())


class _Problem(Exception):
    """What is wrong, and where."""

    def __init__(self, node: yaml.Node, problem: str) -> None:
        super().__init__(problem)
        self.line = node.start_mark.line + 1


def _items(text: str, source: str) -> Iterator[yaml.Node]:
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SeedsRefused([f"{source}:{line}: is not YAML: {error.problem}"]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise SeedsRefused([f"{source}: is not YAML: {type(error).__name__}"]) from error
    if root is None:
        return
    if not isinstance(root, yaml.SequenceNode):
        line = root.start_mark.line + 1
        raise SeedsRefused([f"{source}:{line}: a list is expected: '- url: …' or '- sitemap: …'"])
    yield from root.value


def _read_seed(node: yaml.Node) -> Seed:
    said = _pairs(node)
    kinds = [name for name in ("url", "sitemap") if name in said]
    if len(kinds) != 1:
        raise _Problem(node, "needs either 'url' or 'sitemap'")
    kind: Literal["url", "sitemap"] = "url" if kinds[0] == "url" else "sitemap"
    seed = Seed(kind, _read_url(said.pop(kind)), _read_timing(node, said), line=_line(node))
    if kind == "url" and said:
        name, value = next(iter(said.items()))
        raise _Problem(value, f"'{name}' is for sitemaps")
    return replace(seed, **{name: _READERS[name](value) for name, value in said.items()})


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _pairs(node: yaml.Node) -> dict[str, yaml.Node]:
    """What a seed says, by name; nothing twice and nothing unheard of."""
    if not isinstance(node, yaml.MappingNode):
        raise _Problem(node, "a seed begins with 'url:' or 'sitemap:'")
    said: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = _read_text(key)
        if name not in _NAMES:
            close = difflib.get_close_matches(name, _NAMES, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise _Problem(key, f"unknown key '{name[:40]}'{hint}")
        if name in said:
            raise _Problem(key, f"'{name}' stands twice")
        said[name] = value
    return said


def _read_timing(node: yaml.Node, said: dict[str, yaml.Node]) -> Timing:
    """When the seed comes; takes what it reads out of what was said."""
    parts: dict[str, Any] = {}
    at = node
    try:
        for name in ("every", "cron", "zone", "jitter"):
            if name in said:
                at = said.pop(name)
                text = _read_text(at)
                parts[name] = text if name in ("cron", "zone") else read_span(text)
        timing = Timing(**parts)
        span = timing.span(datetime.now(UTC))
    except SettingsError as error:
        raise _Problem(at, str(error)) from error
    if span < SHORTEST_SECONDS:
        raise _Problem(at, "a seed comes once a minute at most")
    return timing


def _read_text(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        raise _Problem(node, "a word or number is expected here")
    text: str = node.value
    return text.strip()


def _read_url(node: yaml.Node) -> str:
    try:
        return parse(_read_text(node)).href
    except UrlError as error:
        raise _Problem(node, str(error)) from error


def _read_limit(node: yaml.Node) -> int:
    text = _read_text(node)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise _Problem(node, f"'{text[:40]}' is no number of URLs")
    return int(text)


def _read_patterns(node: yaml.Node) -> tuple[str, ...]:
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    if len(nodes) > MAX_PATTERNS:
        raise _Problem(node, f"more than {MAX_PATTERNS} patterns")
    return tuple(_read_pattern(one) for one in nodes)


def _read_pattern(node: yaml.Node) -> str:
    pattern = _read_text(node)
    if not pattern.startswith(("/", "*")):
        raise _Problem(node, f"'{pattern[:40]}' is no pattern: write it like /product/*")
    return pattern


def _read_since(node: yaml.Node) -> Since:
    text = _read_text(node)
    if text == LAST:
        return LAST
    try:
        if len(text) >= len("2026-01-01") and text[4] == "-":
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return timedelta(seconds=read_span(text))
    except (ValueError, OverflowError, SettingsError) as error:
        problem = f"'{text[:40]}' is no time: write 2026-01-31, a span such as 7d, or last"
        raise _Problem(node, problem) from error


def _read_flag(node: yaml.Node) -> bool:
    text = _read_text(node).lower()
    if text not in ("true", "false"):
        raise _Problem(node, "true or false is expected here")
    return text == "true"


_READERS: Mapping[str, Callable[[yaml.Node], Any]] = {
    "limit": _read_limit,
    "include": _read_patterns,
    "exclude": _read_patterns,
    "since": _read_since,
    "any_site": _read_flag,
}
_NAMES = ("url", "sitemap", "every", "cron", "zone", "jitter", *_READERS)
