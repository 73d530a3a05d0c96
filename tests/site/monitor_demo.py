"""The demo of the price monitor: a shop's prices change, a page contradicts itself, a shop breaks.

`penstock up` runs beside it on a store of its own. What is done by hand goes through its API or
a command, and whatever is claimed on the screen was seen before; else `NotSeenError` ends it.
"""

import asyncio
import json
import re
import secrets
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.console import Console
from rich.text import Text

from tests.site import Reply, Site
from tests.site.commands import output_of, start
from tests.site.shops import product, product_page

#: Of this demo only: by default a shop is asked for one page in two seconds.
PACE = {
    "PENSTOCK_MONITOR__REQUESTS_PER_SECOND": "20",
    "PENSTOCK_MONITOR__REQUEST_DELAY_MS": "50",
    "PENSTOCK_MONITOR__MAX_CONCURRENT": "4",
    "PENSTOCK_MONITOR__TICK_SECONDS": "0.5",
}
CORNER, LAMPS = "Corner shop", "Lamp shop"
CORNER_HOST, LAMPS_HOST = "shop01.test", "lamps.test"
CORNER_URLS = tuple(f"http://{CORNER_HOST}/product/{number}" for number in range(1, 6))
LAMP_URLS = tuple(f"http://{LAMPS_HOST}/lamp/{number}" for number in range(1, 21))
ADAPTER = Path(__file__).with_name("lamps.py")
WATCHED, RIVALS = 1, 3
#: The price of what is watched, in per cent of the first one.
PERCENTS = (96, 91, 93, 85, 88)
#: Seconds until it is said that something does not happen.
PATIENCE = 60.0
INDENT = "    "
OTHER_PRICE = "198.75"
LAMP = "<html><body><h1>Lamp {}</h1><b class={}>${}.90</b><p class=stock>In stock</p></body></html>"
FIXED = "lamps@1.1.0"
FIX = {'VERSION = "1.0.0"': 'VERSION = "1.1.0"', 'PRICE = ".price"': 'PRICE = ".price, .amount"'}

Row = dict[str, Any]


class NotSeenError(Exception):
    """Something that the demo promises was not to be seen."""


@dataclass(frozen=True, slots=True)
class Api:
    """The API of a monitor that runs."""

    http: httpx.AsyncClient

    async def get(self, path: str, **query: str) -> Any:
        answer = await self.http.get(f"/api/v1/monitor{path}", params=query)
        return answer.raise_for_status().json()["data"]

    async def post(self, path: str, body: Row | None = None) -> Any:
        answer = await self.http.post(f"/api/v1/monitor{path}", json=body)
        return answer.raise_for_status().json()["data"]

    async def refusal(self, path: str, body: Row) -> str:
        """Why something is not done; empty if it is."""
        answer = await self.http.post(f"/api/v1/monitor{path}", json=body)
        return "" if answer.is_success else str(answer.json()["error"])

    async def read(self, **chosen: Any) -> Row:
        """Let targets be read now; the run as it ended."""
        [run_id] = (await self.post("/runs", chosen))["runs"]
        return await self.end_of(run_id)

    async def next_run(self, source: str, known: Collection[str] = ()) -> Row:
        """The next run that the scheduler starts by itself, as it ended."""
        async with asyncio.timeout(PATIENCE):
            while True:
                runs = await self.get("/runs", source=source)
                if new := [run["id"] for run in runs if run["id"] not in known]:
                    return await self.end_of(new[-1])
                await asyncio.sleep(0.05)

    async def end_of(self, run_id: str) -> Row:
        async with asyncio.timeout(PATIENCE):
            while True:
                run: Row = await self.get(f"/runs/{run_id}")
                if run["completed_at"]:
                    return run
                await asyncio.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Demo:
    """The screen, the shops, and the settings of the commands."""

    console: Console
    site: Site
    settings: Mapping[str, str]
    folder: Path

    def head(self, text: str) -> None:
        self.console.print(f"\n[bold]{text}[/]")

    def tell(self, text: str) -> None:
        """A line as it is: what pages say cannot change how it looks."""
        self.console.print(Text(f"{INDENT}{text}"))

    def saw(self, is_true: bool, what: str) -> None:
        """Say what is seen, if it is."""
        if not is_true:
            raise NotSeenError(what)
        self.console.print(Text("  ✓ ", style="green").append(what, style="default"))

    def show(self, arguments: Sequence[str]) -> None:
        """Show a command as somebody would type it."""
        self.console.print(Text(f"  $ penstock {shlex.join(arguments)}", style="bold"))

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Show a command and run it."""
        self.show(arguments)
        return await output_of(list(arguments), self.settings)

    @property
    def adapter(self) -> Path:
        return self.folder / "lamps.py"

    @property
    def candidate(self) -> Path:
        return self.folder / "lamps_fixed.py"


async def show_monitor(console: Console, site: Site, settings: Mapping[str, str]) -> None:
    """Show the monitor; raise `NotSeenError` if anything is not as it should be."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        own = {
            **settings,
            **PACE,
            "PENSTOCK_STORE__FOLDER": str(folder / "data"),
            "PENSTOCK_SHARED__LOCK_FILE": str(folder / "lock"),
            "PENSTOCK_API__SERVICE_KEY": secrets.token_hex(16),
            "PENSTOCK_LOG__LEVEL": "ERROR",
            # What commands draw is shown a little to the right.
            "COLUMNS": str(console.width - len(INDENT)),
            "PENSTOCK_EXTRACT__ADAPTERS": str(folder / "lamps.py"),
        }
        demo = Demo(console, site, own, folder)
        shutil.copy(ADAPTER, demo.adapter)
        _serve_lamps(site, "price")
        demo.head("The price monitor, with a faster policy than the default (0.5 requests/s):")
        for setting, value in PACE.items():
            demo.tell(f"{setting}={value}")
        async with running(demo.settings) as api:
            await _add_shops(demo, api)
            await _change_prices(demo, api)
            await _contradict(demo, api)
            await _break_shop(demo, api)
        await _prove_the_fix(demo)
        # The fixed adapter takes the place of the old one; what ran before has ended.
        mended = {**own, "PENSTOCK_EXTRACT__ADAPTERS": str(demo.candidate)}
        async with running(mended) as api:
            await _enable_again(demo, api)


