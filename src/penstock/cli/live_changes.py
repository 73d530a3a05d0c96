"""What of a page is new: its fields by name, and which of them are not as before."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from penstock.cli.output import safe

#: Fields that are told of in one line.
MOST_TOLD = 6
MOST_CHARACTERS = 60


class Change(NamedTuple):
    """A field, and what it said before and says now; None where it is not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.name} {self.after}"
        return f"{self.name} {self.before} → {self.after if self.after is not None else 'gone'}"


def fields_of(payload: Mapping[str, Any]) -> dict[str, str]:
    """Fields by their path, as text that a terminal can be trusted with."""
    return {safe(name): safe(text) for name, text in _walk("", payload)}


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """The fields that differ, in the order of what is there now."""
    names = dict.fromkeys([*after, *before])
    pairs = (Change(name, before.get(name), after.get(name)) for name in names)
    return [each for each in pairs if each.before != each.after]


def in_one_line(changes: list[Change]) -> str:
    """The changes, as many as a line has room for."""
    told = [_cut(str(each)) for each in changes[:MOST_TOLD]]
    rest = len(changes) - len(told)
    return ", ".join([*told, f"{rest} more"] if rest else told)


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for name, each in value.items():
                yield from _walk(f"{path}.{name}" if path else str(name), each)
        case list() | tuple():
            for place, each in enumerate(value):
                yield from _walk(f"{path}.{place}" if path else str(place), each)
        case None:
            return
        case bool():
            yield path, "yes" if value else "no"
        case _:
            yield path, str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
