"""`penstock parse`: what a parser makes of a text."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

import typer

from penstock.cli.output import ExitCode, print_table, safe, write_json
from penstock.cli.readings import words
from penstock.core.errors import SettingsError
from penstock.core.money import currencies
from penstock.extract.values.contact import read_phone
from penstock.extract.values.price import Price, read_price
from penstock.extract.values.price_hints import PriceHints
from penstock.extract.values.stock import read_stock
from penstock.kernel.records import Availability
from penstock.quality.location import read_location

app = typer.Typer(no_args_is_help=True, help="What a parser makes of a text.")

Texts = Annotated[list[str], typer.Argument(help="Texts as they stand on a page.")]
AsJson = Annotated[bool, typer.Option("--json", help="One object per line.")]


class Parsed(NamedTuple):
    """What was read from a text, and whether that was all there is to it."""

    facts: dict[str, Any]
    is_clear: bool


@app.command("price")
def price(
    texts: Texts,
    currency: Annotated[str, typer.Option(help="Where a text names none, such as EUR.")] = "",
    decimal: Annotated[str, typer.Option(help="The decimal sign of the page: . or ,")] = "",
    as_json: AsJson = False,
) -> None:
    """Read prices; what can be read in two ways is not read at all.

    Exit code 1 if a text is unclear.

        penstock parse price '1.299,00 €' 'USD 1,299'
        penstock parse price '1.299' --currency EUR --decimal ,
    """
    currency = currency.upper()
    if currency and currency not in currencies():
        raise SettingsError(f"--currency {currency}: this is no ISO 4217 code, such as EUR")
    if decimal not in ("", ".", ","):
        raise SettingsError(f"--decimal {decimal}: the decimal sign is . or ,")
    hints = PriceHints(currency or None, decimal or None)
    _show(texts, lambda text: _price(text, hints), as_json)


@app.command("stock")
def stock(texts: Texts, as_json: AsJson = False) -> None:
    """Read what a text says of the stock; without positive evidence it is unknown.

    Exit code 1 if a text is unclear.

        penstock parse stock 'Nur noch 3 auf Lager' 'Rupture de stock'
    """
    _show(texts, _stock, as_json)


@app.command("location")
def location(texts: Texts, as_json: AsJson = False) -> None:
    """Read places: city, region and country.

    Exit code 1 if nothing is recognised in a text.

        penstock parse location 'Austin, TX' 'Zürich, Schweiz'
    """
    _show(texts, _location, as_json)


@app.command("phone")
def phone(
    texts: Texts,
    region: Annotated[
        str, typer.Option(help="The country of numbers without a prefix, such as DE.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Read phone numbers.

    Exit code 1 if a text holds none that can be dialled.

        penstock parse phone '+49 30 901820' '030 901820' --region DE
    """
    _show(texts, lambda text: _phone(text, region.upper()), as_json)


def _show(texts: Iterable[str], read: Callable[[str], Parsed], as_json: bool) -> None:
    well = True
    for text in texts:
        parsed = read(text)
        well &= parsed.is_clear
        if as_json:
            write_json({"text": text, **parsed.facts})
        else:
            rows = [(name, words(value)) for name, value in parsed.facts.items() if value]
            print_table("", ("text", safe(text)), rows)
    if not well:
        raise typer.Exit(ExitCode.TROUBLE)


def _price(text: str, hints: PriceHints) -> Parsed:
    found = read_price(text, hints)
    if isinstance(found, Price):
        minor = {"amount": f"{found.value:f}", "currency": found.currency, "minor": found.minor}
        return Parsed(minor, is_clear=True)
    return Parsed({"unclear": found.why, "readings": list(found.readings)}, is_clear=False)


def _stock(text: str) -> Parsed:
    found = read_stock(text)
    return Parsed({"availability": str(found)}, found is not Availability.UNKNOWN)


def _location(text: str) -> Parsed:
    found = read_location(text)
    facts = found.model_dump() if found else {}
    return Parsed(facts, any(value for name, value in facts.items() if name != "raw"))


def _phone(text: str, region: str) -> Parsed:
    found = read_phone(text, region or None)
    return Parsed({"phone": found}, found is not None)
