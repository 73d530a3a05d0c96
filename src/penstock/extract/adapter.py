"""What an adapter is: an id, a version, the URLs it knows, and a function from page to fields."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from penstock.core.urls import Url
from penstock.extract.page.document import Document
from penstock.extract.url_patterns import UrlPatterns, begins_with_domain
from penstock.kernel.records import Evidence, Extraction, ExtractReason, Kind

SEMVER = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


class Findings:
    """Fields gathered from a page, each with its evidence; the first find for a field stays."""

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.evidence: dict[str, Evidence] = {}

    def add(self, name: str, value: Any, source: str, text: str = "") -> bool:
        """Keep a value unless there is one or it is empty; whether it was kept."""
        if name in self.fields or value is None or value in ("", (), [], {}):
            return False
        self.fields[name] = value
        self.evidence[name] = Evidence(source, (text or str(value))[:200])
        return True

    def get(self, name: str) -> Any:
        """The value of a field, or None."""
        return self.fields.get(name)

    def found(self, kind: Kind) -> Extraction:
        """The extraction, if the adapter stands by it."""
        return Extraction(kind, self.fields, self.evidence)

    def failed(self, kind: Kind, reason: ExtractReason, detail: str) -> Extraction:
        """The extraction, if there is a reason not to trust it."""
        return Extraction(kind, self.fields, self.evidence, reason=reason, detail=detail)


@dataclass(frozen=True)
class Adapter:
    """Turns pages of one site, or of one kind, into raw fields.

    `urls` are patterns like `sgammo.com/product/*`: a domain with all its hosts, and a path in
    which `*` stands for anything. An adapter without any serves its kind on every site.
    """

    id: str
    version: str
    gives: Kind
    extract: Callable[[Document], Extraction]
    domain: str = ""
    urls: tuple[str, ...] = ()
    requires_javascript: bool = False
    #: Where else on its site to look for what is missing; the most promising first.
    further: Callable[[Document, Extraction], Sequence[str]] | None = None
    #: The provider of the credentials that its pages are shown for; they go to its domains only.
    login: str = ""

    def __post_init__(self) -> None:
        check_identity(self.id, self.version, self.urls)

    @property
    def name(self) -> str:
        """Id and version: what stands in a record's provenance."""
        return f"{self.id}@{self.version}"

    @property
    def domains(self) -> frozenset[str]:
        """The domains whose pages it knows."""
        hosts = {pattern.partition("/")[0] for pattern in self.urls}
        return frozenset(filter(None, {self.domain, *hosts}))

    def read(self, document: Document) -> Extraction:
        """The fields of a page, or why there are none; the same for the same text, always."""
        if not document.text.strip():
            empty = Extraction(self.gives, reason=ExtractReason.EMPTY_PAGE, detail="no content")
            return replace(empty, adapter=self.name)
        return replace(self.extract(document), adapter=self.name)

    def matching(self, url: Url) -> str | None:
        """The most specific of the adapter's patterns that fits a URL."""
        return self._patterns.matching(url)

    @cached_property
    def _patterns(self) -> UrlPatterns:
        return UrlPatterns(self.urls)


def check_identity(adapter_id: str, version: str, urls: Sequence[str]) -> None:
    """Raise ValueError unless an adapter is named, numbered and placed as all are."""
    if not ID.fullmatch(adapter_id):
        raise ValueError(f"adapter {adapter_id!r}: an id has lower case letters, digits, _ and -")
    if not SEMVER.fullmatch(version):
        raise ValueError(f"adapter {adapter_id}: version {version!r} is not like 1.2.3")
    for pattern in urls:
        if not begins_with_domain(pattern):
            raise ValueError(
                f"adapter {adapter_id}: pattern {pattern!r} does not begin with a domain "
                "like shop.example"
            )
