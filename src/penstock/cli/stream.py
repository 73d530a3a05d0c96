"""`penstock stream`: URLs in, pages in a cache, and an event for each."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer
import uvloop

from penstock.app.stream_desk import open_desk
from penstock.app.stream_servers import kafka_module
from penstock.cli.output import ExitCode, complain, print_table, safe, stderr, stdout, write_json
from penstock.cli.sources import UrlSource
from penstock.cli.stream_links import links as follow_links
from penstock.cli.stream_run import run as run_stream
from penstock.cli.stream_seeds import app as seeds
from penstock.cli.stream_tail import tail as show_tail
from penstock.core.clock import SystemClock
from penstock.core.log import configure
from penstock.settings import Settings, load_settings
from penstock.workloads.stream.desk import QUEUE_FULL, DeadLetter, Desk, Pushed

T = TypeVar("T")
#: URLs are handed in so many at a time.
AT_ONCE = 1000

app = typer.Typer(
    no_args_is_help=True,
    help="""Fetch URLs from a queue; pages go to a cache, and an event for each to who listens.

    On the store, so that a laptop is enough:  penstock stream push URL…; penstock stream run

    On servers:  PENSTOCK_STREAM__REDIS_URL=redis://… PENSTOCK_STREAM__KAFKA_BOOTSTRAP_SERVERS=…
    """,
)
dlq = typer.Typer(no_args_is_help=True, help="Look after URLs that failed for good.")
app.add_typer(dlq, name="dlq")
app.add_typer(seeds, name="seeds")
app.command("run")(run_stream)
app.command("links")(follow_links)
app.command("tail")(show_tail)

AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]
Urls = Annotated[list[str] | None, typer.Argument(help="URLs.")]
Domain = Annotated[str, typer.Option(help="Only those of this domain.")]
Reason = Annotated[str, typer.Option(help="Only those with this reason, e.g. http_404.")]
All = Annotated[bool, typer.Option("--all", help="All that --domain and --reason leave.")]


@app.command()
def push(
    urls: Urls = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="A file of URLs, one per line; - for stdin.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put URLs in the queue; any other client of Redis may RPUSH them as well."""
    if not urls and file is None:
        complain("name URLs, or a file of them with -f")
        raise typer.Exit(ExitCode.USAGE)

    async def hand_in(settings: Settings, desk: Desk) -> tuple[int, list[Pushed]]:
        del settings
        parts, batch = [], []
        with UrlSource(urls or [], file) as source:
            async for url in source.read():
                batch.append(url)
                if len(batch) == AT_ONCE:
                    parts.append(await _push_all(desk, batch))
                    batch = []
        if batch:
            parts.append(await _push_all(desk, batch))
        return sum(part.accepted for part in parts), parts

    accepted, parts = _at_desk(hand_in)
    refused = [each for part in parts for each in part.rejected]
    if as_json:
        write_json({"accepted": accepted, "rejected": [each._asdict() for each in refused]})
    else:
        for each in refused:
            complain(f"{each.url}: {each.detail or each.reason}")
        stdout().print(f"{accepted} URLs wait to be fetched")
    if refused:
        raise typer.Exit(ExitCode.TROUBLE)


async def _push_all(desk: Desk, urls: list[str]) -> Pushed:
    """Hand URLs in; a full queue is waited for."""
    accepted, refused, rest = 0, [], urls
    while rest:
        pushed = await desk.push(rest)
        accepted += pushed.accepted
        full = [each.url for each in pushed.rejected if each.reason == QUEUE_FULL]
        refused += [each for each in pushed.rejected if each.reason != QUEUE_FULL]
        if rest := full:
            stderr().print(f"the queue is full: {len(full)} URLs wait for room")
            await asyncio.sleep(pushed.retry_after or 1.0)
    return Pushed(accepted, refused)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show how many URLs wait, are parked with their domain, are under way, and are dead."""
    standing = _at_desk(lambda _, desk: desk.depth())
    if as_json:
        write_json(standing._asdict())
        return
    print_table("Stream", standing._fields, [tuple(str(number) for number in standing)])


@app.command()
def init(
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Of the topic; a setting by default.")
    ] = None,
    replication: Annotated[int, typer.Option(min=1, help="Copies of each partition.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Create the topic of page events in Kafka; one that is there stays as it is."""
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    stream = settings.stream
    if not stream.uses_servers:
        stdout().print("events are in the store: there is nothing to create")
        return
    topic = uvloop.run(
        kafka_module().create_topic(
            stream.kafka_bootstrap_servers,
            stream.webpage_log_topic,
            partitions or stream.topic_partitions,
            replication,
            **stream.kafka_options,
        )
    )
    if as_json:
        write_json(topic._asdict())
        return
    done = "created" if topic.created else "was there already"
    stdout().print(f"topic {topic.name} {done}: {topic.partitions} partitions", markup=False)


@dlq.command("list")
def list_dead(
    domain: Domain = "",
    reason: Reason = "",
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show URLs that failed for good, oldest first, and why."""

    async def look(settings: Settings, desk: Desk) -> list[DeadLetter]:
        del settings
        found: list[DeadLetter] = []
        cursor: str | None = None
        while len(found) < limit:
            part = await desk.dead(cursor, limit - len(found), domain=domain, reason=reason)
            found += part.letters
            cursor = part.next_cursor
            if cursor is None:
                break
        return found

    letters = _at_desk(look)
    if as_json:
        for letter in letters:
            write_json(asdict(letter))
        return
    rows = [
        (
            f"{each.at:%Y-%m-%d %H:%M}" if each.at else "",
            each.reason,
            safe(each.url),
            safe(each.detail),
        )
        for each in letters
    ]
    print_table("Dead letters", ("at", "reason", "URL", "detail"), rows)


@dlq.command()
def revive(
    urls: Urls = None,
    domain: Domain = "",
    reason: Reason = "",
    all_of_them: All = False,
    as_json: AsJson = False,
) -> None:
    """Let URLs wait again as if they were new: some, or all of a domain or reason."""
    _require_choice(urls, domain, reason, all_of_them)
    number = _at_desk(lambda _, desk: desk.revive(urls or None, domain=domain, reason=reason))
    _told("revived", number, as_json)


@dlq.command()
def discard(
    urls: Urls = None,
    domain: Domain = "",
    reason: Reason = "",
    all_of_them: All = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget URLs that failed for good."""
    _require_choice(urls, domain, reason, all_of_them)
    if not yes:
        typer.confirm("Forget them for good?", abort=True)
    number = _at_desk(lambda _, desk: desk.discard(urls or None, domain=domain, reason=reason))
    _told("discarded", number, as_json)


def _require_choice(urls: list[str] | None, domain: str, reason: str, all_of_them: bool) -> None:
    if not (urls or domain or reason or all_of_them):
        complain("name URLs, a --domain or a --reason, or say --all")
        raise typer.Exit(ExitCode.USAGE)


def _told(what: str, number: int, as_json: bool) -> None:
    if as_json:
        write_json({what: number})
    else:
        stdout().print(f"{number} {what}")


def _at_desk(ask: Callable[[Settings, Desk], Awaitable[T]]) -> T:
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)

    async def run() -> T:
        async with open_desk(settings, SystemClock()) as desk:
            return await ask(settings, desk)

    return uvloop.run(run())
