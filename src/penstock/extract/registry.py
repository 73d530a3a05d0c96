"""The registry: which adapters there are, and which of them reads a URL, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from penstock.core.errors import SettingsError
from penstock.core.urls import Url, parse
from penstock.extract.adapter import Adapter
from penstock.extract.adapters import ADAPTERS
from penstock.extract.loading import Loader
from penstock.extract.page.document import Document
from penstock.extract.url_patterns import precision
from penstock.kernel.model import Page
from penstock.kernel.records import Extraction, Kind

ENTRY_POINTS = "penstock.adapters"
SETTING = "PENSTOCK_EXTRACT__ADAPTERS"
SHOWN_PATTERNS = 3
KINDS: tuple[Kind, ...] = get_args(Kind)
DEFAULT_KIND: Kind = "product"


@dataclass(frozen=True, slots=True)
class Choice:
    """The adapter for a URL, why it is this one, and what became of the others."""

    adapter: Adapter
    why: str
    others: tuple[tuple[str, str], ...]


class Registry:
    """Adapters by id. Choosing is deterministic: the order of registration does not matter.

    A candidate is another version of an adapter, on trial: it is found by `id@version` only.
    """

    def __init__(self, adapters: Iterable[Adapter] = ()) -> None:
        self._adapters: dict[str, Adapter] = {}
        self._candidates: dict[str, Adapter] = {}
        for adapter in adapters:
            self.register(adapter)

    def register(self, adapter: Adapter) -> None:
        """Add an adapter; an id or a kind can be taken only once."""
        if adapter.id in self._adapters:
            raise SettingsError(f"two adapters have the id '{adapter.id}'; rename one of them")
        if adapter.id in KINDS and (adapter.urls or adapter.id != adapter.gives):
            raise SettingsError(f"'{adapter.id}' is a target type and cannot name a site's adapter")
        if not adapter.urls and (other := self._generic(adapter.gives)):
            raise SettingsError(
                f"adapter '{adapter.id}' gives {adapter.gives} on any site, as '{other.id}' does; "
                "name the URLs that it is for"
            )
        self._adapters[adapter.id] = adapter

    def register_candidate(self, adapter: Adapter) -> None:
        """Add another version of an adapter, beside the one that reads pages."""
        if adapter.name in self._candidates or self.get(adapter.name):
            raise SettingsError(
                f"there are two adapters '{adapter.name}'; raise the version of one"
            )
        self._candidates[adapter.name] = adapter

    def get(self, name: str) -> Adapter | None:
        """The adapter with an id, or one version of it by `id@version`."""
        if candidate := self._candidates.get(name):
            return candidate
        adapter = self._adapters.get(name.partition("@")[0])
        return adapter if adapter and name in (adapter.id, adapter.name) else None

    def list(self) -> tuple[Adapter, ...]:
        """All adapters, by id."""
        return tuple(self._adapters[name] for name in sorted(self._adapters))

    def names(self) -> tuple[str, ...]:
        """Every `id@version` there is, candidates too."""
        current = (adapter.name for adapter in self._adapters.values())
        return tuple(sorted({*current, *self._candidates}))

    def has_adapter_for_domain(self, domain: str) -> bool:
        """Whether some adapter knows the pages of a domain."""
        return any(domain in adapter.domains for adapter in self._adapters.values())

    def choose(self, url: Url, wanted: str = "") -> Choice:
        """The adapter that reads a URL; `wanted` may be an id, a target type or nothing."""
        adapter, why = self._chosen(url, wanted)
        is_named = wanted in (adapter.id, adapter.name) and wanted not in KINDS
        return Choice(adapter, why, () if is_named else self._others(adapter, url, wanted))

    def _chosen(self, url: Url, wanted: str) -> tuple[Adapter, str]:
        if (named := self.get(wanted)) and (wanted not in KINDS):
            return named, f"named '{wanted}'"
        if wanted and wanted not in KINDS:
            known = ", ".join(sorted({*self._adapters, *KINDS}))
            raise SettingsError(f"there is no adapter or target type '{wanted}'; known: {known}")
        matches = [
            (pattern, adapter)
            for adapter in self.list()
            if wanted in ("", adapter.gives) and (pattern := adapter.matching(url))
        ]
        # Ids settle a tie.
        matches.sort(key=lambda match: (-precision(match[0]), match[1].id))
        if matches:
            pattern, adapter = matches[0]
            return adapter, f"the URL fits '{pattern}'"
        kind = wanted or DEFAULT_KIND
        generic = self._generic(kind)
        if generic is None:
            raise SettingsError(f"no adapter gives '{kind}' on any site, and none fits {url.href}")
        because = f"target type '{wanted}'" if wanted else f"the default is '{DEFAULT_KIND}'"
        return generic, f"no site's adapter fits the URL, and {because}"

    def extract(self, page: Page, wanted: str = "") -> Extraction:
        """What the adapter chosen for a page makes of it."""
        adapter, _ = self._chosen(parse(page.url), wanted)
        return adapter.read(Document.of(page))

    def further(self, page: Page, extraction: Extraction) -> Sequence[str]:
        """Pages of the same site that may have what the adapter did not find."""
        adapter = self._adapter_of(extraction)
        if not extraction.ok or adapter.further is None:
            return ()
        return adapter.further(Document.of(page), extraction)

    def fill(self, extraction: Extraction, page: Page) -> Extraction:
        """An extraction with what another page of the site adds to it; nothing is replaced."""
        other = self._adapter_of(extraction).read(Document.of(page))
        where = parse(page.url).target
        evidence = {
            name: found._replace(source=f"{found.source} of {where}")
            for name, found in other.evidence.items()
        }
        return replace(
            extraction,
            fields={**other.fields, **extraction.fields},
            evidence={**evidence, **extraction.evidence},
        )

    def _adapter_of(self, extraction: Extraction) -> Adapter:
        name = extraction.adapter
        return self._candidates.get(name) or self._adapters[name.partition("@")[0]]

    def needs_browser(self, url: Url, wanted: str = "") -> bool:
        """Whether the adapter chosen for a URL reads only pages whose scripts have run."""
        adapter, _ = self._chosen(url, wanted)
        return adapter.requires_javascript

    def _generic(self, kind: str) -> Adapter | None:
        found = (one for one in self._adapters.values() if one.gives == kind and not one.urls)
        return next(found, None)

    def _others(self, chosen: Adapter, url: Url, wanted: str) -> tuple[tuple[str, str], ...]:
        return tuple(
            (adapter.name, _why_not(adapter, chosen, url, wanted))
            for adapter in self.list()
            if adapter is not chosen
        )


def _why_not(adapter: Adapter, chosen: Adapter, url: Url, wanted: str) -> str:
    if wanted and adapter.gives != wanted:
        return f"gives {adapter.gives}"
    if not adapter.urls:
        return "serves any site, and only where no site's adapter fits or its type is named"
    if pattern := adapter.matching(url):
        is_tie = precision(pattern) == precision(chosen.matching(url) or "")
        return f"'{pattern}' fits, but {'the id comes later' if is_tie else 'says less'}"
    shown = ", ".join(adapter.urls[:SHOWN_PATTERNS])
    more = len(adapter.urls) - SHOWN_PATTERNS
    return f"the URL fits none of {shown}" + (f" and {more} more" if more > 0 else "")


def open_registry(named: Sequence[str] = (), candidates: Sequence[str] = ()) -> Registry:
    """Penstock's own adapters and those that the settings name."""
    registry, loader = Registry(ADAPTERS), Loader(Adapter, SETTING, ENTRY_POINTS)
    for name in named:
        registry.register(loader.load(name))
    for name in candidates:
        registry.register_candidate(loader.load(name))
    return registry
