"""`penstock pause` and `penstock resume`: stop all contact, or that with one domain."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Annotated

import typer
import uvloop

from penstock.app import shared_switches
from penstock.app.engine import open_ready_store
from penstock.app.stream_servers import with_shared_redis
from penstock.cli.output import safe, stdout, write_json
from penstock.cli.stores import require_store
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.core.urls import bare_host, registrable_domain
from penstock.kernel.switches import EVERYTHING, Switchboard
from penstock.settings import load_settings
from penstock.store.switches import StoredSwitches

Domain = Annotated[str | None, typer.Option(help="Only this domain (and all its hosts).")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def pause(
    domain: Domain = None,
    reason: Annotated[str, typer.Option(help="For who wonders later.")] = "",
    as_json: AsJson = False,
) -> None:
    """Stop all contact within a second, in every process of this store or shared Redis.

    Nothing is lost: what is under way is broken off and done later, what comes in waits.
    """
    name = _name(domain)
    _show(_throw(lambda board: board.pause(name, reason)), as_json)


def resume(domain: Domain = None, as_json: AsJson = False) -> None:
    """Let contact go on that was paused."""
    name = _name(domain)
    paused = _throw(lambda board: board.resume(name))
    if not as_json:
        stdout().print(f"the pause of {safe(name) or 'everything'} is over", markup=False)
    _show(paused, as_json)


def _throw(change: Callable[[Switchboard], Awaitable[object]]) -> dict[str, str]:
    """Throw a switch wherever there are some; what is paused then."""
    settings = with_shared_redis(load_settings())
    configure(settings.log.level, form=settings.log.form)
    if not settings.shared.url:
        require_store(settings.store)

    async def run() -> dict[str, str]:
        paused: dict[str, str] = {}
        async with AsyncExitStack() as stack:
            boards: list[Switchboard] = []
            if settings.shared.url:
                boards.append(await stack.enter_async_context(shared_switches(settings)))
            if settings.store.exists:
                opened = open_ready_store(settings, SystemClock())
                boards.append(StoredSwitches(await stack.enter_async_context(opened)))
            for board in boards:
                await change(board)
                paused |= await board.paused()
        return paused

    return uvloop.run(run())


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
