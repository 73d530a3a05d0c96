"""The registry of live adapters: Penstock's own and those that a setting names."""

from collections.abc import Iterable, Sequence

from penstock.core.errors import SettingsError
from penstock.core.urls import Url
from penstock.extract.live.adapter import LiveAdapter
from penstock.extract.live.cricket import CRICKET, CRICKET_DATA, CRICKET_HTML
from penstock.extract.live.selectors import SELECTORS
from penstock.extract.loading import Loader
from penstock.extract.url_patterns import precision

ENTRY_POINTS = "penstock.live_adapters"
SETTING = "PENSTOCK_LIVE__ADAPTERS"
LIVE_ADAPTERS: tuple[LiveAdapter, ...] = (CRICKET, CRICKET_HTML, CRICKET_DATA, SELECTORS)


class LiveRegistry:
    """Live adapters by id; the order of registration does not matter."""

    def __init__(self, adapters: Iterable[LiveAdapter] = ()) -> None:
        self._adapters: dict[str, LiveAdapter] = {}
        for adapter in adapters:
            self.register(adapter)

    def register(self, adapter: LiveAdapter) -> None:
        """Add an adapter; an id can be taken only once."""
        if adapter.id in self._adapters:
            raise SettingsError(f"two live adapters have the id '{adapter.id}'; rename one of them")
        self._adapters[adapter.id] = adapter

    def get(self, adapter_id: str) -> LiveAdapter | None:
        """The adapter with an id."""
        return self._adapters.get(adapter_id)

    @property
    def all(self) -> tuple[LiveAdapter, ...]:
        """All adapters, by id."""
        return tuple(self._adapters[name] for name in sorted(self._adapters))

    def choose(self, url: Url) -> LiveAdapter | None:
        """The adapter whose pattern says most about a URL; ids settle a tie."""
        fitting = [
            (-precision(pattern), adapter.id)
            for adapter in self.all
            if (pattern := adapter.matching(url))
        ]
        return self._adapters[min(fitting)[1]] if fitting else None


def open_live_registry(named: Sequence[str] = ()) -> LiveRegistry:
    """Penstock's own live adapters and those that the setting names."""
    registry, loader = LiveRegistry(LIVE_ADAPTERS), Loader(LiveAdapter, SETTING, ENTRY_POINTS)
    for name in named:
        registry.register(loader.load(name))
    return registry
