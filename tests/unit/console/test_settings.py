"""The settings in force, in the console."""

from pathlib import Path

from tests.consoles import XSS, assert_harmless, console_on, text_of
from tests.services import KEY
from tests.site import Site


async def test_all_settings_are_shown_and_secrets_are_masked(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        page = await console.get("/settings")

        assert "PENSTOCK_API__SERVICE_KEY ***" in text_of(page)
        assert "PENSTOCK_STREAM__MAX_RETRIES 3 default" in text_of(page)
        assert KEY not in page.text


async def test_settings_are_searched_by_words(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        shown = text_of(await console.get("/settings", q="console refresh"))
        nothing = text_of(await console.get("/settings", q="no such words"))

        assert "1 setting " in shown
        assert "PENSTOCK_CONSOLE__REFRESH_SECONDS" in shown
        assert "No setting has these words" in nothing


async def test_only_those_that_somebody_set_are_shown(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        shown = text_of(await console.get("/settings", changed="1"))

        assert " default" not in shown.split("Search")[-1]


async def test_what_is_searched_for_stays_text(tmp_path: Path, site: Site) -> None:
    async with console_on(tmp_path, site) as console:
        for text in XSS:
            assert_harmless(await console.get("/settings", q=text))
