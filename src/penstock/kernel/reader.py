"""Steps 10 and 11 of the path: a page is extracted, and what was found is judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.core.urls import Url
from penstock.kernel.model import Page
from penstock.kernel.reading import Judgment, Reading
from penstock.kernel.records import Extraction


class Extractor(Protocol):
    """Finds the adapter for a page and lets it read."""

    def extract(self, page: Page, wanted: str) -> Extraction:
        """What the page says; `wanted` is an adapter's id, a target type, or empty to choose."""
        ...

    def further(self, page: Page, extraction: Extraction) -> Sequence[str]:
        """Pages of the same site that may have what was not found."""
        ...

    def fill(self, extraction: Extraction, page: Page) -> Extraction:
        """An extraction with what another page of the site adds to it."""
        ...

    def needs_browser(self, url: Url, wanted: str) -> bool:
        """Whether the adapter for a URL can read only what a browser made of it."""
        ...


class Judge(Protocol):
    """Normalises what was extracted and says whether it can be trusted."""

    def judge(self, extraction: Extraction) -> Judgment:
        """The record and the verdict on it."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """Extracts, then judges."""

    extractor: Extractor
    judge: Judge

    def needs_browser(self, url: Url, wanted: str) -> bool:
        """Whether a page has to be opened in a browser to be read."""
        return self.extractor.needs_browser(url, wanted)

    def read(self, page: Page, wanted: str = "") -> Reading:
        """The record of a page, with evidence and verdict."""
        return self._judged(self.extractor.extract(page, wanted))

    def further(self, page: Page, reading: Reading) -> Sequence[str]:
        """Where else on the site to look for what the page does not say."""
        return self.extractor.further(page, reading.extraction)

    def fill(self, reading: Reading, page: Page) -> Reading:
        """A record with what another page of the site adds to it, judged anew."""
        return self._judged(self.extractor.fill(reading.extraction, page))

    def _judged(self, extraction: Extraction) -> Reading:
        return Reading(extraction, self.judge.judge(extraction))
