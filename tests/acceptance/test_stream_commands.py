"""`penstock stream seeds`, `links` and `tail`, as an operator runs them, on either back end."""

import asyncio
import json
import signal
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.forks import Command
from tests.page_fetchers import FAST, QUICK, Servers, as_environment
from tests.shell import Shell, eventually
from tests.site import Reply
from tools.provision.processes import free_port

HOST = "http://one.test"
SEEDS = f"""
- sitemap: {HOST}/robots.txt
  every: 1h
  exclude: /private
- url: {HOST}/alone
  cron: "0 6 * * *"
"""
ROBOTS = f"User-agent: *\nAllow: /\nSitemap: {HOST}/sitemap.xml\n"
SITEMAP = f"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{HOST}/a</loc></url><url><loc>{HOST}/b</loc></url><url><loc>{HOST}/private/c</loc></url>
</urlset>"""
#: Every page leads to the next, and elsewhere.
CHAIN = ("/a", "/a/1", "/a/2", "/a/3")
NEAR = sorted(f"{HOST}{path}" for path in ("/a", "/a/1", "/a/2", "/alone", "/b"))


def page(path: str) -> str:
    links = dict(pairwise(CHAIN))
    further = f'<a href="{links[path]}">on</a>' if path in links else ""
    return f'<title>{path}</title>{further}<a href="http://two.test/">out</a><p>text</p>' * 3


@dataclass
class Stream:
    """The commands of a page fetcher, in processes of their own."""

    shell: Shell
    settings: Mapping[str, str]
    servers: Servers | None

    @property
    def seeds(self) -> str:
        path = self.shell.folder / "seeds.yaml"
        path.write_text(SEEDS, encoding="utf-8")
        return str(path)

    async def run(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        ran = await self.shell.run("stream", *arguments, "--json", **self.settings)
        assert ran.code == code, ran.err
        return ran.objects

    async def say(self, *arguments: str) -> str:
        ran = await self.shell.run("stream", *arguments, **self.settings)
        assert ran.code == 0, ran.err
        return ran.out

    async def start(self, *arguments: str, **more: str) -> Command:
        settings = {**self.settings, **as_environment("stream", more)}
        return await self.shell.start("stream", *arguments, **settings)

    async def urls(self) -> list[str]:
        return sorted(page["url"] for page in await self.run("tail", "-n", "100"))

    async def has(self, *urls: str) -> bool:
        return set(urls) <= set(await self.urls())


@pytest.fixture
def on_store(tmp_path: Path) -> tuple[Mapping[str, str], None]:
    folder = {"PENSTOCK_STORE__FOLDER": str(tmp_path / "store")}
    return {**FAST, **folder, **as_environment("stream", {**QUICK, "links_depth": 2})}, None


@pytest.fixture
def on_servers(servers: Servers) -> tuple[Mapping[str, str], Servers]:
    return servers.environment(links_depth=2, port=0), servers


@pytest.fixture(params=["store", "servers"])
def stream(request: pytest.FixtureRequest, shell: Shell) -> Stream:
    settings, servers = request.getfixturevalue(f"on_{request.param}")
    site = shell.site
    site.robots["one.test"] = ROBOTS
    site.reply("one.test", "/sitemap.xml", Reply(200, SITEMAP, {"Content-Type": "text/xml"}))
    for path in (*CHAIN, "/b", "/alone"):
        site.reply("one.test", path, Reply(200, page(path), {"Content-Type": "text/html"}))
    return Stream(shell, settings, servers)


async def is_up(process: Command) -> None:
    """Return when a page fetcher has what it needs."""
    async with asyncio.timeout(30):
        while b" is up" not in await process.stderr.readline():
            pass


async def end(process: Command) -> int:
    """End a command as Ctrl-C does; the code that it ends with."""
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(20):
        await process.communicate()
    return process.returncode or 0


async def test_seeds_become_pages_and_links_are_followed_within_their_depth(
    stream: Stream,
) -> None:
    rounds = {
        each["seed"]: each for each in await stream.run("seeds", "run", stream.seeds, "--once")
    }
    running = [await stream.start("run"), await stream.start("links")]
    await eventually(lambda: stream.has(*NEAR), 60)
    folder = stream.shell.folder / "bodies"
    pages = await stream.run("tail", "-n", "100", "--bodies", str(folder))
    again = await stream.run("seeds", "run", stream.seeds, "--once") if stream.servers else []
    codes = [await end(process) for process in reversed(running)]

    assert rounds[f"{HOST}/robots.txt"]["pushed"] == 2
    assert rounds[f"{HOST}/robots.txt"]["unwanted"] == 1
    assert rounds[f"{HOST}/alone"]["pushed"] == 1
    assert again == []
    assert codes == [0, 0]
    assert sorted(page["url"] for page in pages) == NEAR
    assert all(page["has_body"] for page in pages)
    bodies = {file.name: file.read_text() for file in folder.iterdir()}
    expected = {url: page(url.removeprefix(HOST)) for url in NEAR}
    assert bodies == {sha256(url.encode()).hexdigest(): body for url, body in expected.items()}
    assert not stream.shell.site.hits_of("one.test", "/a/3")
    assert not stream.shell.site.hits_of("two.test")


async def test_seeds_of_the_settings_are_pushed_beside_the_fetching(stream: Stream) -> None:
    running = await stream.start("run", seeds_file=stream.seeds)
    await is_up(running)
    await eventually(lambda: stream.has(f"{HOST}/a", f"{HOST}/b", f"{HOST}/alone"), 60)

    assert await end(running) == 0


async def test_tail_goes_on_as_pages_come(stream: Stream) -> None:
    await stream.run("push", f"{HOST}/a")
    running = await stream.start("run")
    await eventually(stream.urls, 60)
    tail = await stream.start("tail", "-f", "-n", "1", "--json")
    async with asyncio.timeout(30):
        first = json.loads(await tail.stdout.readline())
        await stream.run("push", f"{HOST}/b")
        second = json.loads(await tail.stdout.readline())

    assert [await end(tail), await end(running)] == [0, 0]
    assert [first["url"], second["url"]] == [f"{HOST}/a", f"{HOST}/b"]


async def test_tail_for_people_says_what_is_kept(stream: Stream) -> None:
    await stream.run("push", f"{HOST}/a")
    running = await stream.start("run", cache_ttl_seconds="1")
    await eventually(stream.urls, 60)

    async def said(word: str) -> bool:
        return word in await stream.say("tail")

    await eventually(lambda: said("expired"))
    await end(running)
    line = await stream.say("tail", "-n", "1")

    assert line.split()[2:4] == ["200", str(len(page("/a")))]
    assert line.endswith(f"expired  text/html         {HOST}/a\n")


@pytest.mark.parametrize("stream", ["store"], indirect=True)
async def test_links_are_followed_from_where_they_were_left(stream: Stream) -> None:
    await stream.run("push", f"{HOST}/a")
    fetching = await stream.start("run")
    following = await stream.start("links")
    await eventually(lambda: stream.has(f"{HOST}/a/2"), 60)
    last = (await stream.run("tail", "-n", "1"))[0]["offset"]
    store = stream.shell.folder / "store" / "penstock.db"
    query = "select name, seq from stream_consumers"

    def committed() -> bool:
        with sqlite3.connect(store) as connection:
            return connection.execute(query).fetchall() == [("penstock-links", last)]

    await eventually(committed)

    assert [await end(following), await end(fetching)] == [0, 0]


@pytest.mark.parametrize("stream", ["servers"], indirect=True)
async def test_links_wait_for_brokers_that_are_away(stream: Stream) -> None:
    nowhere = f"127.0.0.1:{free_port()}"
    following = await stream.start("links", kafka_bootstrap_servers=nowhere)
    async with asyncio.timeout(30):
        while b"no events for now" not in await following.stderr.readline():
            pass

    assert await end(following) == 0


@pytest.mark.parametrize("stream", ["servers"], indirect=True)
async def test_seeds_are_pushed_until_ended_and_then_by_another_at_once(stream: Stream) -> None:
    assert stream.servers
    client = stream.servers.client
    first = await stream.start("seeds", "run", stream.seeds)
    await eventually(stream.servers.left)
    await eventually(lambda: client.exists("crawler_queue:seeds:holder"))

    assert await end(first) == 0
    assert not await client.exists("crawler_queue:seeds:holder")


async def test_check_says_what_is_wrong_with_a_file_and_in_which_line(
    shell: Shell, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(SEEDS, encoding="utf-8")
    bad.write_text(f"- url: {HOST}/\n  evry: 1h\n- sitemap: {HOST}/x.xml\n", encoding="utf-8")

    shown = await shell.run("stream", "seeds", "check", str(good))
    as_json = await shell.run("stream", "seeds", "check", str(good), "--json")
    refused = await shell.run("stream", "seeds", "check", str(bad))
    missing = await shell.run("stream", "seeds", "check")

    assert (shown.code, refused.code, missing.code) == (0, 2, 2)
    assert "exclude /private" in shown.out
    assert [(each["kind"], each["line"]) for each in as_json.objects] == [
        ("sitemap", 2),
        ("url", 5),
    ]
    assert f"{bad}:2: unknown key 'evry'; did you mean 'every'?" in refused.err
    assert f"{bad}:3: a schedule needs" in refused.err
    assert "PENSTOCK_STREAM__SEEDS_FILE" in missing.err


async def test_a_file_that_cannot_be_used_keeps_the_service_from_starting(
    shell: Shell, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(f"- url: {HOST}/\n", encoding="utf-8")

    ran = await shell.run("stream", "run", PENSTOCK_STREAM__SEEDS_FILE=str(bad))

    assert ran.code == 2
    assert f"PENSTOCK_STREAM__SEEDS_FILE: {bad}:1: a schedule needs" in ran.err


async def test_a_sitemap_that_cannot_be_had_is_told_and_ends_with_trouble(
    shell: Shell, tmp_path: Path
) -> None:
    shell.site.reply("one.test", "/sitemap.xml", Reply(404))
    seeds = tmp_path / "seeds.yaml"
    seeds.write_text(f"- sitemap: {HOST}/sitemap.xml\n  every: 1h\n", encoding="utf-8")

    ran = await shell.run("stream", "seeds", "run", str(seeds), "--once")

    assert ran.code == 1
    assert f"{HOST}/sitemap.xml" in ran.err


async def test_tail_without_a_store_says_where_to_look(shell: Shell) -> None:
    ran = await shell.run("stream", "tail")

    assert ran.code == 2
    assert "PENSTOCK_STORE__FOLDER" in ran.err
