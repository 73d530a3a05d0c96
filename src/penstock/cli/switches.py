"""`penstock pause` and `penstock resume`: stop all contact, or that with one domain."""

from typing import Annotated

import typer

from penstock.cli.output import safe, stdout, write_json
from penstock.cli.stores import with_existing_store
from penstock.core.urls import bare_host, registrable_domain
from penstock.kernel.switches import EVERYTHING
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.store.switches import StoredSwitches

Domain = Annotated[str | None, typer.Option(help="Only this domain (and all its hosts).")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def pause(
    domain: Domain = None,
    reason: Annotated[str, typer.Option(help="For who wonders later.")] = "",
    as_json: AsJson = False,
) -> None:
    """Stop all contact within a second, in every process that uses this store.

    Nothing is lost: what is under way is broken off and done later, what comes in waits.
    """
    name = _name(domain)

    async def throw(settings: Settings, store: Store) -> dict[str, str]:
        del settings
        switches = StoredSwitches(store)
        await switches.pause(name, reason)
        return await switches.paused()

    _show(with_existing_store(throw), as_json)


def resume(domain: Domain = None, as_json: AsJson = False) -> None:
    """Let contact go on that was paused."""
    name = _name(domain)

    async def throw(settings: Settings, store: Store) -> dict[str, str]:
        del settings
        switches = StoredSwitches(store)
        await switches.resume(name)
        return await switches.paused()

    _show(with_existing_store(throw), as_json)


def _name(domain: str | None) -> str:
    return EVERYTHING if domain is None else registrable_domain(bare_host(domain))


def _show(paused: dict[str, str], as_json: bool) -> None:
    if as_json:
        write_json({"paused": {name or "*": reason for name, reason in paused.items()}})
    elif not paused:
        stdout().print("nothing is paused", markup=False)
    for name, reason in () if as_json else paused.items():
        why = f" ({safe(reason)})" if reason else ""
        stdout().print(f"paused: {safe(name) or 'everything'}{why}", markup=False)
