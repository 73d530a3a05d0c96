"""Names: what something is called, when several places of a page say it and may disagree."""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from penstock.core.urls import parse
from penstock.extract.adapter import Findings
from penstock.extract.page.document import Document
from penstock.extract.page.structured import fold
from penstock.extract.page.things import Found

MAX_NAME = 200
MAX_CANDIDATES = 10

_SEPARATOR = re.compile(r"\s+[|\u2013\u2014·•»«-]+\s+|\s*\|\s*")
_NOT_A_WORD = re.compile(r"[\W_]+")


def add_name(findings: Findings, field: str, candidates: Iterable[Found]) -> bool:
    """Keep the first candidate, and have the evidence say if another part of the page disagrees."""
    fitting = (one for one in candidates if one.value and len(one.value) <= MAX_NAME)
    found = list(islice(fitting, MAX_CANDIDATES))
    if not found:
        return False
    name, rival = found[0], _rival(found)
    text = f"{name.value} (but {rival.source}: {rival.value})" if rival else name.value
    return findings.add(field, name.value, name.source, text)


def _rival(found: list[Found]) -> Found | None:
    """What the next kind of source says, if it is something else."""
    kinds = [one.source.partition(" ")[0] for one in found]
    others = (one for one, kind in zip(found, kinds, strict=True) if kind != kinds[0])
    rival = next(others, None)
    return rival if rival and not agree(rival.value, found[0].value) else None


def add_first(
    findings: Findings,
    field: str,
    candidates: Iterable[Found],
    read: Callable[[str], Any] = lambda text: text,
) -> None:
    """Keep the first candidate that can be read; nothing is looked for if the field is there."""
    if field in findings.fields:
        return
    for found in islice(candidates, MAX_CANDIDATES):
        if findings.add(field, read(found.value), found.source, found.value):
            return


def agree(one: str, other: str) -> bool:
    """Whether one name is the other, or a longer form of it."""
    short, long = sorted((bare(one), bare(other)), key=len)
    return bool(short) and short in long


def bare(text: str) -> str:
    """A text for comparing: letters and digits only, in lower case."""
    return _NOT_A_WORD.sub("", text).casefold()


def title_parts(title: str) -> list[str]:
    """The parts of a page's title: "Welder | Acme" has two."""
    return [part for part in map(fold, _SEPARATOR.split(title[:500])) if part]


def canonical_url(document: Document) -> str:
    """Where the page says it lives; empty if it does not, or sends everybody to the front door."""
    link = document.attribute("link[rel~=canonical i]", "href")
    url = document.absolute(link) if link else None
    if url is None:
        return ""
    is_front_door = parse(url).target == "/" != document.location.target
    return "" if is_front_door else url


def page_url(document: Document) -> str:
    """The address of the page in its plain form."""
    return document.absolute("") or document.url
