"""The pages on the page fetcher name every setting and key, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

from penstock.queue.redis.keys import Keys
from penstock.settings import ALIASES
from penstock.workloads.stream.settings import StreamSettings

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "stream.md").read_text()
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def test_every_setting_is_named() -> None:
    named = set(re.findall(r"`([A-Z_]+)`", PAGE))
    assert {name.upper() for name in StreamSettings.model_fields} <= named


def test_defaults_are_those_of_the_settings() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| `?([\w.:]+)", PAGE, re.MULTILINE))
    told = {name: value for name, value in rows.items() if name != "REDIS_URL"}
    defaults = StreamSettings()
    assert len(told) >= 12
    for name, value in told.items():
        assert f"{getattr(defaults, name.lower())}" in (value, f"{value}.0")


def test_every_other_name_is_known() -> None:
    for name, (section, key) in ALIASES.items():
        other = name.removeprefix("PAGE_FETCHER_")
        if other != name and section == "stream":
            assert other == key.upper(), "which is what `the same` means"
        elif other != name:
            assert f"`{other}`" in PAGE


def test_every_key_in_redis_is_told() -> None:
    keys = Keys("crawler_queue", "page_fetcher_dlq")
    names = [keys.name, keys.parked, keys.workers, keys.processes, keys.lost]
    names += [keys.dead, keys.reasons, keys.claimed("{worker}"), f"{keys.parked}:{{domain}}"]
    assert [name for name in names if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("page", ["stream.md", "stream-seeds.md", "operations/stream.md"])
def test_links_lead_somewhere(page: str) -> None:
    here = DOCS / page
    links = LINK.findall(here.read_text())
    assert links
    for name, heading in links:
        target = here.parent / name if name else here
        assert target.is_file(), name
        if heading:
            assert heading in anchors(target), f"{name}#{heading}"


def anchors(page: Path) -> set[str]:
    headings = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
