"""The demo: `penstock fetch` on the local site, with everything that can go wrong on the way,
`penstock extract` on the products of its shops, a durable run that is killed and goes on, the
price monitor, the catalogue, and a live match.

Starts the site on loopback, runs the real commands on it and shows what is seen.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.site import DEMO_HOSTS, Site
from tests.site.catalog_demo import show_catalog
from tests.site.commands import run, start
from tests.site.live_demo import show_live
from tests.site.monitor_demo import NotSeenError, show_monitor
from tests.site.shops import SHOPS

#: The demo's own pace: a person watches it, and the site is ours.
PACE = {
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_PACING__REQUESTS_PER_SECOND": "10",
    "PENSTOCK_PACING__REQUEST_DELAY_MS": "100",
    "PENSTOCK_BREAKER__COOLDOWN_SECONDS": "2",
    "PENSTOCK_ROBOTS__RETRY_SECONDS": "0.2",
    "PENSTOCK_RETRY__INITIAL_DELAY_MS": "300",
    "PENSTOCK_IDENTITY__CONTACT": "demo@penstock.invalid",
}
#: Beside the front page of every host: what each of these shows is told by its answer.
EXTRA = (
    "http://shop01.test/product/1",
    "http://shop01.test/cart",
    "http://outage.test/1",
    "http://outage.test/2",
    "http://outage.test/3",
    "http://moved.test/old",
    "http://moved.test/to-private",
    "http://moved.test/to-metadata",
    "http://moved.test/to-file",
    "http://blocked.test/captcha",
    "http://blocked.test/shell",
    "http://2130706433/latest/meta-data",
)
#: A product of every shop: other currencies, other words for the stock.
PRODUCTS = tuple(
    f"http://{host}/product/{number}"
    for host, number in zip(SHOPS, (1, 7, 3, 11, 5, 6, 14, 8, 9, 10), strict=True)
)


#: Enough for a run that can be killed in the middle.
DURABLE = tuple(f"http://{host}/product/{number}" for host in SHOPS for number in range(1, 7))


async def main() -> int:
    """Run the demo; the exit code is 0 if everything went as it should."""
    console = Console()
    async with Site() as site:
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        settings = {**PACE, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}
        try:
            await show_fetching(console, site, settings)
            await show_products(console, settings)
            await show_durability(console, settings)
            await show_monitor(console, site, settings)
            await show_catalog(console, site, settings)
            await show_live(console, site, settings)
        except NotSeenError as error:
            console.print(f"[red]This was not to be seen:[/] {escape(str(error))}")
            return 1
    console.print(
        "\nThe same for your own pages: [bold]docs/monitor.md, docs/catalog.md, docs/live.md[/]"
    )
    console.print("All of it in a browser, to look around in: the console ([bold]make console[/])")
    return 0


async def show_fetching(console: Console, site: Site, settings: dict[str, str]) -> None:
    """Fetch every host and everything that goes wrong."""
    urls = [f"http://{host}/" for host in DEMO_HOSTS] + list(EXTRA)
    console.print(f"[bold]{len(urls)} URLs of {len(DEMO_HOSTS)} hosts on loopback.[/]")
    console.print("The policy of this demo, on top of the polite defaults:")
    for name, value in PACE.items():
        console.print(f"  {name}={value}", highlight=False)
    outcomes = []
    with console.status("fetching…") as status:
        async for outcome in fetch(urls, settings):
            outcomes.append(outcome)
            status.update(f"fetching… {len(outcomes)} of {len(urls)}")
    print_table(console, outcomes)
    console.print(
        f"The site saw {len(site.hits)} requests; connections into the private network: "
        f"[bold]{site.canary.connections}[/].\n"
    )
    if len(outcomes) != len(urls) or site.canary.connections:
        raise NotSeenError("an outcome of every URL, and none from the private network")


async def show_products(console: Console, settings: dict[str, str]) -> None:
    """Read a product of every shop."""
    with console.status("reading products…"):
        records = [record async for record in extract(PRODUCTS, settings)]
    print_records(console, records)
    console.print(
        "The same for your own pages: [bold]penstock extract PAGE.html --url URL --explain[/]"
    )
    if len(records) != len(PRODUCTS):
        raise NotSeenError("a record of every product")


async def show_durability(console: Console, settings: dict[str, str]) -> None:
    """Kill a run and resume it."""
    with console.status("killing and resuming…"):
        before, after = await kill_and_resume(DURABLE, settings)
    if before + after != len(DURABLE):
        raise NotSeenError("each URL of the durable run once")
    console.print(
        f"\nA durable run of {len(DURABLE)} URLs was killed with SIGKILL after {before} "
        f"outcomes, and run again: {after} more, each URL once. "
        "The same for your own: [bold]penstock fetch --durable -f urls.txt[/]"
    )


async def kill_and_resume(urls: Sequence[str], settings: dict[str, str]) -> tuple[int, int]:
    """Kill a durable run in the middle and run it again; how many outcomes each of them had."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "urls.txt").write_text("\n".join(urls))
        settings = {
            **settings,
            "PENSTOCK_STORE__FOLDER": folder,
            # That the killed one fell silent is no news here.
            "PENSTOCK_LOG__LEVEL": "ERROR",
        }
        command = ["fetch", "--durable", "-f", f"{folder}/urls.txt", "--json"]
        first = await start(command, settings)
        assert first.stdout
        for _ in range(len(urls) // 3):
            await first.stdout.readline()
        first.kill()
        await first.communicate()
        after = [line async for line in run(command, settings)]
        events = [line async for line in run(["events", "tail", "-n", "999", "--json"], settings)]
    assert len({event["data"]["url"] for event in events}) == len(events)
    return len(events) - len(after), len(after)


async def fetch(urls: Iterable[str], settings: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
    """Run `penstock fetch` as a person would, and read its lines as they come."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "urls.txt"
        path.write_text("\n".join(urls))
        async for line in run(["fetch", "-f", str(path), "--json"], settings):
            yield line


async def extract(urls: Iterable[str], settings: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
    """Run `penstock extract` on URLs as a person would."""
    async for line in run(["extract", *urls, "--json"], settings):
        yield line


def print_table(console: Console, outcomes: Iterable[dict[str, Any]]) -> None:
    table = Table(title="What became of them", title_justify="left", header_style="bold", box=None)
    for heading in ("URL", "result", "tries", "seconds"):
        table.add_column(heading, no_wrap=True)
    table.add_column("because", overflow="fold")
    for outcome in sorted(outcomes, key=lambda outcome: (outcome["domain"], outcome["url"])):
        page, failure = outcome["page"], outcome["failure"]
        good = failure is None
        table.add_row(
            outcome["url"].removeprefix("http://"),
            f"[green]{page['status']}[/]" if good else f"[red]{failure['reason']}[/]",
            str(outcome["attempts"]),
            f"{outcome['seconds']:.1f}",
            story(outcome) if good else failure["detail"],
        )
    console.print(table)


def print_records(console: Console, records: Iterable[dict[str, Any]]) -> None:
    title = "What the shops sell"
    table = Table(title=title, title_justify="left", header_style="bold", box=None)
    table.add_column("shop", no_wrap=True)
    table.add_column("product", no_wrap=True, max_width=28)
    table.add_column("price", no_wrap=True, justify="right")
    table.add_column("stock", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for record in records:
        verdict = record["verdict"] or record["reason"]
        table.add_row(
            record["url"].removeprefix("http://").partition("/")[0],
            record["name"],
            f"{record['price']} {record['currency']}",
            record["availability"] or "unknown",
            f"[green]{verdict}[/]" if verdict == "accept" else f"[red]{verdict}[/]",
        )
    console.print(table)


def story(outcome: dict[str, Any]) -> str:
    """What a page had to go through, beside the usual."""
    said = [f"{entry['gate']} {entry['answer']}" for entry in outcome["gates"]]
    parts = [f"from {outcome['page']['url']}"] if outcome["redirects"] else []
    parts += [text for text in dict.fromkeys(said) if text.startswith(("breaker wait", "result "))]
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
