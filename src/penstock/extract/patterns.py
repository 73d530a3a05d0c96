"""What patterns have in common."""

import re

_LETTER = re.compile(r"[^\W\d_]")


def either_case(words: str) -> str:
    """A pattern for words in capitals or not: many times faster than one that ignores case.

    The words may be a pattern themselves, without classes that are named by a letter.
    """
    return _LETTER.sub(lambda letter: f"[{letter[0].lower()}{letter[0].upper()}]", words)
