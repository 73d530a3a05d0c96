"""`penstock explain`: may this URL be fetched now, and what does every gate say?"""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from penstock.app import build
from penstock.cli.output import ExitCode, print_table, write_json
from penstock.core.log import configure
from penstock.kernel.explaining import Answer, verdict_of
from penstock.kernel.model import Request
from penstock.settings import Settings, load_settings


def explain(
    url: Annotated[str, typer.Argument(help="The URL to ask about.")],
    workload: Annotated[str, typer.Option(help="On behalf of this workload.")] = "",
    robots: Annotated[
        bool, typer.Option(help="Fetch robots.txt, politely, if it is not known.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object.")] = False,
) -> None:
    """Say whether a URL may be fetched now, gate by gate; its page is not contacted.

    Breaker and pace are those of the shared Redis, if there is one. Exit code 1 if it may not.
    """
    settings = load_settings()
    configure(settings.log.level, form=settings.log.form)
    answers = asyncio.run(_ask(settings, Request(url, workload=workload), robots))
    deciding = verdict_of(answers)
    if as_json:
        said = [asdict(answer) for answer in answers]
        write_json({"url": url, "verdict": deciding.verdict, "gate": deciding.gate, "gates": said})
    else:
        rows = [
            (each.gate, each.verdict, each.says, f"{each.seconds:.1f} s" if each.seconds else "")
            for each in answers
        ]
        print_table(url, ("gate", "answer", "why", "in"), rows)
    if deciding.verdict != "yes":
        raise typer.Exit(ExitCode.TROUBLE)


async def _ask(settings: Settings, request: Request, robots: bool) -> list[Answer]:
    patience = settings.fetch.patience_seconds if robots else None
    async with build(settings) as platform:
        return await platform.pipeline.explain(request, patience)
