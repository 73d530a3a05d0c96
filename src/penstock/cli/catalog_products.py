"""`penstock catalog products`: what was found, filtered and searched."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from penstock.cli.catalog_desk import time_of, with_catalog
from penstock.cli.monitoring import AsJson, Limit, show_one, show_rows
from penstock.core.errors import SettingsError
from penstock.products import catalogue_reading as reading
from penstock.products.search.ports import MOST_IN_A_PAGE, Filters
from penstock.products.search.ports import Sort as SearchSort
from penstock.web.views import view
from penstock.workloads.catalog.product_views import (
    FoundView,
    PricePointView,
    ProductView,
    view_product,
)
from penstock.workloads.catalog.service import CatalogService, Listed

app = typer.Typer(no_args_is_help=True, help="Products that readers may see.")

#: What fits on a line of a terminal; all of a product is in `products show` and in `--json`.
COLUMNS = ("product_name", "price", "currency", "availability", "id")
PRICES = ("observed_at", "price", "currency", "availability", "ingestion_run_type")
SEE = "products list"


def _amount(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0:
        raise typer.BadParameter(f"'{text}' is no amount; write 19.99")
    return number


Product = Annotated[str, typer.Argument(help="A product, by id; see `products list`.")]
PriceMin = Annotated[
    Decimal | None, typer.Option(parser=_amount, metavar="AMOUNT", help="Costs at least.")
]
PriceMax = Annotated[
    Decimal | None, typer.Option(parser=_amount, metavar="AMOUNT", help="Costs at most.")
]
RatingMin = Annotated[
    Decimal | None, typer.Option(parser=_amount, metavar="STARS", help="Is rated at least.")
]
Currency = Annotated[str | None, typer.Option(help="Costs so, as EUR.")]
Stock = Annotated[
    list[str] | None,
    typer.Option("--availability", help="in_stock, out_of_stock or backorder; again for more."),
]
Brands = Annotated[list[str] | None, typer.Option("--brand", help="Exactly so; again for more.")]
Categories = Annotated[
    list[str] | None, typer.Option("--category", help="Exactly so; again for more.")
]
DomainNames = Annotated[
    list[str] | None, typer.Option("--domain", help="Of this domain; again for more.")
]


@app.command("list")
def list_products(
    price_min: PriceMin = None,
    price_max: PriceMax = None,
    currency: Currency = None,
    availability: Stock = None,
    brand: Brands = None,
    category: Categories = None,
    domain: DomainNames = None,
    rating_min: RatingMin = None,
    since: Annotated[
        str | None, typer.Option(help="That changed in the last 7d, 12h …; or since 2026-03-01.")
    ] = None,
    sort: Annotated[reading.Sort, typer.Option(help="What comes first.")] = reading.Sort.NEWEST,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List products by filters."""
    said = _said(currency, availability, brand, category, domain)
    bounds: dict[str, Any] = {
        "price_min": price_min,
        "price_max": price_max,
        "rating_min": rating_min,
    }

    async def look(catalog: CatalogService) -> list[dict[str, Any]]:
        changed = await time_of(catalog, since) if since else None
        wanted = reading.Filter(**said, **bounds, updated_since=changed, sort=sort, limit=limit)
        return await catalog.products.list(wanted)

    rows = [view(ProductView, row) for row in with_catalog(look)]
    show_rows(f"{len(rows)} products", rows, COLUMNS, as_json)


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="All of them must be there, in any form.")],
    price_min: PriceMin = None,
    price_max: PriceMax = None,
    currency: Currency = None,
    availability: Stock = None,
    brand: Brands = None,
    category: Categories = None,
    domain: DomainNames = None,
    rating_min: RatingMin = None,
    sort: Annotated[SearchSort, typer.Option(help="What comes first.")] = SearchSort.RELEVANCE,
    limit: Annotated[int, typer.Option(min=1, max=MOST_IN_A_PAGE, help="At most so many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Search products by words in name, brand, category and description."""
    said = _said(currency, availability, brand, category, domain)
    filters = Filters(**said, price_min=price_min, price_max=price_max, rating_min=rating_min)

    async def look(catalog: CatalogService) -> Listed:
        return await catalog.products.search(words, filters, sort=sort, limit=limit)

    found = with_catalog(look)
    rows = [view(FoundView, row) for row in found.products]
    more = "more than " if found.total.more else ""
    title = f"{more}{found.total.number} products; shown {len(rows)}"
    show_rows(title, rows, COLUMNS, as_json)


@app.command()
def show(product: Product, as_json: AsJson = False) -> None:
    """Show all of a product, its images included."""
    row = with_catalog(lambda catalog: catalog.products.get(product), see=SEE)
    show_one(view_product(row), as_json)


@app.command()
def prices(
    product: Product,
    since: Annotated[
        str | None, typer.Option(help="In the last 30d, 12h …; or since 2026-03-01.")
    ] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """What a product cost, oldest first."""

    async def look(catalog: CatalogService) -> list[dict[str, Any]]:
        begin = await time_of(catalog, since) if since else None
        return await catalog.products.prices(product, begin, None, limit)

    rows = [view(PricePointView, row) for row in with_catalog(look, see=SEE)]
    show_rows(f"{len(rows)} prices", rows, PRICES, as_json)


@app.command()
def images(product: Product, as_json: AsJson = False) -> None:
    """The images of a product, each in its place."""
    row = with_catalog(lambda catalog: catalog.products.get(product), see=SEE)
    columns = ("position", "image_type", "status", "content_type", "width", "height", "image_url")
    show_rows("Images", view_product(row)["images"], columns, as_json)


def _said(
    currency: str | None,
    availability: list[str] | None,
    brand: list[str] | None,
    category: list[str] | None,
    domain: list[str] | None,
) -> dict[str, Any]:
    for each in availability or ():
        if each not in reading.STOCK:
            known = ", ".join(reading.STOCK)
            raise SettingsError(f"'{each}' is no availability; there are {known}")
    return {
        "currency": currency.upper() if currency else None,
        "availability": tuple(availability or ()),
        "brand": tuple(brand or ()),
        "category": tuple(category or ()),
        "domain": tuple(domain or ()),
    }
