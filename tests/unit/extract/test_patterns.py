"""Patterns that fit words in any case."""

import re

from penstock.extract.patterns import either_case


def test_words_fit_in_capitals_or_not() -> None:
    pattern = re.compile(either_case(r"art\.? ?nr|код"))
    for words in ("art. nr", "ART.NR", "Art Nr", "Код", "КОД"):
        assert pattern.fullmatch(words)
    assert not pattern.fullmatch("art, nr")
