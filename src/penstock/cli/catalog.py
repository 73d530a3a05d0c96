"""`penstock catalog`: product pages crawled into a catalogue that can be searched."""

import typer

from penstock.cli import (
    catalog_domains,
    catalog_errors,
    catalog_products,
    catalog_proxies,
    catalog_submissions,
    catalog_tasks,
    catalog_upkeep,
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Crawl product pages into a catalogue that can be searched.

    Hand pages in:  penstock catalog submit https://shop.example.com/product/1

    Let them be crawled, at the pace of each site:  penstock up

    Find what they sell:  penstock catalog products search "desk lamp"

    Whole shops are handed in with --sitemap, lists with --file; `progress` shows how far they are,
    `errors patterns` what goes wrong.""",
)
app.command()(catalog_submissions.submit)
app.command()(catalog_submissions.progress)
app.command()(catalog_submissions.submissions)
app.command()(catalog_upkeep.status)
app.add_typer(catalog_tasks.app, name="tasks")
app.add_typer(catalog_domains.app, name="domains")
app.add_typer(catalog_products.app, name="products")
app.add_typer(catalog_errors.errors_app, name="errors")
app.add_typer(catalog_errors.dlq_app, name="dlq")
app.add_typer(catalog_errors.parsers_app, name="parsers")
app.add_typer(catalog_proxies.app, name="proxies")
app.command()(catalog_upkeep.reindex)
app.command()(catalog_upkeep.audit)
app.add_typer(catalog_upkeep.export_app, name="export")
