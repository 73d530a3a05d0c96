"""Values that one of the engines would refuse come back alike from both, or are refused by both."""

import math
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import select

from penstock.core.errors import StoreError
from penstock.store.store import Store
from tests.notes import notes, open_with_notes, put
from tests.stores import Stores

REPLACEMENT = "\ufffd"


@pytest.fixture
async def store(stores: Stores) -> Store:
    return await open_with_notes(stores)


async def kept(store: Store, column: str, value: Any) -> Any:
    """What comes back of a value."""
    await store.write(put(1, **{column: value}))
    query = select(notes.c[column])
    return await store.read(lambda unit: unit.run(query).scalar_one())


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("a\x00b", f"a{REPLACEMENT}b"),
        ("a\ud800b", f"a{REPLACEMENT}b"),
        ("\udfff\ud800", REPLACEMENT * 2),
        ("日本 \U0001f600", "日本 \U0001f600"),
        ("", ""),
        ("\\u0000", "\\u0000"),
        (None, None),
    ],
)
async def test_text_comes_back_alike_from_both_engines(
    store: Store, given: str | None, back: str | None
) -> None:
    assert await kept(store, "words", given) == back


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ({"a": "b\x00c"}, {"a": f"b{REPLACEMENT}c"}),
        ({"a\x00": 1}, {f"a{REPLACEMENT}": 1}),
        ({"a": "\x00\x00"}, {"a": REPLACEMENT * 2}),
        ({"a": "\ud800"}, {"a": REPLACEMENT}),
        ({"\udc00": "\x00"}, {REPLACEMENT: REPLACEMENT}),
        ({"path": "C:\\u0000"}, {"path": "C:\\u0000"}),
        ({"path": "\\\x00"}, {"path": f"\\{REPLACEMENT}"}),
        ({"path": "\\\\u0000\ud800"}, {"path": f"\\\\u0000{REPLACEMENT}"}),
        ({"a": [math.nan, math.inf, -math.inf]}, {"a": [None, None, None]}),
        ({"a": [math.nan, "\ud800"]}, {"a": [None, REPLACEMENT]}),
        ({"a": 2**63}, {"a": 2**63}),
        ({"a": 2**63, "b": "\ud800"}, {"a": 2**63, "b": REPLACEMENT}),
        ({"a": 2**64}, {"a": str(2**64)}),
        ({"a": -(2**63) - 1}, {"a": str(-(2**63) - 1)}),
        ({"a": 10**400}, {"a": str(10**400)}),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), {"a": {"b": 1}}),
        ([], []),
        (0, 0),
        ("", ""),
        (False, False),
        (None, None),
    ],
)
async def test_data_comes_back_alike_from_both_engines(store: Store, given: Any, back: Any) -> None:
    assert await kept(store, "data", given) == back


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0, None])
async def test_number_of_64_bits_comes_back(store: Store, number: int | None) -> None:
    assert await kept(store, "number", number) == number


@pytest.mark.parametrize("column", ["number", "at"])
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
async def test_larger_number_is_refused(store: Store, number: int, column: str) -> None:
    with pytest.raises(StoreError, match="larger than any database column"):
        await kept(store, column, number)


async def test_what_has_no_form_at_all_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="refused"):
        await kept(store, "data", {"a": object()})


async def test_data_that_is_nested_too_deeply_is_refused(store: Store) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(StoreError):
        await kept(store, "data", deep)


async def test_many_rows_are_changed_at_once_each_by_its_id(store: Store) -> None:
    for number in range(4):
        await store.write(put(number, words="old", data={"n": number}, number=number, at=1))
    changes: list[dict[str, Any]] = [
        {"words": "a\x00b", "id": 1, "data": {"new": "\ud800"}, "number": 2**62},
        {"words": None, "id": 3, "data": None, "number": None},
        {"words": "nobody's", "id": 9, "data": None, "number": 0},
    ]

    await store.write(lambda unit: unit.update_all(notes, changes))

    query = select(notes).order_by(notes.c.id)
    found = await store.read(lambda unit: [tuple(row) for row in unit.run(query)])
    assert found == [
        (0, "old", {"n": 0}, 0, 1),
        (1, f"a{REPLACEMENT}b", {"new": REPLACEMENT}, 2**62, 1),
        (2, "old", {"n": 2}, 2, 1),
        (3, None, None, None, 1),
    ]


async def test_to_change_no_rows_is_to_do_nothing(store: Store) -> None:
    await store.write(lambda unit: unit.update_all(notes, []))
