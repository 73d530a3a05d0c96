"""Words and tokens: the same for what is put and for what is looked for."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.products.search.analysis import (
    BITS_OF_CHANCE,
    analyse,
    composed,
    places_in,
    value_token,
    wanted_words,
    words_of,
)
from penstock.products.search.ports import Document

TOKEN = re.compile(r"(?:[a-z]_)?[^\W_]+")


def document(**facts: Any) -> Document:
    told: dict[str, Any] = {
        "product_id": "p",
        "product_name": "Lamp",
        "domain_name": "shop.test",
        "url": "https://shop.test/p",
        "created_at": 0,
        "updated_at": 0,
    }
    return Document(**told | facts)


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("Wireless Headphones", ["wireless", "headphon"]),
        ("running, runs & RUN", ["run", "run", "run"]),
        ("men's watches", ["men", "watch"]),
        ("O\u2019Reilly", ["oreilli"]),
        ("crème brûlée", ["creme", "brule"]),
        ("cre\u0300me", ["creme"]),
        ("Straße", ["strass"]),
        ("9mm x-large 1.5", ["9mm", "x", "larg", "1", "5"]),
        ("snake_case", ["snake", "case"]),
        ("日本 2TB", ["日", "本", "2tb"]),
        ("½", ["1", "2"]),
        ("\x00\ud800 _ !", []),
        (None, []),
    ],
)
def test_words_have_stems(text: str | None, stems: list[str]) -> None:
    assert [word.stem for word in words_of(text)] == stems


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the lamp and the lamps", ["lamp"]),
        ("The the THE", ["the"]),
        ("it", ["it"]),
        ("lamp red lamp", ["lamp", "red"]),
        ("", []),
    ],
)
def test_each_word_is_wanted_once_and_stop_words_only_alone(text: str, wanted: list[str]) -> None:
    assert [word.stem for word in wanted_words(text)] == wanted


def test_tokens_say_where_a_stem_stands() -> None:
    lamp = document(product_name="The lamps", brand="Acme", description="the best of light")

    tokens = set(analyse(lamp).tokens)

    assert {"lamp", "h_lamp", "n_lamp", "acm", "h_acm", "best", "light", "the", "n_the"} <= tokens
    assert not {"n_acm", "h_best", "n_best", "of"} & tokens
    assert value_token("b_", "Acme") in tokens
    assert value_token("b_", "acme") not in tokens


def test_a_title_is_the_same_however_it_is_written() -> None:
    def titles(name: str) -> set[str]:
        tokens = analyse(document(product_name=name)).tokens
        return {token for token in tokens if token.startswith("t_")}

    assert titles("The Black Lamp") == titles("the  BLÁCK-lamp!")
    assert titles("The Black Lamp") != titles("Black Lamp")
    assert titles("Black Lamp") != titles("Black Lamps")


def test_shorter_names_have_earlier_places() -> None:
    short = analyse(document(product_id="b", product_name="Lamp")).place
    long = analyse(document(product_id="a", product_name="A lamp for the desk")).place
    endless = analyse(document(product_name="lamp " * 4_000)).place

    assert 0 < short < long < endless < 1 << BITS_OF_CHANCE + 8


def test_names_are_sorted_without_case_and_accents() -> None:
    assert analyse(document(product_name="  ÉTAGÈRE, large")).sort_name == "etagere large"
    assert len(analyse(document(product_name="x " * 500)).sort_name) == 128


def test_threads_do_not_disturb_each_other() -> None:
    texts = [f"running{number} watches{number} nationalities{number}" for number in range(300)]
    alone = [words_of(text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(words_of, texts)) == alone


@given(st.text())
def test_tokens_have_nothing_in_them_that_means_something_to_an_engine(text: str) -> None:
    found = analyse(document(product_name=text, brand=text, description=text)).tokens

    assert all(TOKEN.fullmatch(token) for token in found)
    assert all(token.encode() and len(token) <= 66 for token in found)


@given(st.text())
def test_words_stand_where_they_are_said_to_be(text: str) -> None:
    places = list(places_in(composed(text)))

    assert [word for place in places for word in place.words] == words_of(text)
    ends = [0, *(place.end for place in places)]
    assert all(end <= place.start < place.end for end, place in zip(ends, places, strict=False))


@given(st.text())
def test_what_is_put_has_what_is_wanted_of_itself(text: str) -> None:
    tokens = set(analyse(document(product_name=text)).tokens)

    assert {word.stem for word in wanted_words(text)} <= tokens
