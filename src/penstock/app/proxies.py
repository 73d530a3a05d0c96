"""Proxies for people, put together on a store."""

from functools import partial

from penstock.app import check_proxy
from penstock.kernel.proxies import read_endpoints
from penstock.settings import Settings
from penstock.store.proxies import open_box
from penstock.store.store import Store
from penstock.workloads.catalog.proxies import Proxies


def proxies_on(settings: Settings, store: Store) -> Proxies:
    """The proxies of a store, for the API and the commands."""
    box = open_box(settings.proxies, settings.store)
    own = read_endpoints(settings.proxies)
    return Proxies(store, box, partial(check_proxy, settings), own)
