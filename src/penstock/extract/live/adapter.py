"""What a live adapter is: a function from a page to what it says now, and what of it is critical.

Nothing is guessed: a page that lacks a field, or says something odd in it, is unreadable, and
the reason names the selectors that were tried.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import orjson

from penstock.core.errors import PenstockError
from penstock.core.urls import Url
from penstock.extract.adapter import check_identity
from penstock.extract.page.document import Document
from penstock.extract.page.loose_json import MAX_CHARACTERS, MAX_DEPTH, read_strict_json
from penstock.extract.url_patterns import UrlPatterns
from penstock.kernel.model import Page
from penstock.kernel.records import ExtractReason

State = Literal["in_play", "break", "ended"]
Way = Literal["http", "page"]

#: Options that every adapter takes.
COMMON = frozenset({"way", "critical"})
MAX_CRITICAL = 50
MAX_PATH = 200
_ABSENT = object()


class OptionsRefused(PenstockError, ValueError):
    """A live adapter does not take the options of a feed; says which and why."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a page says now; `notes` tell where it was not where it used to be."""

    payload: Mapping[str, Any]
    state: State
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why there is no snapshot of a page."""

    reason: ExtractReason
    detail: str


@dataclass(frozen=True)
class Source:
    """What an adapter reads: a page, seen as a document or as data, and the options of its feed."""

    page: Page
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def document(self) -> Document:
        """The page as HTML."""
        return Document.of(self.page)

    @cached_property
    def json(self) -> Any:
        """The page as JSON; None if it is none, or too large or too deep."""
        return read_strict_json(self.page.text)


def takes_none(options: Mapping[str, Any]) -> None:
    """The check of an adapter that has no options of its own."""
    for name in options:
        raise OptionsRefused(f"there is no option '{name}'")


@dataclass(frozen=True)
class LiveAdapter:
    """Makes snapshots of the pages of one site, or of any.

    `ways` are those in which a page can be read, the usual one first: `http`, where every look is
    a request, or `page`, where a page is kept open in a browser and updates itself. Where the data
    of a page comes over a call of its own, `data_url` makes the address of that call from the
    page's. Fields whose change is `critical` are named by paths like `score.runs`.
    """

    id: str
    version: str
    extract: Callable[[Source], Snapshot | Unreadable]
    urls: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ("http",)
    data_url: Callable[[str], str] | None = None
    critical: frozenset[str] = frozenset()
    #: A CSS selector for what a browser waits for when it opens a page.
    wait_for: str = ""
    #: Raises `OptionsRefused` for options that are neither common nor the adapter's own.
    check_own: Callable[[Mapping[str, Any]], None] = takes_none

    def __post_init__(self) -> None:
        check_identity(self.id, self.version, self.urls)
        if not self.ways or not {*self.ways} <= {*get_args(Way)}:
            raise ValueError(f"adapter {self.id}: ways are some of {', '.join(get_args(Way))}")
        if self.data_url and self.ways != ("http",):
            raise ValueError(f"adapter {self.id}: data is read by http, and not from an open page")

    @property
    def name(self) -> str:
        """Id and version."""
        return f"{self.id}@{self.version}"

    def matching(self, url: Url) -> str | None:
        """The most specific of the adapter's patterns that fits a URL."""
        return self._patterns.matching(url)

    @cached_property
    def _patterns(self) -> UrlPatterns:
        return UrlPatterns(self.urls)

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise `OptionsRefused` unless the adapter can work with the options of a feed."""
        try:
            self.way_for(options)
            _critical_of(options)
            self.check_own({name: options[name] for name in options if name not in COMMON})
        except OptionsRefused as error:
            raise OptionsRefused(f"adapter {self.id}: {error}") from error

    def way_for(self, options: Mapping[str, Any]) -> Way:
        """How a feed with these options is read."""
        wanted = options.get("way", self.ways[0])
        if wanted not in self.ways:
            raise OptionsRefused(f"'way' is {' or '.join(self.ways)}, and not {wanted!r}")
        way: Way = wanted
        return way

    def address_of(self, url: str) -> str:
        """What is asked for to read a page: its own address, or that of its data."""
        return self.data_url(url) if self.data_url else url

    def read(self, source: Source) -> Snapshot | Unreadable:
        """What a page says now, or why nobody can tell; its payload is plain JSON, and bounded."""
        if not source.page.text.strip():
            return Unreadable(ExtractReason.EMPTY_PAGE, "no content")
        found = self.extract(source)
        return _bounded(found) if isinstance(found, Snapshot) else found

    def is_critical(
        self, before: Snapshot | None, after: Snapshot, options: Mapping[str, Any]
    ) -> bool:
        """Whether a change must not be lost: the first, the last, of state, or of such a field."""
        if before is None or after.state == "ended" or before.state != after.state:
            return True
        return any(
            _value_at(before.payload, path) != _value_at(after.payload, path)
            for path in self.critical | _critical_of(options)
        )


def _critical_of(options: Mapping[str, Any]) -> frozenset[str]:
    named = options.get("critical", ())
    if not isinstance(named, list | tuple) or len(named) > MAX_CRITICAL:
        raise OptionsRefused(f"'critical' is a list of at most {MAX_CRITICAL} names of fields")
    for path in named:
        if not isinstance(path, str) or not 0 < len(path) <= MAX_PATH:
            raise OptionsRefused(f"'critical' has names of fields like 'score', and not {path!r}")
    return frozenset(named)


def _value_at(value: Any, path: str) -> Any:
    """What stands at the end of a path like `score.runs` or `teams.0`."""
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part, _ABSENT)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return value


def _bounded(snapshot: Snapshot) -> Snapshot | Unreadable:
    """The snapshot as it will come back from the store."""
    try:
        payload = read_strict_json(orjson.dumps(snapshot.payload).decode())
    except orjson.JSONEncodeError as error:
        return _no_payload(str(error))
    if not isinstance(payload, dict):
        return _no_payload(f"at most {MAX_CHARACTERS} characters and {MAX_DEPTH} levels are kept")
    return replace(snapshot, payload=payload)


def _no_payload(why: str) -> Unreadable:
    detail = f"what was read is no JSON object that can be kept: {why}"
    return Unreadable(ExtractReason.PAGE_STRUCTURE_CHANGED, detail)
