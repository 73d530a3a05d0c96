"""What is refused at the edge of the API, whatever it costs those who send it."""

import pytest

from penstock.web.edge import _check_depth
from penstock.web.errors import InvalidRequest


@pytest.mark.parametrize("tail", [b"", b"\\", b'"', b'"]'])
def test_string_that_does_not_end_is_looked_at_once(tail: bytes) -> None:
    # A megabyte of it would take hours if every quote were a new beginning.
    with pytest.raises(InvalidRequest):
        _check_depth(b"[" * 21 + b'"' + b'\\"' * 500_000 + tail, 20)


def test_brackets_in_strings_do_not_count() -> None:
    _check_depth(b'["' + b"[" * 100 + b'\\"' + b"[" * 100 + b'"]', 20)


def test_flat_lists_of_any_length_are_taken() -> None:
    _check_depth(b"[" + b"[]," * 1000 + b"[]]", 20)
