"""Ids that sort by time, and traces as other systems write them."""

import re
import uuid

from penstock.core.ids import first_id_at, new_id
from penstock.core.trace import new_trace, trace_id


def test_ids_are_unique_and_have_the_layout_of_a_uuid_of_version_7() -> None:
    ids = {new_id() for _ in range(10_000)}
    assert len(ids) == 10_000
    for each in ids:
        assert (uuid.UUID(each).version, uuid.UUID(each).variant) == (7, uuid.RFC_4122)


def test_ids_sort_in_the_order_in_which_they_were_made_also_within_a_millisecond() -> None:
    ids = [new_id() for _ in range(10_000)]
    assert ids == sorted(ids)
    assert len({each[:12] for each in ids}) < len(ids)


def test_an_id_sorts_behind_every_earlier_moment() -> None:
    made = new_id()
    at = int(made[:12], 16)
    assert first_id_at(at) <= made < first_id_at(at + 1)


def test_a_new_trace_is_a_valid_traceparent() -> None:
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", new_trace())
    assert new_trace() != new_trace()


def test_all_steps_of_a_trace_share_its_id() -> None:
    assert trace_id("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00") == (
        "4bf92f3577b34da6a3ce929d0e0e4736"
    )
    assert trace_id("") == ""
