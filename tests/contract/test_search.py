"""Search: SQLite, PostgreSQL and a search server find the same, in the same order."""

from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.products.search.analysis import wanted_words
from penstock.products.search.ports import (
    Filters,
    Found,
    Query,
    SearchIndex,
    Sort,
    Total,
)
from penstock.web.errors import InvalidRequest
from tests.searches import document, find, ids_of, walk

# ── words


@pytest.mark.parametrize("text", ["headphones", "HEADPHONE", "headphone's", "Wireless Headphones"])
async def test_a_word_is_found_in_any_form(index: SearchIndex, text: str) -> None:
    await index.put([document("a", "Wireless headphones"), document("b", "Wireless lamp")])

    assert await find(index, text) == ["a"]


async def test_all_words_must_be_there_but_anywhere(index: SearchIndex) -> None:
    await index.put(
        [
            document("a", "Lamp", brand="Acme", category="Light", description="for reading"),
            document("b", "Lamp", brand="Other", description="for reading"),
        ]
    )

    assert await find(index, "read lamps acme light") == ["a"]
    assert await find(index, "lamp acme piano") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cafe creme", "Café Crème"),
        ("CAFÉ CRÈME", "cafe creme"),
        ("strasse", "Straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ディスク", "ハードディスク 2TB"),
        ("лампы", "Настольные лампы"),
        ("½ inch", "1/2 inch drill"),
        ("oreilly", "O'Reilly book"),
        ("e\u0301tage\u0300re", "étagère"),
    ],
)
async def test_case_accents_and_scripts_do_not_matter(
    index: SearchIndex, text: str, name: str
) -> None:
    await index.put([document("a", name), document("b", "something else")])

    assert await find(index, text) == ["a"]


async def test_stop_words_count_only_where_there_is_nothing_else(index: SearchIndex) -> None:
    await index.put(
        [
            document("a", "The Lamp", description="not for you"),
            document("b", "Lamp", description="This is the lamp and it is for you"),
            document("c", "It"),
        ]
    )

    assert set(await find(index, "the lamp")) == {"a", "b"}
    assert await find(index, "the") == ["a"]
    assert await find(index, "it") == ["c"]


@pytest.mark.parametrize("text", ["!!!", "* - ( )", "\x00", "\ud800", "_", "🎉"])
async def test_a_text_without_words_finds_nothing(index: SearchIndex, text: str) -> None:
    await index.put([document("a")])

    assert await index.search(Query(text)) == Found((), None, Total(0, more=False))


@pytest.mark.parametrize("text", ["", "  \t"])
async def test_no_text_finds_everything_the_newest_first(index: SearchIndex, text: str) -> None:
    await index.put([document(each, created_at=number) for number, each in enumerate("abc")])

    assert await find(index, text) == ["c", "b", "a"]


# ── ranking


async def test_an_exact_title_is_first(index: SearchIndex) -> None:
    names = {
        "a": "Lamp black",
        "b": "Black lamp",
        "c": "The black lamp",
        "d": "black lamps",
        "e": "BLÁCK lamp!",
    }
    await index.put([document(each, name) for each, name in names.items()])

    assert set((await find(index, "black lamp"))[:2]) == {"b", "e"}
    assert (await find(index, "the black lamp"))[0] == "c"
    assert (await find(index, "black lamps"))[0] == "d"


async def test_a_name_counts_more_than_a_brand_and_that_more_than_a_description(
    index: SearchIndex,
) -> None:
    await index.put(
        [
            document("description", "Thing", description="acme lamp"),
            document("some", "Lamp", description="acme"),
            document("head", "Lamp", brand="Acme"),
            document("category", "Thing", category="Acme", description="lamp"),
            document("name", "Acme lamp, large and very black"),
        ]
    )

    found = await index.search(Query("acme lamp"))

    assert ids_of(found) == ["name", "head", "some", "category", "description"]
    scores = [hit.score or 0.0 for hit in found.hits]
    assert scores == sorted(scores, reverse=True)


async def test_of_names_that_match_the_shorter_is_first(index: SearchIndex) -> None:
    await index.put(
        [
            document("a", "Lamp for the garden"),
            document("b", "Lamp set"),
            document("c", "Old lamp x"),
        ]
    )

    assert await find(index, "lamp") == ["b", "c", "a"]


async def test_highlights_mark_words_and_escape_the_rest(index: SearchIndex) -> None:
    name, brand = "<b>Lamps</b> & more", "Lámp & Co"
    about = "x" * 30 + " word" * 100 + " a lamp <script> " + "tail " * 100
    await index.put([document("a", name, brand=brand, description=about)])

    (hit,) = (await index.search(Query("lamp"))).hits

    assert hit.highlights["product_name"] == "&lt;b&gt;<em>Lamps</em>&lt;/b&gt; &amp; more"
    assert hit.highlights["brand"] == "<em>Lámp</em> &amp; Co"
    shown = hit.highlights["description"]
    assert "<em>lamp</em> &lt;script&gt;" in shown
    assert shown[0] == shown[-1] == "…"
    assert len(shown) < 300
    assert "category" not in hit.highlights


