"""The commands as a person runs them, on the local site."""

import asyncio
import json
import signal

import pytest

from tests.shell import FAST, PENSTOCK, Shell
from tests.site import Hit, Reply


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


async def test_policy_says_which_file_it_is_from_and_prints_nothing_but_json(shell: Shell) -> None:
    file = shell.folder / "mine.yaml"
    file.write_text("domains: {lenient.test: {respect_robots_txt: false}}")
    asked = ["policy", "show", "lenient.test"]
    ran = await shell.run(*asked, "--json", PENSTOCK_POLICIES__FILES=str(file))
    [policy] = ran.objects
    assert policy["respect_robots_txt"] is False
    assert policy["files"] == {"policy of lenient.test": str(file)}
    assert "robots.txt is not asked, by policy" in ran.err
    table = (await shell.run(*asked, PENSTOCK_POLICIES__FILES=str(file))).out
    assert f"policy of lenient.test: {file}" in table
    assert "built in: " in table
    assert (await shell.run("policy", "check", str(file), "--json")).objects == [
        {"policies": {str(file): 1}}
    ]


async def test_doctor_says_what_to_do(shell: Shell) -> None:
    well = await shell.run("doctor", "--json")
    assert well.code == 0
    contact = next(found for found in well.objects if found["subject"] == "identity")
    assert "PENSTOCK_IDENTITY__CONTACT" in contact["do"]
    ill = await shell.run("doctor", PENSTOCK_SHARED__URL="redis://127.0.0.1:1/0")
    assert ill.code == 1
    assert "PENSTOCK_SHARED__URL" in " ".join(ill.out.split())


async def test_second_interrupt_stops_at_once_and_still_names_the_rest(shell: Shell) -> None:
    asked = asyncio.Event()

    def hang(_: Hit) -> Reply:
        asked.set()
        return Reply(200, "", delay=30)

    shell.site.robots["slow.test"] = hang
    (shell.folder / "urls.txt").write_text("http://slow.test/a\nhttp://slow.test/b\n")
    process = await shell.start("fetch", "-f", "urls.txt", "--json", "--leftovers", "left.txt")
    async with asyncio.timeout(20):
        await asked.wait()
        process.send_signal(signal.SIGINT)
        assert process.stderr
        await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert process.returncode == 130
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["not_fetched"] * 2
    assert len((shell.folder / "left.txt").read_text().split()) == 2


async def test_overlong_line_in_a_pipe_spoils_only_itself(shell: Shell) -> None:
    lines = "http://shop01.test/\n" + "x" * 1_000_000 + "\nhttp://shop02.test/\n"
    ran = await shell.run("fetch", "-f", "-", "--json", stdin=lines)
    statuses = sorted(outcome["status"] for outcome in ran.objects)
    assert statuses == ["failed", "ok", "ok"]


@pytest.mark.parametrize(
    "arguments", [("--version",), ("url", "http://SHOP01.test:80/a"), ("fetch",), ("nothing",)]
)
async def test_the_installed_command_is_what_is_forked_for_tests(
    shell: Shell, arguments: tuple[str, ...]
) -> None:
    process = await asyncio.create_subprocess_exec(
        PENSTOCK,
        *arguments,
        cwd=shell.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=shell.environment,
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert await shell.run(*arguments) == (process.returncode, out.decode(), err.decode())


async def test_empty_input_and_a_reader_that_leaves_are_no_crash(shell: Shell) -> None:
    assert (await shell.run("fetch", "-f", "/dev/null")).code == 0
    urls = " ".join(f"http://shop01.test/product/{n}" for n in range(1, 20))
    process = await asyncio.create_subprocess_shell(
        f"{PENSTOCK} fetch --json {urls} | head -1",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=shell.environment,
    )
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert json.loads(out)["status"] == "ok"
    assert b"Traceback" not in err


@pytest.mark.parametrize("option", ["--save", "--metrics", "--leftovers"])
async def test_output_that_cannot_be_written_is_found_out_first(shell: Shell, option: str) -> None:
    (shell.folder / "file").write_text("")
    ran = await shell.run("fetch", "http://shop01.test/", option, "file/x")
    assert ran.code == 2
    assert "cannot be written" in ran.err
    assert shell.site.hits == []


async def test_pages_that_differ_only_in_tracking_are_kept_apart(shell: Shell) -> None:
    urls = [f"http://shop01.test/product/{n}?utm_source=x" for n in (1, 2)]
    urls += ["http://shop01.test/product/1"]
    ran = await shell.run("fetch", *urls, "--json", "--save", "pages")
    assert len({outcome["saved"] for outcome in ran.objects}) == 3


async def test_long_retry_after_is_not_waited_for_beyond_patience(shell: Shell) -> None:
    shell.site.reply("shop01.test", "/", Reply(429, headers=[("Retry-After", "3600")]))
    ran = await shell.run("fetch", "http://shop01.test/", "--json", "--patience", "5")
    assert ran.objects[0]["failure"]["reason"] == "rate_limited"


async def test_pace_that_is_set_outranks_the_shipped_default(shell: Shell) -> None:
    asked = ["policy", "show", "example.com", "--json"]
    shipped = {"PENSTOCK_POLICIES__SHIPPED": "true"}
    quick = await shell.run(*asked, **shipped, PENSTOCK_PACING__REQUESTS_PER_SECOND="5")
    assert quick.objects[0]["said_by"]["tokens_per_interval"] == "settings"
    for name in FAST:
        del shell.environment[name]
    usual = (await shell.run(*asked)).objects[0]
    assert (usual["tokens_per_interval"], usual["interval_seconds"]) == (2, 10)
    assert usual["request_delay_ms"] == 2000


async def test_doctor_finds_lists_that_cannot_be_read(shell: Shell) -> None:
    ran = await shell.run("doctor", "--json", PENSTOCK_ADMISSION__OPT_OUT_FILE="missing.txt")
    assert ran.code == 1
    assert any("OPT_OUT_FILE" in found["says"] for found in ran.objects)
