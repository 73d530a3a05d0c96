"""Pages made to stall a parser: cut where they begin to, so that a tree costs bounded time.

The HTML rules let a small page cost a lot: every open element is looked at again for each new
one, and open formatting elements are copied into each new paragraph. The cost is added up as the
parser would meet it, and the page ends where it becomes more than any real page has.
"""

import re
from collections import Counter
from itertools import islice

#: Steps over open elements, and copies of formatting elements; real pages stay below a tenth.
MAX_STEPS = 150_000_000
MAX_COPIES = 1_000_000
#: Attributes of one element are compared with each other.
MAX_ATTRIBUTES = 4_000
WINDOW = 40_000
#: With fewer tags than this, no nesting is too deep.
FEW_TAGS = 22_000

FORMATTING = frozenset(
    ["b", "i", "u", "s", "em", "tt", "big", "code", "font", "nobr", "small", "strike", "strong"]
)

_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
_RAW = re.compile(r"<(?:script|style|textarea|title|!--)", re.IGNORECASE)


def tame(text: str) -> str:
    """The page, or as much of it as can be parsed in bounded time and memory."""
    text = _before_long_tag(text)
    tags = _TAG.findall(text)
    if len(tags) <= FEW_TAGS and _most_open(tags) * len(tags) <= MAX_COPIES:
        return text
    kept = _affordable(tags)
    return text if kept == len(tags) else _first_tags(text, kept)


def _most_open(tags: list[str]) -> int:
    """How many formatting elements are open at once."""
    present = {tag: tag.lower() for tag in set(tags) if tag.lower().lstrip("/") in FORMATTING}
    opened: Counter[str] = Counter()
    most = 0
    for tag in tags:
        if tag not in present:
            continue
        name = present[tag]
        if name[0] != "/":
            opened[name] += 1
            most = max(most, opened.total())
        elif opened[name[1:]]:
            opened[name[1:]] -= 1
    return most


def _affordable(tags: list[str]) -> int:
    """How many of the tags a parser can take before it costs too much."""
    opened: Counter[str] = Counter()
    depth = formatting = steps = copies = 0
    for count, tag in enumerate(tags):
        name = tag.lower()
        change = 1
        if name[0] == "/":
            name = name[1:]
            change = -1 if opened[name] else 0
        opened[name] += change
        depth += change
        formatting += change * (name in FORMATTING)
        steps += depth
        copies += formatting
        if copies > MAX_COPIES or steps > MAX_STEPS:
            return count
    return len(tags)


def _first_tags(text: str, count: int) -> str:
    match = next(islice(_TAG.finditer(text), count, None))
    return text[: match.start()]


def _before_long_tag(text: str) -> str:
    """The page before a tag with more attributes than any element has."""
    for start in range(0, len(text) - WINDOW, WINDOW):
        window = text[start : start + WINDOW]
        if ">" in window or "<" in window:
            continue
        tag = text.rfind("<", 0, start)
        is_markup = tag >= 0 and text.find(">", tag, start) < 0 and not _RAW.match(text, tag)
        if is_markup and len(window.split()) > MAX_ATTRIBUTES:
            return text[:tag]
    return text