async def test_without_a_text_there_are_no_scores_and_no_highlights(index: SearchIndex) -> None:
    await index.put([document("a")])

    (hit,) = (await index.search(Query())).hits

    assert (hit.score, hit.highlights) == (None, {})


# ── filters


@pytest.fixture
async def shelf(index: SearchIndex) -> SearchIndex:
    """An index with a few different things."""
    await index.put(
        [
            document(
                "a", price=Decimal("9.99"), currency="USD", brand="Acme", rating=Decimal("4.5")
            ),
            document("b", price=Decimal("10.00"), currency="EUR", brand="acme", category="Light"),
            document("c", price=Decimal("20.01"), currency="USD", availability="IN_STOCK"),
            document("d", domain_name="other.test", availability="OUT_OF_STOCK", brand="Zenith"),
        ]
    )
    return index


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"price_min": Decimal(10)}, "bc"),
        ({"price_max": Decimal("10.00")}, "ab"),
        ({"price_min": Decimal("9.991"), "price_max": Decimal("20.019")}, "bc"),
        ({"price_max": Decimal("9.989")}, ""),
        ({"price_min": Decimal(5), "currency": "USD"}, "ac"),
        ({"currency": "GBP"}, ""),
        ({"brand": ("Acme",)}, "a"),
        ({"brand": ("Acme", "Zenith", "unheard of")}, "ad"),
        ({"brand": ("acme' OR 1=1 --",)}, ""),
        ({"category": ("Light",)}, "b"),
        ({"domain": ("other.test",)}, "d"),
        ({"availability": ("IN_STOCK", "OUT_OF_STOCK")}, "cd"),
        ({"rating_min": Decimal("4.5")}, "a"),
        ({"rating_min": Decimal("4.51")}, ""),
        ({"price_min": Decimal(1), "brand": ("Acme", "acme"), "rating_min": Decimal(1)}, "a"),
    ],
)
async def test_filters_leave_what_is_wanted(
    shelf: SearchIndex, filters: dict[str, Any], expected: str
) -> None:
    for text, sort in product(["", "lamp"], [None, Sort.NAME]):
        found = await shelf.search(Query(text, Filters(**filters), sort))

        assert sorted(ids_of(found)) == list(expected)
        assert found.total == Total(len(expected), more=False)


@pytest.mark.parametrize(
    ("field", "query"),
    [
        ("limit", Query(limit=0)),
        ("limit", Query(limit=101)),
        ("q", Query("a" * 501)),
        ("q", Query(" ".join(f"w{each}" for each in range(33)))),
        ("brand", Query(filters=Filters(brand=("x",) * 51))),
        ("domain", Query(filters=Filters(domain=("x" * 501,)))),
        ("price_min", Query(filters=Filters(price_min=Decimal(-1)))),
        ("price_max", Query(filters=Filters(price_max=Decimal("NaN")))),
        ("rating_min", Query(filters=Filters(rating_min=Decimal(11)))),
    ],
)
async def test_what_makes_no_sense_is_refused(index: SearchIndex, field: str, query: Query) -> None:
    with pytest.raises(InvalidRequest, match=f"^{field}:"):
        await index.search(query)


# ── sorts and cursors

#: Few values, so that there are ties; of some there are none.
MIXED = [
    document(
        f"{number:03}",
        ["Lamp", "lámp", "Zebra lamp", "Apple"][number % 4],
        price=None if number % 5 == 0 else Decimal(number % 3) + Decimal("0.10"),
        rating=None if number % 3 == 0 else Decimal(number % 2 + 3),
        created_at=number % 4,
        updated_at=-(number % 3),
        description="a lamp" if number % 2 else None,
    )
    for number in range(60)
]
KEYS: dict[Sort, Any] = {
    Sort.NEWEST: lambda each: -each.created_at,
    Sort.UPDATED: lambda each: -each.updated_at,
    Sort.PRICE_ASC: lambda each: (each.price is None, each.price or 0),
    Sort.PRICE_DESC: lambda each: (each.price is None, -(each.price or 0)),
    Sort.RATING: lambda each: (each.rating is None, -(each.rating or 0)),
    Sort.NAME: lambda each: each.product_name.casefold().replace("á", "a"),
}


@pytest.mark.parametrize("sort", KEYS)
@pytest.mark.parametrize("text", ["", "lamp"])
async def test_pages_of_every_sort_have_everything_once_and_in_order(
    index: SearchIndex, sort: Sort, text: str
) -> None:
    await index.put(MIXED)
    key = KEYS[sort]

    walked = await walk(index, Query(text, sort=sort, limit=7))

    by_id = {each.product_id: each for each in MIXED}
    wanted = [
        each for each in MIXED if not text or each.product_name != "Apple" or each.description
    ]
    assert sorted(walked) == sorted(each.product_id for each in wanted)
    keys = [key(by_id[each]) for each in walked]
    assert keys == sorted(keys)


