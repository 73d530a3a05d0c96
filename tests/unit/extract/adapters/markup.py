"""Builders of small pages."""

import json
from typing import Any

from penstock.extract.adapter import Adapter
from penstock.extract.page.document import Document
from penstock.kernel.records import Extraction

#: What stands in properties of real pages where a text, a number or an object belongs.
ODD_VALUES: list[Any] = [
    *[None, True, False, 0, -1, 1e308, 10**30, "", " ", "null", "{{ name }}", "http://[", "***"],
    *[[], {}, [[]], [None, {}], {"@value": 5}, {"@id": "#nothing"}, {"@type": 5}, [[["deep"]]]],
    *[{"name": {"name": {"name": {"name": {"name": "deeper"}}}}}, "\x00", "x" * 10_000],
]


def data(*items: Any) -> str:
    """A block of JSON-LD."""
    content = items[0] if len(items) == 1 else list(items)
    return f'<script type="application/ld+json">{json.dumps(content)}</script>'


def meta(**tags: str) -> str:
    """Meta tags; `og_title` stands for `og:title`."""
    pairs = ((name.replace("og_", "og:"), content) for name, content in tags.items())
    return "".join(f'<meta property="{name}" content="{content}">' for name, content in pairs)


def page(body: str = "", head: str = "", language: str = "en") -> str:
    """A whole page."""
    return f'<!DOCTYPE html><html lang="{language}"><head>{head}</head><body>{body}</body></html>'


def read(adapter: Adapter, text: str, url: str) -> Extraction:
    """What an adapter makes of a page."""
    return adapter.read(Document(text, url))
