"""`python -m tests.site.console_pictures`: the pictures of the console in the docs, taken anew."""

import asyncio
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from PIL import Image
from playwright.async_api import Page

from tests.consoles import VisitedConsole, visiting
from tests.site import Site
from tests.site.console_demo import filled
from tests.site.monitor_demo import CORNER_URLS

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
#: As long as a person would look on before the first picture: rates need a moment.
SETTLING_SECONDS = 20.0


class Picture(NamedTuple):
    """A page, and how it is looked at; `follow` is a link on it that leads to what is shown."""

    name: str
    path: str
    look: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 860
    follow: str = ""


PICTURES = (
    Picture("overview", "/console"),
    Picture("target", f"/console/monitor/targets?q={CORNER_URLS[0]}", follow="tbody a"),
    Picture("question", "/console/domains/shop01.test?url=http://shop01.test/cart&robots=yes"),
    Picture("catalog-dark", "/console/catalog", look="dark"),
    Picture("phone", "/console/live", width=390, height=780),
)


async def main() -> None:
    with TemporaryDirectory() as folder:
        async with (
            Site() as site,
            filled(site, Path(folder)) as (address, key),
            visiting(address, key) as console,
        ):
            await asyncio.sleep(SETTLING_SECONDS)
            for picture in PICTURES:
                await take(console, picture)


async def take(console: VisitedConsole, picture: Picture) -> None:
    """Take one picture."""
    _, _, look, width, height, _ = picture
    async with console.browser(look=look, width=width, height=height) as page:
        await page.goto(picture.path)
        if picture.follow:
            await page.click(picture.follow)
        await _is_drawn(page)
        shot = await page.screenshot()
    # In the few colours that it has, a third of the size.
    with Image.open(BytesIO(shot)) as image:
        image.convert("RGB").quantize().save(IMAGES / f"console-{picture.name}.png", optimize=True)


async def _is_drawn(page: Page) -> None:
    """Pictures of a page are there, those that come with the next update included."""
    await page.wait_for_selector("h1")
    await page.wait_for_function("() => [...document.images].every(image => image.complete)")


if __name__ == "__main__":
    asyncio.run(main())
