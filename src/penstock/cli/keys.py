"""`penstock keys`: who may call the API, and for what."""

from typing import Annotated

import typer

from penstock.cli.output import ExitCode, complain, print_table, stderr, stdout, write_json
from penstock.cli.stores import moment, with_existing_store, with_store
from penstock.web.keys import SERVICE, Key, Keys, Scope

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke keys of the API.")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, one object per line.")]
DAY = 86400.0


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, in a word or two.")],
    scope: Annotated[
        list[Scope] | None, typer.Option(help="What it is good for; read and scrape by default.")
    ] = None,
    workspace: Annotated[
        str | None, typer.Option(help="The one workspace that it is for; any by default.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0, help="Until it expires; never by default.")
    ] = None,
    rate: Annotated[
        int | None, typer.Option(min=1, help="Requests a minute; no limit by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, once: only its hash is kept."""
    scopes = scope or [Scope.READ, Scope.SCRAPE]
    lifetime = None if days is None else days * DAY
    key, secret = with_store(
        lambda _, store: Keys(store).create(
            name, scopes, workspace_id=workspace, rate_limit=rate, lifetime=lifetime
        )
    )
    if as_json:
        write_json({**key.as_json(), "key": secret})
        return
    stdout().print(secret, markup=False)
    stderr().print(f"This is key {key.id} ({name}). It is not shown again.", markup=False)


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """Show all keys, without what would let anybody use them."""
    keys = with_existing_store(lambda _, store: Keys(store).all())
    if as_json:
        for key in keys:
            write_json(key.as_json())
        return
    headings = ("id", "name", "scopes", "workspace", "a minute", "created", "expires", "revoked")
    print_table("Keys, beside the service key", headings, [_row(key) for key in keys])


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id of the key, as `keys list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Let a key be good for nothing any more, within seconds."""
    if key_id == SERVICE:
        complain("the service key is a setting: change PENSTOCK_API__SERVICE_KEY")
        raise typer.Exit(ExitCode.USAGE)
    found = with_existing_store(lambda _, store: Keys(store).revoke(key_id))
    if as_json:
        write_json({"id": key_id, "revoked": found})
    elif found:
        stdout().print(f"key {key_id} is revoked", markup=False)
    if not found:
        complain(f"there is no key '{key_id}'")
        raise typer.Exit(ExitCode.TROUBLE)


def _row(key: Key) -> tuple[str, ...]:
    return (
        key.id,
        key.name,
        ", ".join(sorted(key.scopes)),
        key.workspace_id or "any",
        str(key.rate_limit or ""),
        moment(key.created_at),
        moment(key.expires_at),
        moment(key.revoked_at),
    )
