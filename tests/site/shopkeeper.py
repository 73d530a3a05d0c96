"""Whoever keeps the catalogue's shops: changes their goods while the site runs."""

from collections import Counter
from dataclasses import replace

from tests.site.answers import Handler, Hit
from tests.site.catalog_items import SHOPS, CatalogItem, catalog_item
from tests.site.catalog_markup import redesigned_page
from tests.site.catalog_shops import shown, tagged
from tests.site.pages import not_found
from tests.site.server import Site


class Shopkeeper:
    """Changes shops of a running site, and tells what was asked of them.

    Sitemaps and front pages go on listing what was removed, as those of real shops do.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._pages = site.settings.catalog_pages
        self._changed: dict[tuple[str, int], CatalogItem] = {}
        self._removed: set[tuple[str, int]] = set()
        self._redesigned: set[str] = set()

    def item(self, host: str, number: int) -> CatalogItem:
        """A product as it is now."""
        return self._changed.get((host, number)) or catalog_item(host, number)

    def change_price(self, host: str, number: int, minor: int) -> CatalogItem:
        return self._change(replace(self.item(host, number), price_minor=minor))

    def set_stock(self, host: str, number: int, availability: str) -> CatalogItem:
        """`InStock`, `OutOfStock` or `BackOrder`; the price stays."""
        return self._change(replace(self.item(host, number), availability=availability))

    def remove(self, host: str, number: int) -> None:
        """The page is answered by 404 from now on."""
        self._removed.add((host, number))
        self._show(host, number)

    def put_back(self, host: str, number: int) -> None:
        self._removed.discard((host, number))
        self._show(host, number)

    def redesign(self, host: str) -> None:
        """Show pages that nothing can be extracted from."""
        self._redesigned.add(host)
        self._show_all(host)

    def undo_redesign(self, host: str) -> None:
        self._redesigned.discard(host)
        self._show_all(host)

    def take_down(self, host: str) -> None:
        """Answer everything by 503, pictures and robots.txt too."""
        for name in _hosts_of(host):
            self._site.take_down(name)

    def bring_up(self, host: str) -> None:
        for name in _hosts_of(host):
            self._site.bring_up(name)

    def hits(self, host: str) -> list[Hit]:
        """Requests to a shop, its pictures and robots.txt included, in order; each has its time."""
        return [hit for hit in self._site.hits if hit.host in _hosts_of(host)]

    def asked(self) -> Counter[str]:
        """How often each URL of all shops was asked for."""
        wanted = {name for host in SHOPS for name in _hosts_of(host)}
        return Counter(
            f"http://{hit.host}{hit.path}" for hit in self._site.hits if hit.host in wanted
        )

    def _change(self, item: CatalogItem) -> CatalogItem:
        self._changed[item.host, item.number] = item
        self._show(item.host, item.number)
        return item

    def _show_all(self, host: str) -> None:
        for number in range(1, self._pages + 1):
            self._show(host, number)

    def _show(self, host: str, number: int) -> None:
        self._site.reply(host, f"/product/{number}", self._plan(host, number))

    def _plan(self, host: str, number: int) -> Handler:
        if (host, number) in self._removed:
            return not_found
        item = self.item(host, number)
        if host in self._redesigned:
            return tagged(redesigned_page(item), SHOPS[host].content_type)
        return shown(item, self._pages)


def _hosts_of(host: str) -> tuple[str, ...]:
    return host, f"{SHOPS[host].pictures_at}{host}"
