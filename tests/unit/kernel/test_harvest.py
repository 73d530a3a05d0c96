"""The record of a page: what other pages of its site add, and when it is enough."""

import hashlib
from pathlib import Path

from penstock.core.urls import parse
from penstock.kernel.model import Outcome
from tests.unit.kernel.steps import HOME, Shelf, Steps, page_of, visit_to

AHEAD = ("/a", "https://elsewhere.test/b", "/a", "#top", "/c", "/d", "/e")


def name_of(outcome: Outcome | None) -> str | None:
    assert outcome
    assert outcome.reading
    return getattr(outcome.reading.record, "name", None)


async def test_page_is_read_if_a_record_is_wanted(tmp_path: Path) -> None:
    steps = Steps(tmp_path)

    without = await steps.harvest.read(visit_to(), page_of("Lamp"))
    record = await steps.harvest.read(visit_to(extract="product"), page_of("Lamp"))

    assert without
    assert (without.reading, name_of(record)) == (None, "Lamp")


async def test_page_that_the_caller_knows_is_not_read_again(tmp_path: Path) -> None:
    known = hashlib.sha256(b"Lamp").hexdigest()
    visit = visit_to(extract="product", content_hash=known)

    outcome = await Steps(tmp_path).harvest.read(visit, page_of("Lamp"))

    assert outcome
    assert (outcome.unchanged, outcome.reading) == (True, None)


async def test_few_pages_of_the_same_origin_are_looked_at_too(tmp_path: Path) -> None:
    steps = Steps(tmp_path, shelf=Shelf(AHEAD))
    visit = visit_to(extract="product")

    outcome = await steps.harvest.read(visit, page_of("Lamp"))
    seen = []
    while outcome is None and visit.so_far:
        seen.append(visit.url.target)
        outcome = await steps.harvest.add(visit, visit.so_far, page_of(visit.url.target))

    assert len(seen) == 3
    assert (seen[0], name_of(outcome)) == ("/a", " ".join(["Lamp", *seen]))


async def test_caller_without_time_gets_what_is_known_so_far(tmp_path: Path) -> None:
    steps = Steps(tmp_path, shelf=Shelf(AHEAD))
    visit = visit_to(extract="product", timeout=5.0)
    visit.spent = 5.0

    outcome = await steps.harvest.read(visit, page_of("Lamp"))

    assert name_of(outcome) == "Lamp"
    assert visit.url == parse(HOME)
