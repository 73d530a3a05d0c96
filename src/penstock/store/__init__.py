"""The store: one SQL database, SQLite or PostgreSQL, behind units of work."""

from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store
from penstock.store.unit import Unit

__all__ = ["Store", "StoreSettings", "Unit", "open_store"]
