"""Robots: which group speaks to us, which line decides, and how long an answer is good."""

import pytest

from penstock.kernel.ports import RobotsAnswer
from penstock.kernel.robots import MemoryRobotsCache, Robots, RobotsFile, Rules, read
from penstock.kernel.settings import RobotsSettings
from tests.clocks import HandClock
from tests.site.robots_files import PARTLY, SERVED_AS_HTML, SIZE_THAT_MUST_BE_READ, oversized

AGENT = "Penstock"
ORIGIN = "http://shop.test"
DENY_X = RobotsAnswer("rules", "User-agent: *\nDisallow: /x\n")


def for_all(*rules: str) -> RobotsFile:
    """A file with one group, for everybody."""
    return RobotsFile("\n".join(["User-agent: *", *rules]))


def robots(clock: HandClock, **settings: float) -> Robots:
    cache = MemoryRobotsCache(clock, 1024 * 1024)
    return Robots(cache, RobotsSettings.model_validate(settings), clock)


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/", True),
        ("/private/x", False),
        ("/private/open/x", True),
        ("/a/b.pdf", False),
        ("/a/b.pdf?x", True),
        ("/exact", False),
        ("/exactly", True),
        ("/search?q=1&sort=up", False),
        ("/search?q=1", True),
        ("/tie", True),
        ("/shorter", False),
        ("/shorter-is-weaker", True),
        ("/caf%C3%A9/menu", False),
        ("/second-group/x", False),
    ],
)
def test_groups_for_us_are_merged_and_obeyed(target: str, allowed: bool) -> None:
    assert RobotsFile(PARTLY).allows(target, AGENT) is allowed


def test_own_group_replaces_that_for_everybody() -> None:
    file = RobotsFile("User-agent: *\nDisallow: /\n\nUser-agent: Penstock\nDisallow: /x\n")

    assert file.allows("/page", AGENT)
    assert not file.allows("/x", AGENT)
    assert not file.allows("/page", "OtherBot")


def test_own_group_without_rules_allows_everything() -> None:
    file = RobotsFile("User-agent: *\nDisallow: /\n\nUser-agent: Penstock\nDisallow:\n")

    assert file.allows("/page", AGENT)


def test_obeying_star_too_obeys_both_groups() -> None:
    file = RobotsFile("User-agent: *\nDisallow: /a\nUser-agent: Penstock\nDisallow: /b\n")

    answers = [file.allows(target, AGENT, obey_star=True) for target in ("/a", "/b", "/c")]

    assert answers == [False, False, True]
    assert file.allows("/a", AGENT)


@pytest.mark.parametrize(
    ("name", "speaks_to_us"),
    [
        ("Penstock", True),
        ("PENSTOCK", True),
        ("Penstock/2.0", True),
        ("Penstock 2.0 beta", True),
        ("Pen", False),
        ("Penstock-Images", False),
        ("Mozilla/5.0 (compatible; Penstock)", False),
        ("", False),
    ],
)
def test_product_token_is_compared_as_a_whole(name: str, speaks_to_us: bool) -> None:
    file = RobotsFile(f"User-agent: {name}\nDisallow: /\n")

    assert file.allows("/page", AGENT) is not speaks_to_us


def test_consecutive_agents_share_the_rules_that_follow() -> None:
    file = RobotsFile(
        "User-agent: OtherBot\n\n# and\nSitemap: /s.xml\nUser-agent: Penstock\nDisallow: /x\n"
        "User-agent: ThirdBot\nDisallow: /y\n"
    )

    assert not file.allows("/x", "OtherBot")
    assert not file.allows("/x", AGENT)
    assert file.allows("/y", AGENT)
    assert file.allows("/x", "ThirdBot")