@asynccontextmanager
async def running(settings: Mapping[str, str]) -> AsyncIterator[Api]:
    """`penstock up`, from its start to its gentle end."""
    process = await start(["up", "--port", "0"], settings, stderr=asyncio.subprocess.PIPE)
    headers = {"X-Service-Key": settings["PENSTOCK_API__SERVICE_KEY"]}
    try:
        address = await _address_of(process)
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=PATIENCE) as http:
            yield Api(http)
    finally:
        if process.returncode is None:
            process.terminate()
        _, said = await process.communicate()
        if error := sys.exception():
            error.add_note(f"penstock up said:\n{said.decode()}")


async def _address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stderr
    said = ""
    async with asyncio.timeout(PATIENCE):
        async for line in process.stderr:
            said += line.decode()
            if found := re.search(r"listens on (http://\S+)", said):
                return found[1]
    raise NotSeenError(f"a start of penstock up; it said: {said}")


async def _add_shops(demo: Demo, api: Api) -> None:
    demo.head("Two shops are added")
    shops = ((LAMPS, LAMPS_HOST, "lamps", LAMP_URLS), (CORNER, CORNER_HOST, None, CORNER_URLS))
    sources = []
    for name, domain, adapter, urls in shops:
        about = {"name": name, "domain": domain, "retailer": name, "adapter_id": adapter}
        sources.append(await api.post("/sources", about))
        report = await api.post("/imports", {"text": "\n".join(["url", *urls]), "source": name})
        demo.saw(report["added"] == len(urls), f"{name}: {len(urls)} URLs are watched")
    waits = {target["waits_for"] for target in await api.get("/targets")}
    demo.saw(
        len(waits) == len(shops) and not demo.site.hits_of(LAMPS_HOST),
        "nothing is fetched yet: nobody has approved the terms of service",
    )
    for source, (name, _, _, urls) in zip(sources, shops, strict=True):
        await api.post(f"/sources/{source['id']}/approve")
        run = await api.next_run(name)
        demo.saw(
            run["offers_valid"] == len(urls) and run["status"] == "SUCCESS",
            f"{name} is approved, and the scheduler has it read: {run['offers_valid']} prices",
        )


async def _change_prices(demo: Demo, api: Api) -> None:
    demo.head("The corner shop changes a price while you watch")
    first = Decimal(product(CORNER_HOST, WATCHED).price_minor) / 100
    target = await _target_of(api, CORNER_URLS[WATCHED - 1])
    expected = [first]
    for percent in PERCENTS:
        amount = (first * percent / 100).quantize(first)
        page = product_page(CORNER_HOST, WATCHED).replace(str(first), str(amount))
        demo.site.reply(CORNER_HOST, f"/product/{WATCHED}", Reply(200, page))
        await api.read(target_ids=[target["id"]])
        newest, *_ = await api.get("/prices", target_id=target["id"])
        seen = Decimal(newest["price"])
        demo.saw(seen == amount, f"{expected[-1]} → {seen} USD")
        expected.append(amount)
    await _draw_history(demo, CORNER_URLS[WATCHED - 1])
    found = await api.get("/prices", target_id=target["id"])
    runs = {price["ingestion_run_id"] for price in found}
    demo.saw(
        [Decimal(price["price"]) for price in reversed(found)] == expected
        and len(runs) == len(expected),
        f"{len(expected)} prices, each with its run; none was overwritten",
    )


async def _draw_history(demo: Demo, url: str) -> None:
    code, text = await demo.command("monitor", "prices", "history", url)
    chart, *table = re.split(r"\n.*prices; the newest", text)
    for line in chart.rstrip().splitlines():
        demo.tell(line)
    demo.saw(code == 0 and "●" in chart and bool(table), "the history is drawn")


