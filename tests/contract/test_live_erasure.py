"""Erasing a page from live pages: nothing of it is left, and of other pages nothing is lost."""

from functools import partial

import pytest

from penstock.store.store import Store
from penstock.workloads.live.erasure import erase_feed, erase_page
from penstock.workloads.live.health_log import log_health
from penstock.workloads.live.tables import (
    live_match_data,
    matches,
    scraper_errors,
    scraper_health_log,
)
from tests.live_rows import URL, LiveRows, health, update
from tests.stores import rows_of

OTHER = "https://live.example/other"
TABLES = (matches, live_match_data, scraper_errors, scraper_health_log)


@pytest.fixture
def rows(store: Store) -> LiveRows:
    return LiveRows(store)


async def watched(rows: LiveRows, match_id: str, url: str) -> None:
    """A feed with everything that can be known of it."""
    await rows.watch(match_id)
    await rows.put(match_id, url=url)
    await rows.begin(match_id)
    await rows.write(*(update(n, match_id, source_url=url) for n in (1, 2)))
    pages = {"snapshot": f"{match_id} page", "screenshot": f"{match_id} picture"}
    await rows.error(match_id, url=url, **pages)
    await rows.do(partial(log_health, entries=[health(match_id)]))


@pytest.mark.parametrize("spelling", [URL, "HTTPS://Live.example:443/match", f"{URL}/#top"])
async def test_a_page_is_erased_in_all_spellings_of_its_url(
    rows: LiveRows, store: Store, spelling: str
) -> None:
    await watched(rows, "m", URL)
    await watched(rows, "n", OTHER)

    counts, blobs = await erase_page(store, spelling)

    assert counts == {"feeds": 1, "updates": 2, "errors": 1}
    assert blobs == {"m page", "m picture"}
    for table in TABLES:
        left = [row["match_id"] for row in await rows_of(store, table)]
        assert set(left) == {"n"}, table.name
    assert len(await rows_of(store, live_match_data)) == 2


async def test_what_a_process_still_has_of_it_is_refused(rows: LiveRows, store: Store) -> None:
    await watched(rows, "m", URL)
    await erase_page(store, URL)

    assert await rows.write(update(3)) == [3]


async def test_of_a_page_that_nobody_knows_there_is_nothing_to_erase(
    rows: LiveRows, store: Store
) -> None:
    await watched(rows, "m", OTHER)

    assert await erase_page(store, URL) == ({}, set())
    assert await erase_feed(store, "unheard of") == ({}, set())


async def test_a_feed_that_went_elsewhere_forgets_the_page_and_goes_on(
    rows: LiveRows, store: Store
) -> None:
    await watched(rows, "m", URL)
    await rows.put("m", url=OTHER)
    await rows.begin("m", by=2)
    blank = await erase_page(store, URL)
    row = await rows.row()

    assert blank == ({"updates": 2, "errors": 1}, {"m page", "m picture"})
    assert (row["payload"], row["state"], row["last_hash"], row["last_sequence"]) == (
        None,
        None,
        "",
        2,
    )
    await rows.write(update(3, by=2, source_url=OTHER))
    assert (await rows.row())["payload"] == {"score": 3}


async def test_what_a_feed_saw_elsewhere_since_is_kept(rows: LiveRows, store: Store) -> None:
    await watched(rows, "m", URL)
    await rows.put("m", url=OTHER)
    await rows.begin("m", by=2)
    await rows.write(update(3, by=2, source_url=OTHER))

    assert (await erase_page(store, URL))[0]["updates"] == 2

    assert (await rows.row())["payload"] == {"score": 3}


async def test_errors_of_a_url_that_had_to_be_cut_are_found(rows: LiveRows, store: Store) -> None:
    long = f"{URL}?q={'a' * 600}"
    await rows.error(None, url=long)
    await rows.error(None, url=f"{URL}?q=b")

    counts, _ = await erase_page(store, long)

    assert counts == {"errors": 1}
    (left,) = await rows_of(store, scraper_errors)
    assert left["url"] == f"{URL}?q=b"


async def test_a_feed_with_much_history_is_erased_in_steps(rows: LiveRows, store: Store) -> None:
    await rows.watch()
    await rows.write(*(update(n) for n in range(1, 2102)))

    counts, _ = await erase_feed(store, "m")

    assert counts == {"feeds": 1, "updates": 2101}
