"""`penstock forget`: erase what is kept of a workspace or of a page, everywhere."""

from collections import Counter
from collections.abc import Collection
from typing import Annotated

import typer

from penstock.app.engine import blobs_in_use, open_blobs, open_subscribers
from penstock.app.streaming import erase_streamed
from penstock.cli.output import ExitCode, complain, print_table, safe, stderr, write_json
from penstock.cli.stores import with_existing_store
from penstock.core.errors import UrlError
from penstock.core.urls import parse
from penstock.events.log import EventLog
from penstock.notify.webhooks import WebhookSubscription
from penstock.settings import Settings
from penstock.store.store import Store
from penstock.workloads.catalog import erasure as crawled
from penstock.workloads.fetch import erasure as fetched
from penstock.workloads.live import erasure as watched
from penstock.workloads.scrape.announcing import Announcer
from penstock.workloads.scrape.erasure import Erasure

WHAT = (
    *("tasks", "jobs", "outcomes", "items", "events", "submissions", "pages"),
    *("feeds", "updates", "errors", "blobs"),
)


def forget(
    workspace: Annotated[str | None, typer.Option(help="Everything of this workspace.")] = None,
    url: Annotated[str | None, typer.Option(help="Everything of this page.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Erase a workspace or a page for good: tasks, jobs, results, events, queue and blobs.

    What is being worked on is given up. Backups, an events file and Kafka are not touched; in Redis
    the body of exactly this URL is erased.
    """
    if bool(workspace) == bool(url):
        complain("say what to forget: --workspace W or --url U")
        raise typer.Exit(ExitCode.USAGE)
    _require_url(url)
    if not yes:
        typer.confirm(f"Erase everything of {safe(workspace or url or '')}?", abort=True)
    erased, left = with_existing_store(
        lambda settings, store: _erase(settings, store, workspace, url)
    )
    if as_json:
        write_json({"erased": erased})
    else:
        print_table("Erased", ("what", "how many"), [(name, str(erased[name])) for name in WHAT])
    for place in left:
        stderr().print(f"note: {place} still has what was written to it", markup=False)


def _require_url(url: str | None) -> None:
    try:
        if url:
            parse(url)
    except UrlError as error:
        complain(f"--url: {error}")
        raise typer.Exit(ExitCode.USAGE) from error


async def _erase(
    settings: Settings, store: Store, workspace: str | None, url: str | None
) -> tuple[dict[str, int], list[str]]:
    counts: Counter[str] = Counter()
    addresses: set[str] = set()
    erasure = open_erasure(settings, store)
    if workspace:
        erased = await erasure.erase_workspace(workspace)
    else:
        erased = await erasure.erase_page(url or "")
        counts, addresses = await fetched.erase_page(store, url or "")
        counts += await erase_streamed(settings, store, url or "")
        log = EventLog(store, open_subscribers(settings))
        crawled_counts, pages = await crawled.erase_page(store, url or "", log.append)
        watched_counts, evidence = await watched.erase_page(store, url or "")
        counts += crawled_counts + watched_counts
        addresses |= pages | evidence
    counts += erased.counts
    counts["blobs"] = await delete_blobs(settings, store, addresses | erased.blobs)
    places = [] if await store.sweep() else ["the log of the database, which is in use now,"]
    return {name: counts[name] for name in WHAT}, places + _out_of_reach(settings)


def _out_of_reach(settings: Settings) -> list[str]:
    """Where events went that cannot be taken back."""
    places = []
    if settings.events.file:
        places.append("the file of PENSTOCK_EVENTS__FILE")
    if settings.stream.uses_servers or settings.events.kafka_prefix:
        places.append("Kafka")
    return places


def open_erasure(settings: Settings, store: Store) -> Erasure:
    """Erases tasks; a job that ends by it is announced as any other."""
    log = EventLog(store, [WebhookSubscription()])
    announcer = Announcer(log, settings.scrape.default_webhook_url)
    return Erasure(store, announcer, settings.scrape.retention_hours)


async def delete_blobs(settings: Settings, store: Store, addresses: Collection[str]) -> int:
    """Delete those blobs that nothing else speaks of; how many."""
    blobs, wanted = open_blobs(settings), sorted(addresses)
    in_use = await blobs_in_use(store, wanted)
    unused = [address for address in wanted if address not in in_use]
    for address in unused:
        await blobs.delete(address)
    return len(unused)
