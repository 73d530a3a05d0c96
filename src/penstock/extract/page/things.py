"""Things: the items of a page's structured data, read without trusting their shape.

Sites give a text where a list belongs, a number for a text, an object for a name and a reference
for an object. A `Thing` answers with a text or with other things, whatever stands there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.extract.page.document import Document
from penstock.extract.page.structured import Item, as_list, fold, types_of, within

MAX_VALUES = 50
MAX_NESTING = 4
#: What stands in a property when a template had nothing to put there.
_NOTHING = frozenset(["null", "none", "undefined", "n/a", "nan", "-", "[]", "{}"])
_PREFIXES = ("", "schema:", "http://schema.org/", "https://schema.org/")


#: What of a postal address says where on earth it is.
_WHERE = ("addressLocality", "addressRegion", "addressCountry")

Place = str | dict[str, str]


class Found(NamedTuple):
    """A text of a page, and how evidence names the place where it stood."""

    value: str
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """An item, the syntax it was written in, and the page's items by id."""

    item: Item
    syntax: str
    named: Mapping[str, Item]

    @property
    def types(self) -> tuple[str, ...]:
        """The bare names of its types."""
        return types_of(self.item)

    def values(self, name: str) -> list[Any]:
        """The values of a property; none if it is missing."""
        return as_list(self.value(name))[:MAX_VALUES]

    def value(self, name: str) -> Any:
        """The value of a property as it stands there."""
        spellings = (prefix + name for prefix in _PREFIXES)
        return next((self.item[name] for name in spellings if name in self.item), None)

    def text(self, *names: str) -> str:
        """The first text that one of the properties has; empty if none has any."""
        return next((text for name in names if (text := text_in(self.value(name)))), "")

    def parts(self, name: str) -> list["Thing | str"]:
        """What a property holds: things, a reference leading to the item it names, and texts."""
        values = self.values(name)
        parts = [
            self._thing(value) if isinstance(value, dict) else text_in(value) for value in values
        ]
        return [part for part in parts if part]

    def things(self, *names: str) -> list["Thing"]:
        """The things in properties."""
        parts = (part for name in names for part in self.parts(name))
        return [part for part in parts if isinstance(part, Thing)]

    def source(self, name: str) -> str:
        """How evidence names a property."""
        return f"{self.syntax} {next(iter(self.types), 'item')}.{name}"

    def found(self, *names: str) -> Iterator[Found]:
        """The texts of properties that have one."""
        for name in names:
            if text := self.text(name):
                yield Found(text, self.source(name))

    def _thing(self, item: Item) -> "Thing":
        return Thing(self._resolved(item), self.syntax, self.named)

    def _resolved(self, item: Item) -> Item:
        name = item.get("@id")
        if isinstance(name, str) and "@type" not in item:
            return self.named.get(name, item)
        return item


def things_of(document: Document, skip: frozenset[str] = frozenset()) -> Iterator[Thing]:
    """Every thing of a page, JSON-LD first, outermost first; not through the properties to skip."""
    named = _items_by_id(document.json_ld)
    for syntax, items in _written(document):
        for item in within(items, skip):
            yield Thing(item, syntax, named)


def _written(document: Document) -> Iterator[tuple[str, list[Item]]]:
    yield "json-ld", list(document.json_ld)
    yield "microdata", [item for item, _ in document.microdata]
    yield "rdfa", [item for item, _ in document.rdfa]


def _items_by_id(items: Iterable[Item]) -> dict[str, Item]:
    named: dict[str, Item] = {}
    for item in within(items):
        name = item.get("@id")
        if isinstance(name, str) and "@type" in item:
            named.setdefault(name, item)
    return named


def places_in(thing: Thing, name: str) -> Iterator[Place]:
    """The places in a property: postal addresses by their parts, else as texts."""
    for part in thing.parts(name):
        yield from places_of(part)


def places_of(part: Thing | str, nesting: int = MAX_NESTING) -> Iterator[Place]:
    """The places that a text, an address, or something that has addresses stands for."""
    if isinstance(part, str):
        yield part
    elif address := _address(part):
        yield address
    elif nesting and (inner := part.parts("address")):
        for one in inner:
            yield from places_of(one, nesting - 1)
    elif label := part.text("name", "streetAddress"):
        yield label


def _address(thing: Thing) -> dict[str, str]:
    return {name: text for name in _WHERE if (text := thing.text(name))}


def place_text(place: Place) -> str:
    """A place as evidence shows it."""
    return place if isinstance(place, str) else ", ".join(place.values())


def text_in(value: Any, nesting: int = MAX_NESTING) -> str:
    """The text that a value stands for: its own, its name's, or the first one of a list."""
    match value:
        case str():
            return _meant(fold(value))
        case bool():
            return ""
        case int() | float():
            return _meant(str(value))
        case list() if nesting:
            texts = (text_in(element, nesting - 1) for element in value[:MAX_VALUES])
            return next((text for text in texts if text), "")
        case dict() if nesting:
            inner = next((value[key] for key in ("@value", "name", "text") if key in value), None)
            return text_in(inner, nesting - 1)
    return ""


def _meant(text: str) -> str:
    """A text, unless it is the trace of a template that had nothing to say."""
    is_trace = text.lower() in _NOTHING or text.startswith("{{")
    return "" if is_trace else text
