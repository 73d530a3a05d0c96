"""Seed files: what they can say, and that every mistake is told with its line."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.core.urls import parse
from penstock.queue.timing import Timing
from penstock.workloads.stream.seed_file import LAST, Seed, SeedsRefused, load_seeds, read_seeds

GOOD = """\
# What we fetch
- url: HTTPS://Shop.test
  every: 6h

- sitemap: https://shop.test/robots.txt
  cron: "0 6 * * *"
  zone: Europe/Berlin
  jitter: 5m
  limit: 5000
  include: [/product/*, "/*.html$"]
  exclude: /product/old
  since: 7d
  any_site: true
"""


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(SeedsRefused) as refusal:
        read_seeds(text, "seeds.yaml")
    return refusal.value.problems


def test_seeds_say_what_comes_when() -> None:
    url, sitemap = read_seeds(GOOD, "seeds.yaml")

    assert url == Seed("url", "https://shop.test/", Timing(every=21600.0), line=2)
    assert sitemap == Seed(
        "sitemap",
        "https://shop.test/robots.txt",
        Timing(cron="0 6 * * *", zone="Europe/Berlin", jitter=300.0),
        limit=5000,
        include=("/product/*", "/*.html$"),
        exclude=("/product/old",),
        since=timedelta(days=7),
        any_site=True,
        line=5,
    )


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/product/1", True),
        ("/product/old/1", False),
        ("/a.html", True),
        ("/a.html?b", False),
        ("/about", False),
    ],
)
def test_patterns_choose_urls(path: str, wanted: bool) -> None:
    _, sitemap = read_seeds(GOOD, "seeds.yaml")

    assert sitemap.filter.wants(parse(f"https://shop.test{path}")) is wanted


@pytest.mark.parametrize(
    ("since", "moment"),
    [
        ("since: 2026-02-03", datetime(2026, 2, 3, tzinfo=UTC)),
        ("since: 2026-02-03T04:05+01:00", datetime(2026, 2, 3, 3, 5, tzinfo=UTC)),
        ("since: 2d", datetime(2026, 3, 2, tzinfo=UTC)),
        ("since: last", datetime(2026, 3, 1, tzinfo=UTC)),
        ("", None),
    ],
)
def test_since_is_a_date_a_span_or_the_last_round(since: str, moment: datetime | None) -> None:
    (seed,) = read_seeds(f"- sitemap: https://shop.test/s.xml\n  every: 1d\n  {since}", "s")
    last = datetime(2026, 3, 1, tzinfo=UTC)

    assert seed.since_when(datetime(2026, 3, 4, tzinfo=UTC), last) == moment


def test_since_the_last_round_means_everything_if_there_was_none() -> None:
    seed = Seed("sitemap", "https://shop.test/s.xml", Timing(every=60), since=LAST)

    assert seed.since_when(datetime(2026, 3, 4, tzinfo=UTC), None) is None


def test_seed_keeps_its_id_when_it_comes_more_often_or_moves() -> None:
    first, second, other = (
        read_seeds(text, "s")[0]
        for text in (
            "- url: https://shop.test/\n  every: 1h",
            "\n\n- url: https://shop.test\n  every: 2h",
            "- sitemap: https://shop.test/\n  every: 1h",
        )
    )

    assert first.id == second.id
    assert first.id != other.id


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("seeds:\n", "1: a list is expected: '- url: …' or '- sitemap: …'"),
        ("- url: [\n", "2: is not YAML: expected the node content, but found '<stream end>'"),
        ("- a\n", "1: a seed begins with 'url:' or 'sitemap:'"),
        ("- every: 1h\n", "1: needs either 'url' or 'sitemap'"),
        ("- url: a\n  sitemap: b\n  every: 1h", "1: needs either 'url' or 'sitemap'"),
        ("- every: 1h\n  url: shop.test", "2: this is not an absolute URL"),
        ("- url: ftp://shop.test\n  every: 1h", "1: only http and https URLs are fetched"),
        ("- url: https://a.test/", "1: a schedule needs either an interval or a cron expression"),
        (
            "- url: https://a.test/\n  every: often",
            "2: 'often' is no span of time; write 90s, 15m, 1h, 1d or 1d12h",
        ),
        ("- url: https://a.test/\n  every: 30s", "2: a seed comes once a minute at most"),
        ("- url: https://a.test/\n  every: [1h]", "2: a word or number is expected here"),
        (
            "- url: https://a.test/\n  cron: 0 6 * * *\n  zone: Mars",
            "3: 'Mars' is no time zone (try Europe/Berlin)",
        ),
        (
            "- url: https://a.test/\n  evry: 1h",
            "2: unknown key 'evry'; did you mean 'every'?",
        ),
        ("- url: https://a.test/\n  every: 1h\n  every: 2h", "3: 'every' stands twice"),
        ("- url: https://a.test/\n  every: 1h\n  limit: 5", "3: 'limit' is for sitemaps"),
        (
            "- sitemap: https://a.test/s\n  every: 1h\n  limit: many",
            "3: 'many' is no number of URLs",
        ),
        (
            "- sitemap: https://a.test/s\n  every: 1h\n  limit: 0",
            "3: '0' is no number of URLs",
        ),
        (
            "- sitemap: https://a.test/s\n  every: 1h\n  include:\n    - /a\n    - product",
            "5: 'product' is no pattern: write it like /product/*",
        ),
        (
            "- sitemap: https://a.test/s\n  every: 1h\n  since: 2026-02-31",
            "3: '2026-02-31' is no time: write 2026-01-31, a span such as 7d, or last",
        ),
        (
            "- sitemap: https://a.test/s\n  every: 1h\n  any_site: maybe",
            "3: true or false is expected here",
        ),
        (
            "- url: https://a.test/\n  every: 1h\n- url: https://a.test\n  every: 2h",
            "3: is the same as the seed in line 1",
        ),
    ],
)
def test_mistake_is_told_with_its_line(text: str, problem: str) -> None:
    assert problems(text) == (f"seeds.yaml:{problem}",)


def test_all_mistakes_are_told_at_once() -> None:
    found = problems("- url: a\n  every: 1h\n- url: https://a.test/\n  every: 0\n- url: b\n")

    assert [problem.split(":")[1] for problem in found] == ["1", "4", "5"]


def test_file_nested_too_deeply_is_refused() -> None:
    assert problems("[" * 5000) == ("seeds.yaml: is not YAML: RecursionError",)


def test_empty_file_has_no_seeds(tmp_path: Path) -> None:
    path = tmp_path / "seeds.yaml"
    path.write_text("# nothing yet\n")

    assert load_seeds(path) == []


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"- url: \xff")

    with pytest.raises(SeedsRefused, match=r"missing\.yaml: cannot be read"):
        load_seeds(tmp_path / "missing.yaml")
    with pytest.raises(SeedsRefused, match=r"latin\.yaml: is not UTF-8"):
        load_seeds(tmp_path / "latin.yaml")
