"""The words of the monitor."""

import pytest

from penstock.extract.registry import open_registry
from penstock.workloads.monitor.model import queue_priority, status_id


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [("sgammo", "sgammo"), ("product", "product@Corner Shop"), ("amazon", "amazon@Corner Shop")],
)
def test_a_shared_adapter_has_a_status_for_each_source(adapter: str, expected: str) -> None:
    found = open_registry().get(adapter)
    assert found
    assert status_id(found, "Corner Shop") == expected


@pytest.mark.parametrize(("priority", "expected"), [(0, 5), (5, 0), (100, 0), (-4, 9), (-90, 9)])
def test_higher_goes_first_in_a_queue_where_lower_does(priority: int, expected: int) -> None:
    assert queue_priority(priority) == expected
