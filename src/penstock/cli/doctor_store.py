"""What `penstock doctor` says of the store."""

import asyncio

from penstock.cli.findings import Finding
from penstock.core.errors import PenstockError
from penstock.settings import Settings
from penstock.store.pooling import Pooling, look_for_pooler
from penstock.store.postgres import place_of

STORE = "store"


def examine_store(settings: Settings) -> Finding:
    """Whether it is there, and whether what stands in front of it is known."""
    if not settings.store.is_shared:
        return Finding(STORE, "ok", f"SQLite in {place_of(settings.store)}")
    try:
        pooling = asyncio.run(look_for_pooler(settings.store))
    except PenstockError as error:
        do = "start the server, or correct PENSTOCK_STORE__URL"
        return Finding(STORE, "problem", str(error), do)
    shares = pooling is Pooling.TRANSACTIONS
    if shares and not settings.store.pgbouncer:
        says = "the URL is that of a pgbouncer in transaction mode"
        return Finding(STORE, "problem", says, "set PENSTOCK_STORE__PGBOUNCER=true")
    if settings.store.pgbouncer and not shares:
        says = "PENSTOCK_STORE__PGBOUNCER is set, and no transaction mode was noticed"
        return Finding(
            STORE, "note", says, "unset it where connections are not shared: it is faster"
        )
    through = ", through pgbouncer in transaction mode" if shares else ""
    return Finding(STORE, "ok", f"PostgreSQL answers{through}")
