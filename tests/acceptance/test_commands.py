"""The commands as a person runs them, on the local site."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.site import Site

PENSTOCK = Path(sys.executable).with_name("penstock")
FAST = {
    "PENSTOCK_POLICIES__SHIPPED": "false",
    "PENSTOCK_PACING__REQUESTS_PER_SECOND": "1000",
    "PENSTOCK_PACING__REQUEST_DELAY_MS": "0",
    "PENSTOCK_RETRY__INITIAL_DELAY_MS": "1",
    "PENSTOCK_ROBOTS__RETRY_SECONDS": "0.01",
}


class Ran(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Shell:
    """Runs commands with the site's hosts known to them."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder
        known = ",".join(f"{name}={address}" for name, address in site.known_hosts.items())
        self.environment = {**os.environ, **FAST, "PENSTOCK_ADMISSION__KNOWN_HOSTS": known}

    async def start(self, *arguments: str, **settings: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            PENSTOCK,
            *arguments,
            cwd=self.folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self.environment, **settings},
        )

    async def run(self, *arguments: str, stdin: str = "", **settings: str) -> Ran:
        process = await self.start(*arguments, **settings)
        async with asyncio.timeout(30):
            out, err = await process.communicate(stdin.encode())
        return Ran(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    async with Site() as site:
        yield Shell(site, tmp_path)


async def test_fetch_says_for_each_url_what_the_gates_said(shell: Shell) -> None:
    ran = await shell.run("fetch", "http://shop01.test/product/1", "http://private.test/")
    assert ran.code == 1
    assert "✓ 200  http://shop01.test/product/1" in ran.out
    assert "✗ robots_denied  http://private.test/" in ran.out
    assert "group '*', line 2: Disallow: /" in ran.out
    for gate in ("admission: ok", "robots: allowed", "breaker: closed", "pacing: turn"):
        assert gate in ran.out
    assert ran.out.rstrip().splitlines()[-1].startswith("1 fetched, 1 robots_denied")


async def test_fetch_gives_one_json_object_per_url_and_keeps_bodies(shell: Shell) -> None:
    urls = [f"http://shop0{n}.test/product/{n}" for n in range(1, 6)]
    listed = shell.folder / "urls.txt"
    listed.write_text("# shops\n\n" + "\n".join(urls))
    ran = await shell.run("fetch", "-f", str(listed), "--json", "--save", "pages")
    assert ran.code == 0, ran.err
    assert {outcome["url"] for outcome in ran.objects} == set(urls)
    for outcome in ran.objects:
        body = (shell.folder / outcome["saved"]).read_bytes()
        assert outcome["status"] == "ok"
        assert len(body) == outcome["page"]["bytes"] > 10_000


async def test_fetch_reads_urls_from_a_pipe_and_names_what_is_no_url(shell: Shell) -> None:
    ran = await shell.run("fetch", "-f", "-", "--json", stdin="http://shop01.test/\nnonsense\n")
    results = {outcome["url"]: outcome for outcome in ran.objects}
    assert ran.code == 1
    assert results["http://shop01.test/"]["status"] == "ok"
    assert results["nonsense"]["failure"]["reason"] == "admission_syntax"


async def test_interrupt_finishes_what_is_under_way_and_names_the_rest(shell: Shell) -> None:
    urls = "\n".join(f"http://shop01.test/product/{n}" for n in range(1, 20))
    (shell.folder / "urls.txt").write_text(urls)
    process = await shell.start(
        "fetch", "-f", "urls.txt", "--json", "--leftovers", "left.txt",
        PENSTOCK_PACING__REQUEST_DELAY_MS="1000",
    )  # fmt: skip
    assert process.stdout
    async with asyncio.timeout(30):
        first = json.loads(await process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in (await process.communicate())[0].splitlines()]
    assert first["status"] == "ok"
    assert process.returncode == 130
    assert len({outcome["url"] for outcome in [first, *rest]}) == 19
    unfetched = [outcome["url"] for outcome in rest if outcome["status"] == "not_fetched"]
    assert sorted((shell.folder / "left.txt").read_text().split()) == sorted(unfetched)
    assert unfetched


async def test_the_polite_default_pace_needs_no_setting(shell: Shell) -> None:
    for name in FAST:
        del shell.environment[name]
    ran = await shell.run("fetch", "http://shop01.test/", "--json")
    waits = [said["answer"] for said in ran.objects[0]["gates"] if said["gate"] == "pacing"]
    assert "wait 2.0 s" in waits
    starts = [hit.started for hit in shell.site.hits]
    assert starts[1] - starts[0] >= 1.9


async def test_caller_headers_reach_only_their_origin(shell: Shell) -> None:
    away = "http://moved.test/redirect?to=http://shop01.test/_echo"
    ran = await shell.run("fetch", "-H", "X-Mine: secret", away, "--json")
    assert ran.code == 0
    assert "X-Mine" in shell.site.hits_of("moved.test", "/redirect")[0].headers
    assert "X-Mine" not in shell.site.hits_of("shop01.test", "/_echo")[0].headers


@pytest.mark.parametrize(
    ("arguments", "settings", "says"),
    [
        (["fetch"], {}, "nothing to fetch"),
        (["fetch", "-f", "missing.txt"], {}, "missing.txt cannot be read"),
        (["fetch", "-H", "nonsense", "http://a.test/"], {}, "is not a header"),
        (
            ["fetch", "http://a.test/"],
            {"PENSTOCK_HTTP__TIMEOUT_SECONDS": "0"},
            "PENSTOCK_HTTP__TIMEOUT_SECONDS",
        ),
        (["policy", "check", "missing.yaml"], {}, "missing.yaml: cannot be read"),
        (["fetch", "http://a.test/"], {"PENSTOCK_POLICIES__FILES": "no.yaml"}, "no.yaml"),
    ],
)
async def test_wrong_usage_is_one_line_and_exit_code_2(
    shell: Shell, arguments: list[str], settings: dict[str, str], says: str
) -> None:
    ran = await shell.run(*arguments, **settings)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err


async def test_robots_check_explains_by_group_and_line(shell: Shell) -> None:
    ran = await shell.run(
        "robots", "check", "--json", "http://shop01.test/cart", "http://shop01.test/product/1"
    )
    denied, allowed = ran.objects
    assert ran.code == 1
    assert (denied["allowed"], denied["group"], denied["line"]) == (False, "*", 2)
    assert allowed["allowed"]
    assert [hit.path for hit in shell.site.hits] == ["/robots.txt"]


async def test_robots_check_reads_a_file_for_any_agent(shell: Shell) -> None:
    (shell.folder / "robots.txt").write_text("User-agent: Other\nDisallow: /\n")
    asked = ["robots", "check", "--robots", "robots.txt", "http://x.com/a"]
    assert (await shell.run(*asked, "--agent", "Other")).code == 1
    assert (await shell.run(*asked, "--agent", "Penstock")).code == 0


async def test_url_shows_identity_and_policy_shows_who_says_so(shell: Shell) -> None:
    shown = (await shell.run("url", "--json", "HTTP://Shop.Test:80/a/?utm_id=1#x")).objects[0]
    assert shown["canonical"] == "https://shop.test/a"
    assert shown["fetched_as"] == "http://shop.test/a/?utm_id=1"
    policy = (
        await shell.run(
            "policy", "show", "www.linkedin.com", "--json", PENSTOCK_POLICIES__SHIPPED="true"
        )
    ).objects[0]
    assert (policy["tokens_per_interval"], policy["interval_seconds"]) == (1, 15)
    assert policy["said_by"]["tokens_per_interval"] == "policy of linkedin.com"


async def test_doctor_says_what_to_do(shell: Shell) -> None:
    well = await shell.run("doctor", "--json")
    assert well.code == 0
    contact = next(found for found in well.objects if found["subject"] == "identity")
    assert "PENSTOCK_IDENTITY__CONTACT" in contact["do"]
    ill = await shell.run("doctor", PENSTOCK_SHARED__URL="redis://127.0.0.1:1/0")
    assert ill.code == 1
    assert "PENSTOCK_SHARED__URL" in " ".join(ill.out.split())
