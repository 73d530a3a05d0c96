"""`penstock stream seeds`: URLs and sitemaps whose URLs are pushed again and again."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop

from penstock.app import build
from penstock.app.stream_servers import with_shared_redis
from penstock.app.stream_sources import keep_pushing, open_seeds, open_supply
from penstock.cli.output import ExitCode, complain, print_table, stderr, stdout, write_json
from penstock.cli.signals import on_signals
from penstock.core.clock import SystemClock
from penstock.core.ids import new_id
from penstock.core.log import configure
from penstock.settings import Settings, load_settings
from penstock.workloads.stream.seed_file import Seed, SeedsRefused, load_seeds
from penstock.workloads.stream.seeds import Round

app = typer.Typer(
    no_args_is_help=True,
    help="""Push URLs, and those of sitemaps, again and again.

    With PENSTOCK_STREAM__SEEDS_FILE `penstock up` and `penstock stream run` do it themselves.
    """,
)

SeedFile = Annotated[
    Path | None,
    typer.Argument(help="A YAML file of seeds; PENSTOCK_STREAM__SEEDS_FILE by default."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]


@app.command()
def check(file: SeedFile = None, as_json: AsJson = False) -> None:
    """Say what is wrong with a file of seeds, line by line, or show them."""
    seeds = _load(file, load_settings())
    if as_json:
        for seed in seeds:
            write_json(_as_json(seed))
        return
    rows = [(str(seed.line), seed.kind, seed.url, _when(seed), _which(seed)) for seed in seeds]
    print_table("Seeds", ("line", "kind", "URL", "when", "which"), rows)


@app.command()
def run(
    file: SeedFile = None,
    once: Annotated[bool, typer.Option("--once", help="Only what is due now.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object for each seed, with --once.")
    ] = False,
) -> None:
    """Push what is due, whenever it is; of several such processes one at a time does it.

    Sitemaps are fetched as politely as pages. So on the store alone this cannot run beside
    `penstock up`, which pushes the seeds of PENSTOCK_STREAM__SEEDS_FILE itself.
    """
    if as_json and not once:
        complain("--json needs --once: what goes on for ever is in the log")
        raise typer.Exit(ExitCode.USAGE)
    settings = with_shared_redis(load_settings())
    seeds = _load(file, settings)
    level = settings.log.level if once else settings.log.service_level
    configure(level, form=settings.log.form)
    if once:
        _show(uvloop.run(_push_once(settings, seeds)), as_json)
    else:
        uvloop.run(_keep_pushing(settings, seeds))


async def _push_once(settings: Settings, seeds: Sequence[Seed]) -> list[Round]:
    async with (
        open_supply(settings, SystemClock()) as supply,
        build(settings) as platform,
    ):
        return await open_seeds(settings, platform, supply, seeds, new_id()).once()


async def _keep_pushing(settings: Settings, seeds: Sequence[Seed]) -> None:
    async with (
        open_supply(settings, SystemClock()) as supply,
        build(settings) as platform,
    ):
        pushing = asyncio.create_task(keep_pushing(settings, platform, supply, seeds))

        def end() -> None:
            pushing.cancel()

        on_signals(end, end)
        stderr().print(f"{len(seeds)} seeds are pushed when they are due; Ctrl-C ends it")
        with suppress(asyncio.CancelledError):
            await pushing


def _load(file: Path | None, settings: Settings) -> list[Seed]:
    path = file or settings.stream.seeds_file
    if path is None:
        complain("name a file of seeds, or set PENSTOCK_STREAM__SEEDS_FILE")
        raise typer.Exit(ExitCode.USAGE)
    try:
        return load_seeds(path)
    except SeedsRefused as refused:
        for problem in refused.problems:
            complain(problem)
        raise typer.Exit(ExitCode.USAGE) from refused


def _show(rounds: Sequence[Round], as_json: bool) -> None:
    if as_json:
        for each in rounds:
            write_json(each.as_json())
    elif rounds:
        columns = ("seed", "found", "known", "pushed", "next")
        rows = [
            (each.seed.url, *map(str, (each.found, each.known, each.pushed)), _moment(each))
            for each in rounds
        ]
        print_table("Seeds", columns, rows)
    else:
        stdout().print("nothing was pushed: no seed is due, or another process has them")
    troubles = [trouble for each in rounds if each.walked for trouble in each.walked.troubles]
    for trouble in troubles:
        complain(str(trouble))
    if troubles:
        raise typer.Exit(ExitCode.TROUBLE)


def _moment(done: Round) -> str:
    return f"{done.next_at:%Y-%m-%d %H:%M:%S}Z"


def _when(seed: Seed) -> str:
    timing = seed.timing
    often = f"{timing.cron} {timing.zone}" if timing.cron else f"every {timing.every:g} s"
    return often + (f", up to {timing.jitter:g} s later" if timing.jitter else "")


def _which(seed: Seed) -> str:
    """What of a sitemap is wanted, in the words of the file."""
    said = {
        "include": " ".join(seed.include),
        "exclude": " ".join(seed.exclude),
        "since": "" if seed.since is None else str(seed.since),
        "limit": "" if seed.limit is None else str(seed.limit),
        "any_site": "true" if seed.any_site else "",
    }
    return "; ".join(f"{name} {value}" for name, value in said.items() if value)


def _as_json(seed: Seed) -> dict[str, Any]:
    return {
        "line": seed.line,
        "kind": seed.kind,
        "url": seed.url,
        **seed.timing.as_json(),
        "limit": seed.limit,
        "include": seed.include,
        "exclude": seed.exclude,
        "since": None if seed.since is None else str(seed.since),
        "any_site": seed.any_site,
    }