async def _contradict(demo: Demo, api: Api) -> None:
    demo.head("A page contradicts itself")
    item = product(CORNER_HOST, RIVALS)
    page = product_page(CORNER_HOST, RIVALS)
    shown = page.replace(item.price_text, f"${OTHER_PRICE}", 1)
    demo.site.reply(CORNER_HOST, f"/product/{RIVALS}", Reply(200, shown))
    target = await _target_of(api, CORNER_URLS[RIVALS - 1])
    run = await api.read(source=CORNER)
    [offer] = await api.get("/quarantine", source=CORNER)
    both = (item.price_text.strip("$"), OTHER_PRICE)
    demo.saw(
        offer["reason"] == "AMBIGUOUS_PRICE" and all(each in offer["detail"] for each in both),
        f"quarantined, {offer['reason']}: {offer['detail']}",
    )
    found = await api.get("/prices", target_id=target["id"])
    demo.saw(len(found) == 1, "no price was written of it; a person releases or discards it")
    demo.saw(
        run["unchanged_count"] == len(CORNER_URLS) - 1,
        f"the other {run['unchanged_count']} pages had not changed and cost no extraction",
    )


async def _break_shop(demo: Demo, api: Api) -> None:
    demo.head("The lamp shop changes its markup")
    _serve_lamps(demo.site, "amount")
    first = await api.read(source=LAMPS)
    demo.saw(
        first["status"] == "FAILED" and first["extraction_failures"] == len(LAMP_URLS),
        f"first batch: {first['extraction_failures']} of {first['urls_total']} pages unreadable",
    )
    alerts = await api.get("/alerts")
    for alert in alerts:
        demo.tell(f"{alert['severity']} {alert['subject']}: {alert['message']}")
    [status] = await _statuses(api)
    demo.saw(bool(alerts) and status["enabled"], "ops are told; the adapter may go on once more")
    demo.tell("The same on your own: penstock monitor alerts")
    second = await api.read(source=LAMPS)
    [status] = await _statuses(api)
    demo.saw(
        second["status"] == "QUARANTINED" and not status["enabled"],
        f"second batch: the adapter disables itself, {status['disabled_reason']}",
    )
    refusal = await api.refusal("/runs", {"source": LAMPS})
    demo.saw("disabled" in refusal, f"who asks for another run is told: {refusal}")
    found = await api.get("/prices", source=LAMPS)
    demo.saw(len(found) == len(LAMP_URLS), "not one wrong price was written")


async def _prove_the_fix(demo: Demo) -> None:
    demo.head("The adapter is fixed, and proven on the pages that were kept")
    text = demo.adapter.read_text()
    for before, after in FIX.items():
        demo.tell(f"- {before}")
        demo.tell(f"+ {after}")
        text = text.replace(before, after)
    demo.candidate.write_text(text)
    settings = {**demo.settings, "PENSTOCK_EXTRACT__CANDIDATES": str(demo.candidate)}
    trial = Demo(demo.console, demo.site, settings, demo.folder)
    code, said = await trial.command("monitor", "replay", "--adapter", FIXED, "--json")
    *pages, last = [json.loads(line) for line in said.splitlines()]
    summary = last["summary"]
    demo.saw(
        (code, summary["newly_failing"], summary["changed"]) == (0, 0, 0)
        and summary["same"] == len(LAMP_URLS)
        and summary["newly_good"] == len(pages) >= len(LAMP_URLS),
        f"{summary['pages']} pages read again: {summary['same']} as before, "
        f"{summary['newly_good']} newly good, none worse",
    )


async def _enable_again(demo: Demo, api: Api) -> None:
    demo.head("The fixed adapter is put in its place and enabled by hand")
    [status] = await _statuses(api)
    demo.saw(not status["enabled"], "a restart alone does not enable it")
    known = {run["id"] for run in await api.get("/runs", source=LAMPS)}
    await api.post(f"/adapters/{status['adapter_id']}/enable")
    canary = await api.next_run(LAMPS, known)
    demo.saw(
        canary["is_canary"] and canary["offers_valid"] == canary["urls_total"] < len(LAMP_URLS),
        f"its first run is a canary of {canary['urls_total']} pages, and good",
    )
    rest = await api.next_run(LAMPS, {*known, canary["id"]})
    demo.saw(
        not rest["is_canary"]
        and rest["offers_valid"] == len(LAMP_URLS) - canary["urls_total"]
        and f"lamps@{rest['adapter_version']}" == FIXED,
        f"so the rest may go: {rest['offers_valid']} prices by {FIXED}",
    )


async def _target_of(api: Api, url: str) -> Row:
    targets: Sequence[Row] = await api.get("/targets", source=CORNER)
    [target] = [target for target in targets if target["url"] == url]
    return target


async def _statuses(api: Api) -> list[Row]:
    """How the adapter of the lamp shop fares."""
    return [status for status in await api.get("/adapters") if status["adapter"] == "lamps"]


def _serve_lamps(site: Site, price_class: str) -> None:
    for number, url in enumerate(LAMP_URLS, 1):
        path = url.removeprefix(f"http://{LAMPS_HOST}")
        site.reply(LAMPS_HOST, path, Reply(200, LAMP.format(number, price_class, 20 + number)))
