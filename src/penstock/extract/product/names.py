"""Names of products, compared as people do: by the words they have in common."""

import re

MAX_NAME = 300
MAX_TITLE = 600
PIECE = 4
MOST = 0.6

_WORD = re.compile(r"\w+")


def same_words(name: str, title: str) -> bool:
    """Whether most words of a name stand in a title."""
    words = set(_WORD.findall(name.lower()[:MAX_NAME]))
    shared = words.intersection(_WORD.findall(title.lower()[:MAX_TITLE]))
    return bool(words) and len(shared) >= len(words) * MOST


def is_part(words: str, name: str) -> bool:
    """Whether all words stand in a name."""
    return set(_WORD.findall(words.lower())) <= set(_WORD.findall(name.lower()[:MAX_TITLE]))


def akin(name: str, title: str) -> bool:
    """Whether two names have anything in common, be it a part of a word."""
    return (
        same_words(name, title) or same_words(title, name) or bool(_pieces(name) & _pieces(title))
    )


def _pieces(name: str) -> set[str]:
    """The parts of words; a short word says something only where words are written so."""
    words = _WORD.findall(name.lower()[:MAX_TITLE])
    return {
        word[start : start + PIECE]
        for word in words
        if len(word) >= PIECE or not word.isascii()
        for start in range(max(1, len(word) - PIECE + 1))
    }