async def test_pages_by_relevance_have_everything_once(index: SearchIndex) -> None:
    await index.put(MIXED)

    walked = await walk(index, Query("lamp", limit=7))

    assert walked == await find(index, "lamp", limit=100)
    assert (
        len(walked)
        == len(set(walked))
        == 60 - sum(each.product_name == "Apple" and not each.description for each in MIXED)
    )


async def test_pages_with_ranges_and_filters_have_everything_once(index: SearchIndex) -> None:
    await index.put(MIXED)
    filters = Filters(price_min=Decimal("1.10"), domain=("shop.test",))

    walked = await walk(index, Query("lamp", filters, Sort.PRICE_DESC, limit=3))

    assert walked == ids_of(await index.search(Query("lamp", filters, Sort.PRICE_DESC, limit=100)))


async def test_a_page_begins_where_the_last_one_ended_whatever_came_before(
    index: SearchIndex,
) -> None:
    await index.put([document(f"{each:02}", created_at=each) for each in range(10)])
    query = Query(limit=4)
    first = await index.search(query)

    await index.put([document("new", created_at=99)])
    await index.remove(ids_of(first))
    second = await index.search(replace(query, cursor=first.next_cursor))

    assert ids_of(second) == ["05", "04", "03", "02"]


@pytest.mark.parametrize(
    "other",
    [
        Query("lamps and more"),
        Query("lamp", sort=Sort.NAME),
        Query("lamp", Filters(brand=("x",))),
        Query("lamp", Filters(price_min=Decimal(1))),
    ],
)
async def test_a_cursor_is_for_its_query_only(index: SearchIndex, other: Query) -> None:
    await index.put(MIXED)
    cursor = (await index.search(Query("lamp", limit=2))).next_cursor

    assert cursor
    with pytest.raises(InvalidRequest, match=r"^cursor:"):
        await index.search(replace(other, cursor=cursor))


async def test_a_cursor_may_be_used_with_another_limit(index: SearchIndex) -> None:
    await index.put(MIXED)
    cursor = (await index.search(Query("lamp", limit=2))).next_cursor

    assert len((await index.search(Query("lamp", cursor=cursor, limit=100))).hits) > 10


# ── hostile queries


HOSTILE = [
    *(
        '"',
        "'",
        "\\",
        'a" OR "b',
        "NEAR(a b)",
        "lamp*",
        "^lamp",
        "name:lamp",
        "-lamp",
        "lamp NOT x",
    ),
    *("'lamp' & !'x'", "lamp:*", "lamp <-> x", '{"match_all":{}}', "lamp~2", "[1 TO 2]", "/lamp/"),
    *("n_lamp", "h_lamp", "t_00", "'; DROP TABLE product_search; --", "%", "${jndi:x}", "a" * 500),
]


async def test_a_text_is_words_and_never_a_language(index: SearchIndex) -> None:
    await index.put([document("a", "Lamp"), *(document(f"b {text}", text) for text in HOSTILE)])

    for text in HOSTILE:
        found = await find(index, text, limit=100)

        assert (f"b {text}" in found) == bool(wanted_words(text))
    assert await index.count() == len(HOSTILE) + 1


async def test_words_of_operators_are_words(index: SearchIndex) -> None:
    await index.put([document("a", "lamp"), document("b", "lamp near x")])

    assert await find(index, "lamp NEAR x") == ["b"]
    assert await find(index, "lamp* -x") == ["b"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=80))
async def test_whatever_is_put_is_found_by_its_own_name(index: SearchIndex, name: str) -> None:
    await index.put([document("it", name), document("other", "Lamp")])

    found = await find(index, name)

    assert found == [] or "it" in found or not name.strip()
    assert bool(found) == bool(wanted_words(name)) or not name.strip()


# ── together


async def test_all_back_ends_find_the_same_in_the_same_order(
    search_on_sqlite: SearchIndex, search_on_postgres: SearchIndex, search_on_server: SearchIndex
) -> None:
    every = (search_on_sqlite, search_on_postgres, search_on_server)
    for each in every:
        await each.put(MIXED)

    for text, sort in product(["", "lamp", "zebra lamp", "the"], [None, *Sort]):
        query = Query(text, sort=sort, limit=100)
        first, *others = [await each.search(query) for each in every]
        assert others == [first, first], query


async def test_a_cursor_of_one_back_end_is_good_for_another(
    search_on_sqlite: SearchIndex, search_on_server: SearchIndex
) -> None:
    for each in (search_on_sqlite, search_on_server):
        await each.put(MIXED)

    for sort in Sort:
        query = Query("lamp", sort=sort, limit=9)
        cursor = (await search_on_sqlite.search(query)).next_cursor
        assert cursor
        later = replace(query, cursor=cursor)
        assert await search_on_server.search(later) == await search_on_sqlite.search(later)
