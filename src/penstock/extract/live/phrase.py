"""Patterns that a person writes in the options of a feed, which must not stall whoever matches."""

import re

MAX_PATTERN = 200
MAX_TEXT = 300
MAX_REPEATS = 2

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_REPEAT = re.compile(r"[*+?{]")
#: Sets that Python warns of, because a later version may read them otherwise.
_UNCLEAR_SET = re.compile(r"\[\^?\]?[^\]]*(?:\[|--|&&|~~|\|\|)")
_IGNORE_CASE = "(?i)"


def compile_phrase(pattern: str) -> re.Pattern[str]:
    """A pattern that is matched fast whatever the text; raises ValueError for any other.

    It may be alternatives of words with a few repetitions, and begin with `(?i)`. Groups are not
    for it: with them a short pattern can take for ever.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"a pattern has at most {MAX_PATTERN} characters")
    plain = _ESCAPED.sub("_", pattern.removeprefix(_IGNORE_CASE))
    if "(" in plain or re.search(r"\\[1-9]", pattern):
        raise ValueError("a pattern has no groups and no references; (?i) may stand at its start")
    if len(_REPEAT.findall(plain)) > MAX_REPEATS:
        raise ValueError(f"a pattern has at most {MAX_REPEATS} repetitions")
    if _UNCLEAR_SET.search(plain):
        raise ValueError("a pattern has no sets in sets; write \\[ for the sign itself")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise ValueError(f"this is no pattern: {error}") from error


def is_in(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the beginning of a text has something that fits."""
    return pattern.search(text[:MAX_TEXT]) is not None