@pytest.mark.parametrize(
    ("rules", "target", "allowed"),
    [
        (["Disallow: /a", "Allow: /a/b"], "/a/b/c", True),
        (["Allow: /a", "Disallow: /a/b"], "/a/b/c", False),
        (["Allow: /a/*/c", "Disallow: /a/b"], "/a/b/c", True),
        (["Disallow: /a", "Allow: /a"], "/a", True),
        (["Allow: /a", "Disallow: /a"], "/a", True),
        (["Disallow: /a*"], "/abc", False),
        (["Disallow: /*/c"], "/a/b/c", False),
        (["Disallow: /*/c"], "/c", True),
        (["Disallow: *.php"], "/x.php5", False),
        (["Disallow: /**b"], "/ab", False),
        (["Allow: /a**", "Disallow: /aab"], "/aab", True),
        (["Disallow: /a$"], "/a", False),
        (["Disallow: /a$"], "/a/", True),
        (["Disallow: /*.gif$"], "/x.gif", False),
        (["Disallow: /*.gif$"], "/x.gif?s", True),
        (["Disallow: /*a$"], "/aba", False),
        (["Disallow: /a*a$"], "/a", True),
        (["Disallow: /a$b"], "/a", True),
        (["Disallow: /$"], "/", False),
        (["Disallow: /$"], "/x", True),
        (["Disallow: /?"], "/?x", False),
        (["Disallow: /a"], "/A", True),
        (["Disallow: a"], "/a", True),
        (["Disallow:"], "/a", True),
        (["Disallow: //b"], "//b/c", False),
        (["Disallow: /c"], "//b/c", True),
        (["Disallow: /x"], "//[", True),
    ],
)
def test_longest_match_decides_and_allow_wins_ties(
    rules: list[str], target: str, allowed: bool
) -> None:
    assert for_all(*rules).allows(target, AGENT) is allowed
    assert for_all(*rules).decide(target, AGENT).allowed is allowed


@pytest.mark.parametrize("written", ["/café", "/caf%C3%A9", "/caf%c3%a9", "/%63afé"])
@pytest.mark.parametrize("asked", ["/caf%C3%A9", "/caf%c3%a9", "/ca%66%C3%A9", "/café"])
def test_percent_encodings_of_one_path_are_equivalent(written: str, asked: str) -> None:
    assert not for_all(f"Disallow: {written}").allows(asked, AGENT)


@pytest.mark.parametrize(
    ("written", "asked"), [("/a%2Fb", "/a/b"), ("/a/b", "/a%2Fb"), ("/a%2Ab", "/axb")]
)
def test_encoded_slash_or_star_is_not_a_bare_one(written: str, asked: str) -> None:
    assert for_all(f"Disallow: {written}").allows(asked, AGENT)


def test_encoded_star_stands_for_a_star() -> None:
    assert not for_all("Disallow: /a%2Ab").allows("/a*b", AGENT)


def test_final_dollar_sign_is_never_a_letter() -> None:
    assert not for_all("Disallow: /", "Allow: /a$").allows("/a$b", AGENT)


