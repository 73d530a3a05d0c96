"""`penstock url`: what Penstock makes of a URL."""

from typing import Annotated

import typer

from penstock.cli.output import ExitCode, complain, print_table, write_json
from penstock.core.errors import UrlError
from penstock.core.urls import canonical, identity, parse


def show(
    urls: Annotated[list[str], typer.Argument(help="URLs to look at; nothing is fetched.")],
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
) -> None:
    """Show the canonical form, the domain and the identity of URLs."""
    wrong = 0
    for text in urls:
        try:
            url = parse(text)
        except UrlError as error:
            wrong += 1
            if as_json:
                write_json({"url": text, "error": error.rule, "detail": str(error)})
            else:
                complain(f"{text}: {error}")
            continue
        facts = {
            "url": text,
            "fetched as": url.href,
            "canonical": canonical(url),
            "origin": url.origin,
            "domain": url.domain,
            "identity": identity(url),
        }
        if as_json:
            write_json({name.replace(" ", "_"): value for name, value in facts.items()})
        else:
            print_table("", ("", ""), list(facts.items()))
    if wrong:
        raise typer.Exit(ExitCode.TROUBLE)
