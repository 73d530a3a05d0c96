"""A feed as somebody types it: what of its page is read, and how."""

from collections.abc import Sequence
from typing import Annotated, Any

import orjson
import typer

from penstock.core.errors import SettingsError
from penstock.extract.live.selectors import SELECTORS
from penstock.workloads.live.model import DEFAULT_PRIORITY, Feed

Url = Annotated[str, typer.Argument(help="The page to watch.", metavar="URL")]
Adapter = Annotated[
    str | None, typer.Option("--adapter", help="Who reads the page; see `penstock live adapters`.")
]
Interval = Annotated[
    float | None, typer.Option("--interval", min=0.1, max=3600, help="Seconds between two looks.")
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="NAME=CSS", help="A field by its selector; again for a fallback."
    ),
]
Critical = Annotated[
    list[str] | None,
    typer.Option("--critical", metavar="NAME", help="A field whose changes must not be lost."),
]
Ended = Annotated[
    str | None,
    typer.Option("--ended", metavar="NAME=PATTERN", help="What a field says when all is over."),
]
Break = Annotated[
    str | None,
    typer.Option("--break", metavar="NAME=PATTERN", help="What a field says in a break."),
]
ByWay = Annotated[
    str | None, typer.Option("--way", help="`http`: ask each time; `page`: keep it open.")
]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Any other option; JSON or plain text."),
]


def read_draft(
    url: str,
    options: dict[str, Any],
    *,
    match_id: str | None = None,
    adapter: str | None = None,
    interval: float | None = None,
    priority: int = DEFAULT_PRIORITY,
) -> Feed:
    """The feed that somebody wants; who names selectors wants them to be read."""
    named = adapter or (SELECTORS.id if "select" in options else "")
    return Feed(match_id or "", url, named, options, priority, interval)


def read_options(
    select: Sequence[str] | None,
    critical: Sequence[str] | None,
    ended: str | None,
    pause: str | None,
    way: str | None,
    others: Sequence[str] | None,
) -> dict[str, Any]:
    """The options of a feed, without what was not said."""
    options = {name: _value(text) for name, text in _pairs(others, "--option")}
    fields: dict[str, list[str]] = {}
    for name, css in _pairs(select, "--select"):
        fields.setdefault(name, []).append(css)
    said: dict[str, Any] = {"select": fields, "critical": list(critical or ()), "way": way}
    for state, sign in (("ended", ended), ("break", pause)):
        for name, pattern in _pairs([sign] if sign else None, f"--{state}"):
            said[state] = {"field": name, "text": pattern}
    return {**options, **{name: value for name, value in said.items() if value}}


def _pairs(texts: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    found = []
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise SettingsError(f"{option} {text!r}: write it as NAME=VALUE")
        found.append((name, value))
    return found


def _value(text: str) -> Any:
    """What an option means: JSON if it is some, else the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
