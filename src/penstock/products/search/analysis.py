"""Words, the same for all back ends: what is put and what is looked for goes through here.

A word is a run of letters and digits, without case and accents, or one sign of a script that does
not put spaces between words. Its stem is what English forms of it share. Back ends get tokens: a
stem, with a prefix where it stands in the name or the head (name, brand and category), or a value
that is looked for as a whole. They never analyse anything themselves.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple

from snowballstemmer.english_stemmer import EnglishStemmer

from penstock.products.search.ports import Document

#: Words that say nothing of a product; in a text of nothing else they count.
STOP_WORDS = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "but", "by"),
        *("for", "if", "in", "into", "is", "it", "no", "not", "of"),
        *("on", "or", "such", "that", "the", "their", "then", "there", "these"),
        *("they", "this", "to", "was", "will", "with"),
    }
)
#: So much of each text is looked at.
LONGEST_TEXT, LONGEST_WORD, LONGEST_SORTED = 20_000, 64, 128
#: Before tokens of stems, which have no underscore: where the stem stands.
ANYWHERE, IN_HEAD, IN_NAME = "", "h_", "n_"
#: Before tokens of values: of which field they are.
TITLE, BRAND, CATEGORY, DOMAIN, AVAILABILITY, CURRENCY = "t_", "b_", "c_", "d_", "a_", "u_"
#: Names with more words than this count as having so many.
MOST_WORDS = 255
BITS_OF_CHANCE = 55

_SIGNS = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_APOSTROPHE = "['\u2019]"
_RUN = re.compile(rf"[^\W_]+(?:{_APOSTROPHE}[^\W_]+)*")
#: What a run is made of: signs that are words themselves, and what stands between them.
_WORD = re.compile(rf"[{_SIGNS}]|[^{_SIGNS}]+")
_PART = re.compile(r"[^\W_]+")
_DROPPED = re.compile(rf"{_APOSTROPHE}s$|{_APOSTROPHE}")

_stemmer, _turn = EnglishStemmer(), Lock()


class Word(NamedTuple):
    """A word without case and accents, and its stem."""

    plain: str
    stem: str


class Analysis(NamedTuple):
    """What back ends need to know of a document.

    `tokens` are all that it is found by. `place` is a number of 63 bits that orders what is equally
    relevant: short names first, then by chance. `sort_name` is the name as names are sorted.
    """

    tokens: list[str]
    place: int
    sort_name: str


class Place(NamedTuple):
    """Where in a text there are words; nearly always it is one."""

    start: int
    end: int
    words: tuple[Word, ...]


def composed(text: str) -> str:
    """As much of a text as is looked at, with accents and letters in one."""
    return unicodedata.normalize("NFC", text[:LONGEST_TEXT])


def places_in(text: str) -> Iterator[Place]:
    """The words of a composed text and where they stand."""
    for run in _RUN.finditer(text):
        for found in _WORD.finditer(text, run.start(), run.end()):
            if words := _read(found.group()):
                yield Place(found.start(), found.end(), words)


def words_of(text: str | None) -> list[Word]:
    """The words of a text in their order."""
    if not text:
        return []
    runs = _RUN.findall(composed(text))
    return [word for run in runs for word in _read_run(run)]


def wanted_words(text: str) -> list[Word]:
    """The words that a text is looked for by, each once: stop words only if there are no others."""
    words = list({word.stem: word for word in words_of(text)}.values())
    return [word for word in words if word.plain not in STOP_WORDS] or words


def analyse(document: Document) -> Analysis:
    """What back ends need to know of a document."""
    name = words_of(document.product_name)
    return Analysis(
        sorted(_tokens(document, name)),
        _place(document.product_id, len(name)),
        " ".join(word.plain for word in name)[:LONGEST_SORTED],
    )


def _tokens(document: Document, name: list[Word]) -> set[str]:
    head = [*name, *words_of(document.brand), *words_of(document.category)]
    values = {
        BRAND: document.brand,
        CATEGORY: document.category,
        DOMAIN: document.domain_name,
        AVAILABILITY: document.availability,
        CURRENCY: document.currency,
    }
    return {
        title_token(name),
        *(word.stem for word in head),
        *(word.stem for word in words_of(document.description) if word.plain not in STOP_WORDS),
        *(IN_HEAD + word.stem for word in head),
        *(IN_NAME + word.stem for word in name),
        *(value_token(field, value) for field, value in values.items() if value is not None),
    }


def _place(product_id: str, words: int) -> int:
    chance = int.from_bytes(blake2b(product_id.encode("utf-8", "replace")).digest()[:7])
    return min(words, MOST_WORDS) << BITS_OF_CHANCE | chance & (1 << BITS_OF_CHANCE) - 1


def title_token(words: Iterable[Word]) -> str:
    """The token of a whole name, however it is written."""
    return value_token(TITLE, " ".join(word.plain for word in words))


def value_token(field: str, value: str) -> str:
    """The token of a value of a field, as it is."""
    return field + blake2b(value.encode("utf-8", "replace"), digest_size=10).hexdigest()


@lru_cache(maxsize=65_536)
def _read_run(run: str) -> tuple[Word, ...]:
    return tuple(word for written in _WORD.findall(run) for word in _read(written))


@lru_cache(maxsize=65_536)
def _read(written: str) -> tuple[Word, ...]:
    """The words in a run of letters, which folds into several only where a sign stands for them."""
    apart = unicodedata.normalize("NFKD", written).casefold()
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", apart) if not _is_mark(sign))
    parts = _PART.findall(_DROPPED.sub("", unicodedata.normalize("NFC", bare)))
    return tuple(Word(part[:LONGEST_WORD], _stem(part[:LONGEST_WORD])) for part in parts)


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) == "Mn"


def _stem(word: str) -> str:
    # The stemmer keeps the word that it is at in itself.
    with _turn:
        stem: str = _stemmer.stemWord(word)
    return stem