def test_octets_that_are_not_utf8_are_told_apart() -> None:
    file = RobotsFile(read(b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /%FF", 1000))

    assert not file.allows("/caf%e9", AGENT)
    assert file.allows("/caf%E8", AGENT)
    assert not file.allows("/%FF", AGENT)
    assert file.allows("/%FE", AGENT)


def test_allowed_index_page_does_not_allow_its_folder() -> None:
    assert not for_all("Disallow: /", "Allow: /index.html").allows("/", AGENT)


def test_only_cr_and_lf_end_a_line() -> None:
    assert for_all("Disallow: /a\u2028b").allows("/a", AGENT)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\r\r\n", " \t\n\n"])
def test_every_kind_of_line_end_is_read(end: str) -> None:
    file = RobotsFile(end.join(["User-agent: *", "Disallow: /x", "Allow: /x/y", ""]))

    assert not file.allows("/x", AGENT)
    assert file.allows("/x/y", AGENT)


@pytest.mark.parametrize(
    "line",
    [
        "Disallow: /x # all of it",
        "  disallow:/x",
        "DISALLOW : /x\t",
        "Disallow: /x#y",
        "#\nDisallow:/x",
    ],
)
def test_spaces_case_and_comments_do_not_matter(line: str) -> None:
    assert not for_all(line).allows("/x/1", AGENT)


def test_rules_before_any_group_are_ignored() -> None:
    file = RobotsFile("Disallow: /\nCrawl-delay: 9\nUser-agent: *\nDisallow: /x\n")

    assert file.allows("/page", AGENT)
    assert not file.allows("/x", AGENT)
    assert file.crawl_delay(AGENT) is None


@pytest.mark.parametrize("text", ["", "\n\n", "User-agent: *", "Disallow /x", "\x00\x01:\x02", ":"])
def test_file_that_says_nothing_allows_everything(text: str) -> None:
    assert RobotsFile(text).allows("/x", AGENT)


def test_html_in_place_of_robots_allows_everything() -> None:
    file = RobotsFile(read(SERVED_AS_HTML.content, SIZE_THAT_MUST_BE_READ))

    assert file.allows("/page", AGENT)
    assert str(file.decide("/page", AGENT)) == "no group applies"


@pytest.mark.parametrize("target", ["/robots.txt", "/robots.txt?x=1"])
def test_robots_file_itself_is_always_allowed(target: str) -> None:
    assert for_all("Disallow: /").allows(target, AGENT)


def test_byte_order_mark_is_not_part_of_the_first_line() -> None:
    file = RobotsFile(read(b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n", 1000))

    assert not file.allows("/x", AGENT)


def test_bytes_that_are_not_utf8_spoil_only_their_own_line() -> None:
    file = RobotsFile(read(b"User-agent: *\nDisallow: /\xff\nDisallow: /x\n", 1000))

    assert not file.allows("/x", AGENT)


def test_line_that_the_size_limit_cuts_is_dropped() -> None:
    file = RobotsFile(read(oversized().encode(), SIZE_THAT_MUST_BE_READ))

    assert not file.allows("/hidden", AGENT)
    assert file.allows("/page", AGENT)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"ab\ncd\nef", "ab\ncd\n"),
        (b"ab\rcd\ref", "ab\rcd\r"),
        (b"ab\ncdef", "ab\n"),
        (b"abcdefgh", ""),
        (b"ab\ncde", "ab\n"),
        (b"ab\ncd\n", "ab\ncd\n"),
        (b"ab\ncd", "ab\ncd"),
    ],
)
def test_body_that_reaches_the_limit_ends_with_its_last_whole_line(body: bytes, kept: str) -> None:
    assert read(body, 6) == kept


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        (["Crawl-delay: 5"], 5.0),
        (["crawl-delay: 0.5 # or so"], 0.5),
        (["Crawl-delay: 0"], 0.0),
        (["Crawl-delay: 2", "Crawl-delay: 7", "Crawl-delay: 3"], 7.0),
        (["Crawl-delay: 4", "Crawl-delay: soon"], 4.0),
        (["Crawl-delay: soon"], None),
        (["Crawl-delay:"], None),
        (["Crawl-delay: -1"], None),
        (["Crawl-delay: nan"], None),
        (["Crawl-delay: inf"], None),
        (["Crawl-delay: 1e999"], None),
        ([], None),
    ],
)
def test_crawl_delay_is_the_longest_that_makes_sense(lines: list[str], delay: float | None) -> None:
    assert for_all(*lines).crawl_delay(AGENT) == delay


def test_crawl_delay_is_that_of_the_groups_that_speak_to_us() -> None:
    file = RobotsFile(
        "User-agent: *\nCrawl-delay: 9\nUser-agent: Penstock\nCrawl-delay: 3\n"
        "User-agent: OtherBot\nCrawl-delay: 20\n"
    )

    assert file.crawl_delay(AGENT) == 3
    assert file.crawl_delay(AGENT, obey_star=True) == 9
    assert file.crawl_delay("NewBot") == 9


@pytest.mark.parametrize(("asked", "kept"), [("0.1", 1.0), ("5", 5.0), ("3600", 60.0), ("x", 0.0)])
def test_crawl_delay_is_kept_within_bounds(asked: str, kept: float) -> None:
    rules = Rules(RobotsAnswer("rules", f"User-agent: *\nCrawl-delay: {asked}"), good_until=0)

    assert robots(HandClock()).delay(rules, AGENT, obey_star=False) == kept


@pytest.mark.parametrize(
    ("target", "explanation"),
    [
        ("/private/x", "group 'penstock', line 8: Disallow: /private/"),
        ("/private/open/x", "group 'penstock', line 9: Allow: /private/open/"),
        ("/second-group/", "group 'penstock', line 20: Disallow: /second-group/"),
        ("/tie", "group 'penstock', line 14: Allow: /tie"),
        ("/anything", "group 'penstock', no rule matches"),
    ],
)
def test_decision_names_the_group_and_the_line(target: str, explanation: str) -> None:
    assert str(RobotsFile(PARTLY).decide(target, AGENT)) == explanation


def test_denial_by_star_is_explained_where_both_are_obeyed() -> None:
    decision = RobotsFile(PARTLY).decide("/anything", AGENT, obey_star=True)

    assert str(decision) == "group '*', line 3: Disallow: /"


