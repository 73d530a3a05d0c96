"""What pages say, as flat fields with paths; and which of them changed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MOST_FIELDS, MOST_CHANGES, LONGEST = 200, 8, 300
NOTHING = "-"


class Change(NamedTuple):
    """A field that says something else than before."""

    path: str
    before: str
    after: str


def leaves(payload: Any, most: int = MOST_FIELDS) -> dict[str, str]:
    """Fields by their paths, such as `score.runs`; not more than so many."""
    found: dict[str, str] = {}
    for path, value in _walk(payload, ""):
        if len(found) == most:
            break
        found[path] = value
    return found


def changes(before: Any, after: Any) -> tuple[list[Change], int]:
    """The first fields that changed, and how many more did."""
    old, new = leaves(before), leaves(after)
    found = [
        Change(path, old.get(path, NOTHING), new.get(path, NOTHING))
        for path in dict.fromkeys([*new, *old])
        if old.get(path) != new.get(path)
    ]
    return found[:MOST_CHANGES], max(0, len(found) - MOST_CHANGES)


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping() if value:
            for name, each in value.items():
                yield from _walk(each, f"{path}.{name}" if path else str(name))
        case str():
            yield path, value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        case Sequence() if value:
            for place, each in enumerate(value):
                yield from _walk(each, f"{path}[{place}]")
        case bool():
            yield path, "yes" if value else "no"
        case Mapping() if not path:
            return
        case None | Mapping() | Sequence():
            yield path, NOTHING
        case _:
            yield path, str(value)
