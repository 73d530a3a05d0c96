"""`penstock webhooks`: which callbacks were sent, which wait or were given up; send them again."""

from typing import Annotated, Any

import typer

from penstock.cli.output import ExitCode, complain, print_table, stdout, write_json
from penstock.cli.stores import moment, with_existing_store
from penstock.events.outbox import Outbox
from penstock.notify.webhooks import TOPICS, WebhookSubscription
from penstock.settings import Settings
from penstock.store.store import Store

app = typer.Typer(no_args_is_help=True, help="See to the callbacks of jobs and tasks.")

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]


@app.command("list")
def list_webhooks(
    parked: Annotated[bool, typer.Option("--parked", help="Only those given up.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List callbacks, the newest first: sent, waiting, or parked because they kept failing."""
    state = "parked" if parked else None
    entries = with_existing_store(lambda _, store: _outbox(store).entries(state, limit))
    if as_json:
        for entry in entries:
            write_json(entry)
        return
    headings = ("id", "job or task", "receiver", "state", "attempts", "at", "next", "error")
    print_table(f"{len(entries)} webhooks", headings, [_row(entry) for entry in entries])


@app.command()
def resend(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of `webhooks list`.")] = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="All that are parked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send callbacks again, with the ids they had: those named, or all that are parked."""
    if bool(ids) == all_of_them:
        complain("name webhooks to send again, or say --all for those that are parked")
        raise typer.Exit(ExitCode.USAGE)

    async def owe(settings: Settings, store: Store) -> int:
        del settings
        outbox = _outbox(store)
        return await (outbox.resend(ids) if ids else outbox.resend_parked())

    number = with_existing_store(owe)
    if as_json:
        write_json({"resent": number})
    else:
        stdout().print(f"{number} webhooks will be sent again", markup=False)
    if ids and number < len(set(ids)):
        complain(f"{len(set(ids)) - number} of them are not known, or no longer")
        raise typer.Exit(ExitCode.TROUBLE)


def _outbox(store: Store) -> Outbox:
    return Outbox(store, WebhookSubscription(), TOPICS)


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        entry["id"],
        entry["key"],
        entry["receiver"],
        entry["state"],
        "" if entry["attempts"] is None else str(entry["attempts"]),
        moment(entry["at"]),
        moment(entry["next_at"]),
        entry["error"] or "",
    )