def test_explanation_names_the_rule_with_the_most_octets() -> None:
    decision = for_all("Disallow: /caf%C3%A9", "Disallow: /café/x").decide("/café/x", AGENT)

    assert decision.rule is not None
    assert decision.rule.line == 3


def test_file_of_a_hundred_thousand_rules_decides() -> None:
    rules = (f"Disallow: /{number}\n" for number in range(100_000))
    file = RobotsFile("User-agent: *\n" + "".join(rules) + "Allow: /99999/open\n")

    assert not file.allows("/99999/closed", AGENT)
    assert file.allows("/99999/open", AGENT)
    assert file.allows("/x", AGENT)


def test_patterns_full_of_stars_do_not_multiply_the_work() -> None:
    """A matcher that goes back to try again would not live to see the end of this."""
    stars = "*a" * 200
    file = for_all(
        f"Disallow: /{stars}*b", f"Disallow: /{stars}c$", "Disallow: /" + "*" * 4000 + "d"
    )

    assert file.allows("/" + "a" * 4000, AGENT)
    assert not file.allows("/" + "a" * 4000 + "b", AGENT)


async def test_answer_is_known_until_its_lifetime_is_over() -> None:
    clock = HandClock()
    gate = robots(clock, lifetime_seconds=100)
    await gate.learn(ORIGIN, DENY_X)

    clock.move(99)
    known = await gate.known(ORIGIN)
    clock.move(1)

    assert known is not None
    assert not known.file.allows("/x", AGENT)
    assert await gate.known(ORIGIN) is None


async def shut_seconds(gate: Robots, clock: HandClock) -> float:
    """How long an origin that cannot be reached is shut from now on."""
    await gate.learn(ORIGIN, RobotsAnswer("unreachable"))
    began = clock.monotonic()
    while await gate.known(ORIGIN):
        clock.move(1)
    return clock.monotonic() - began


async def test_unreachable_is_asked_again_soon_and_ever_later_while_it_stays_so() -> None:
    clock = HandClock()
    gate = robots(clock)

    assert [await shut_seconds(gate, clock) for _ in range(7)] == [10, 20, 40, 80, 160, 300, 300]


async def test_an_origin_that_was_back_is_asked_again_as_soon_as_at_first() -> None:
    clock = HandClock()
    gate = robots(clock, lifetime_seconds=100)
    await shut_seconds(gate, clock)
    await shut_seconds(gate, clock)
    await gate.learn(ORIGIN, RobotsAnswer("allow"))
    clock.move(100)

    assert await shut_seconds(gate, clock) == 10


async def test_newer_answer_replaces_the_older_one() -> None:
    gate = robots(HandClock())
    await gate.learn(ORIGIN, DENY_X)
    await gate.known(ORIGIN)

    await gate.learn(ORIGIN, RobotsAnswer("allow"))

    known = await gate.known(ORIGIN)
    assert known is not None
    assert known.file.allows("/x", AGENT)


async def test_one_of_many_may_ask_an_origin() -> None:
    clock = HandClock()
    gate = robots(clock, claim_seconds=30)

    assert [await gate.claim(ORIGIN) for _ in range(3)] == [True, False, False]
    assert await gate.claim("http://other.test")
    await gate.forgo(ORIGIN)
    assert await gate.claim(ORIGIN)
    clock.move(30)
    assert await gate.claim(ORIGIN)


async def test_learning_ends_the_claim() -> None:
    gate = robots(HandClock())
    await gate.claim(ORIGIN)

    await gate.learn(ORIGIN, DENY_X)

    assert await gate.claim(ORIGIN)


async def test_cache_throws_out_the_oldest_when_it_is_full() -> None:
    cache = MemoryRobotsCache(HandClock(), max_bytes=100_000)
    for number in range(10):
        await cache.put(f"http://{number}.test", RobotsAnswer("rules", "#" * 20_000), 60)

    assert len(cache) == 4
    assert await cache.get("http://0.test") is None
    assert await cache.get("http://9.test") is not None


async def test_cache_keeps_one_answer_however_large() -> None:
    cache = MemoryRobotsCache(HandClock(), max_bytes=10)
    await cache.put(ORIGIN, DENY_X, 60)
    await cache.put(ORIGIN, DENY_X, 60)

    assert await cache.get(ORIGIN) == (DENY_X, 60)
