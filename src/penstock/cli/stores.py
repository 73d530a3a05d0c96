"""How commands use the store: opened for one question, closed after it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import TypeVar

import uvloop

from penstock.app.engine import open_ready_store
from penstock.core.clock import SystemClock
from penstock.core.errors import SettingsError
from penstock.core.log import configure
from penstock.settings import Settings, load_settings
from penstock.store.postgres import place_of
from penstock.store.settings import StoreSettings
from penstock.store.store import Store, open_store

T = TypeVar("T")
#: Looks at where the store is before it is opened; raises if it is not to be.
Check = Callable[[StoreSettings], None]


def any_place(store: StoreSettings) -> None:
    """A store may be made where there is none."""
    del store


def require_store(store: StoreSettings) -> None:
    """There has to be a store already; where there is none, none is made."""
    if not store.exists:
        raise SettingsError(
            f"there is no store in {place_of(store)}: go to the folder of the service, or name its "
            "store with PENSTOCK_STORE__FOLDER or __URL (`penstock up` makes a new one)"
        )


def with_store(
    ask: Callable[[Settings, Store], Awaitable[T]],
    *,
    ready: bool = True,
    check: Check = any_place,
) -> T:
    """Run something with the store of the settings; its tables are brought up to date first."""
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    check(settings.store)

    async def run() -> T:
        opened = open_ready_store(settings, SystemClock()) if ready else _as_it_is(settings)
        async with opened as store:
            return await ask(settings, store)

    return uvloop.run(run())


def with_existing_store(ask: Callable[[Settings, Store], Awaitable[T]]) -> T:
    """Run something with the store of the settings; where there is none, none is made."""
    return with_store(ask, check=require_store)


def _as_it_is(settings: Settings) -> AbstractAsyncContextManager[Store]:
    return open_store(settings.store, SystemClock())


def moment(milliseconds: int | None) -> str:
    """A time of the store for people."""
    if milliseconds is None:
        return ""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"


def span(seconds: float | None) -> str:
    """A number of seconds for people."""
    return "" if seconds is None else f"{seconds:.0f} s"
