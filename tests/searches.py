"""Documents to be searched, and what is found of them."""

from dataclasses import replace
from typing import Any

from penstock.products.search.ports import Document, Filters, Found, Query, SearchIndex


def document(product_id: str, name: str = "Desk lamp", **facts: Any) -> Document:
    given_facts: dict[str, Any] = {
        "domain_name": "shop.test",
        "url": f"https://shop.test/{product_id}",
        "created_at": 1_000,
        "updated_at": 1_000,
    }
    return Document(product_id=product_id, product_name=name, **given_facts | facts)


def ids_of(found: Found) -> list[str]:
    return [hit.product_id for hit in found.hits]


async def find(index: SearchIndex, text: str = "", **more: Any) -> list[str]:
    names = Filters.__dataclass_fields__
    filters = Filters(**{name: value for name, value in more.items() if name in names})
    rest = {name: value for name, value in more.items() if name not in names}
    return ids_of(await index.search(Query(text, filters, **rest)))


async def walk(index: SearchIndex, query: Query) -> list[str]:
    """Everything that a query finds, page by page."""
    found = ids_of(page := await index.search(query))
    while page.next_cursor:
        page = await index.search(replace(query, cursor=page.next_cursor))
        assert page.hits
        found += ids_of(page)
    return found
