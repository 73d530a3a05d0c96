"""`penstock robots`: what a site lets us fetch, explained."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from penstock.app import build
from penstock.cli.output import ExitCode, safe, stdout, write_json
from penstock.core.errors import SettingsError
from penstock.core.log import configure
from penstock.core.urls import Url, parse
from penstock.kernel.model import Failure, Request
from penstock.kernel.robots import Decision, RobotsFile, read
from penstock.settings import Settings, load_settings

app = typer.Typer(no_args_is_help=True, help="What a site lets us fetch, explained.")


@app.command("check")
def check(
    urls: Annotated[list[str], typer.Argument(help="URLs to ask about.")],
    robots: Annotated[
        Path | None, typer.Option(help="A robots.txt to read instead of the site's own.")
    ] = None,
    agent: Annotated[str, typer.Option(help="The product token to ask as.")] = "",
    obey_star: Annotated[
        bool, typer.Option(help="Obey the group for * beside the agent's own.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object per line.")] = False,
) -> None:
    """Say for each URL whether robots.txt allows it, and which group and line decide.

    Exit code 1 if any URL is denied.
    """
    settings = load_settings()
    configure(settings.log.level)
    agent = agent or settings.identity.product
    parsed = [parse(text) for text in urls]
    if robots:
        file = _read_file(robots, settings)
        decisions = [file.decide(url.target, agent, obey_star=obey_star) for url in parsed]
    else:
        decisions = asyncio.run(_ask_sites(parsed, settings, agent, obey_star))
    for url, decision in zip(parsed, decisions, strict=True):
        _print(url, decision, as_json)
    if not all(decision.allowed for decision in decisions):
        raise typer.Exit(ExitCode.TROUBLE)


def _read_file(path: Path, settings: Settings) -> RobotsFile:
    try:
        return RobotsFile(read(path.read_bytes(), settings.robots.max_bytes))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error


async def _ask_sites(
    urls: list[Url], settings: Settings, agent: str, obey_star: bool
) -> list[Decision]:
    """Get each origin's robots.txt, politely, and ask it."""
    decisions = []
    async with build(settings) as platform:
        for url in urls:
            rules = await platform.pipeline.rules_for(Request(url.href))
            if isinstance(rules, Failure):
                decisions.append(Decision(allowed=False, group="", reason=str(rules)))
            elif rules.answer.status == "unreachable":
                decisions.append(Decision(allowed=False, group="", reason=rules.answer.detail))
            else:
                decisions.append(rules.file.decide(url.target, agent, obey_star=obey_star))
    return decisions


def _print(url: Url, decision: Decision, as_json: bool) -> None:
    if as_json:
        rule = decision.rule
        write_json(
            {
                "url": url.href,
                "allowed": decision.allowed,
                "group": decision.group or None,
                "line": rule.line if rule else None,
                "rule": f"{rule.field}: {rule.path}" if rule else None,
                "reason": str(decision),
            }
        )
        return
    word = "[green]allowed[/]" if decision.allowed else "[red]denied [/]"
    stdout().print(f"{word}  ", end="")
    stdout().print(safe(f"{url.href}  ({decision})"), markup=False)
