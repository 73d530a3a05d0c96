"""A live match on the test site is the same in a browser as in plain HTML and in its data."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from penstock.app import Platform
from penstock.extract.live.adapter import Snapshot, Source, Unreadable
from penstock.extract.live.cricket import CRICKET
from penstock.kernel.records import ExtractReason
from tests.browsers import Place, browse
from tests.clocks import HandClock
from tests.platforms import ONCE, page_of, platform_for
from tests.site import Site, SiteSettings
from tests.site.live_ground import Trouble
from tests.site.live_match import ends_at, match_at

HOST, NUMBER = "live.test", 7

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground() -> AsyncIterator[Site]:
    """A site whose time stands still."""
    async with Site(settings=SiteSettings(now=HandClock().now)) as site:
        yield site


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def watcher(
    ground: Site, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Platform]:
    lock = tmp_path_factory.mktemp("lock") / "lock"
    async with platform_for(
        ground, browser=place.settings(), retry=ONCE, shared={"lock_file": lock}
    ) as one:
        yield one


async def look(watcher: Platform, path: str) -> Snapshot | Unreadable:
    request = browse(f"http://{HOST}{path}", wait_for=CRICKET.wait_for)
    return CRICKET.read(Source(page_of(await watcher.pipeline.run(request))))


@pytest.mark.parametrize("view", ["", "/socket"])
@pytest.mark.parametrize("seconds", [0, 300, 560, 700, ends_at(NUMBER)])
async def test_match_is_read_from_a_page_that_writes_itself(
    ground: Site, watcher: Platform, view: str, seconds: float
) -> None:
    ground.ground.begin(HOST, NUMBER, seconds_ago=seconds)
    match = match_at(NUMBER, seconds)

    assert await look(watcher, f"/match/{NUMBER}{view}") == Snapshot(match.as_json(), match.state)


@pytest.mark.parametrize(("trouble", "is_read"), [("redesign", True), ("lost", False)])
async def test_redesigned_page_is_read_by_fallbacks_until_nothing_fits(
    ground: Site, watcher: Platform, trouble: Trouble, is_read: bool
) -> None:
    ground.ground.begin(HOST, NUMBER, seconds_ago=300)
    ground.ground.set_trouble(HOST, trouble)
    found = await look(watcher, f"/match/{NUMBER}")
    ground.ground.end_trouble(HOST)

    match found:
        case Snapshot():
            assert is_read
            assert found.payload == match_at(NUMBER, 300).as_json()
            assert found.notes
        case Unreadable():
            assert not is_read
            assert found.reason is ExtractReason.SELECTOR_NOT_FOUND
