"""`penstock robots`: what a site lets us fetch, explained."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from penstock.app import Platform, build
from penstock.cli.output import ExitCode, safe, stdout, write_json
from penstock.core.errors import SettingsError, UrlError
from penstock.core.log import configure
from penstock.core.urls import parse
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
    configure(settings.log.level, form=settings.log.form)
    file = _read_file(robots, settings) if robots else None
    ask = _Asker(settings, file, agent or settings.identity.product, obey_star)
    decisions = asyncio.run(ask.about(urls))
    for text, decision in zip(urls, decisions, strict=True):
        _print(text, decision, as_json)
    if not all(decision.allowed for decision in decisions):
        raise typer.Exit(ExitCode.TROUBLE)


def _read_file(path: Path, settings: Settings) -> RobotsFile:
    try:
        return RobotsFile(read(path.read_bytes(), settings.robots.max_bytes))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks a robots.txt on file, or each site's own."""

    settings: Settings
    file: RobotsFile | None
    agent: str
    obey_star: bool

    async def about(self, urls: list[str]) -> list[Decision]:
        """One decision per URL, in their order."""
        async with build(self.settings) as platform:
            return [await self._decide(text, platform) for text in urls]

    async def _decide(self, text: str, platform: Platform) -> Decision:
        try:
            url = parse(text)
        except UrlError as error:
            return Decision(allowed=False, group="", reason=str(error))
        file = self.file
        if file is None:
            patience = self.settings.fetch.patience_seconds
            rules = await platform.pipeline.rules_for(Request(url.href), patience)
            if isinstance(rules, Failure):
                return Decision(allowed=False, group="", reason=str(rules))
            if rules.answer.status == "unreachable":
                return Decision(allowed=False, group="", reason=rules.answer.detail)
            file = rules.file
        return file.decide(url.target, self.agent, obey_star=self.obey_star)


def _print(url: str, decision: Decision, as_json: bool) -> None:
    if as_json:
        rule = decision.rule
        write_json(
            {
                "url": url,
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
    stdout().print(safe(f"{url}  ({decision})"), markup=False)
