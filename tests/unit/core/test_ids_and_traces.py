"""Ids that sort by time, and traces as other systems write them."""

import re
import uuid

import pytest

from penstock.core.ids import first_id_at, new_id
from penstock.core.trace import new_trace, trace_id, trace_of


def test_ids_are_unique_and_have_the_layout_of_a_uuid_of_version_7() -> None:
    ids = {new_id() for _ in range(10_000)}
    assert len(ids) == 10_000
    for each in ids:
        assert (uuid.UUID(each).version, uuid.UUID(each).variant) == (7, uuid.RFC_4122)


def test_an_id_sorts_behind_every_earlier_moment() -> None:
    made = new_id()
    at = int(made[:12], 16)
    assert first_id_at(at) <= made < first_id_at(at + 1)


def test_a_new_trace_is_a_valid_traceparent() -> None:
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", new_trace())
    assert new_trace() != new_trace()


def test_a_callers_trace_is_kept_if_it_is_one() -> None:
    theirs = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
    assert trace_of(theirs) == theirs
    assert trace_id(theirs) == "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    "wrong", [None, "", "nonsense", f"00-{'0' * 32}-00f067aa0ba902b7-00", "00-ab-cd-01\n"]
)
def test_a_trace_that_is_none_is_replaced(wrong: str | None) -> None:
    assert trace_of(wrong) != wrong
    assert trace_of(trace_of(wrong))
