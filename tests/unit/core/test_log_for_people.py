"""Logs for people: a line each, as safe as those for machines."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.core.log import get_logger
from tests.unit.core.log_lines import captured_logs

START = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (debug|info|warning|error|critical) +")
SECRET = "hunter2-correct-horse"


def said(text: str) -> str:
    """A line without its time."""
    return text.partition(" ")[2]


def test_a_line_has_time_level_what_happened_and_the_rest() -> None:
    with captured_logs(form="lines") as lines:
        get_logger().warning("policies reloaded", domains=3, file="a b.yaml", left=None)

    assert START.match(lines.text)
    assert said(lines.text) == (
        'warning  policies reloaded domains=3 file="a b.yaml" left=null request_id=-\n'
    )


def test_a_traceback_follows_its_line_moved_in() -> None:
    with captured_logs(form="lines") as lines:
        try:
            raise ValueError(f"cannot reach https://jo:{SECRET}@proxy.test:8080/")
        except ValueError:
            get_logger().exception("internal error")

    first, *rest = lines.text.splitlines()
    assert "internal error" in first
    assert rest[0] == "    Traceback (most recent call last):"
    assert "proxy.test" in rest[-1]
    assert all(line.startswith("    ") for line in rest)
    assert SECRET not in lines.text


@pytest.mark.parametrize("form", ["json", "lines"])
def test_no_secret_is_written(form: str) -> None:
    with captured_logs(form=form) as lines:  # type: ignore[arg-type]
        get_logger().info("sent", headers={"Cookie": SECRET}, url=f"https://h.test/?k={SECRET}")

    assert lines.text
    assert SECRET not in lines.text


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters()), st.text(st.characters()), st.text(st.characters()))
def test_nothing_that_is_logged_passes_for_a_line_or_moves_a_terminal(
    event: str, value: str, name: str
) -> None:
    with captured_logs(form="lines") as lines:
        get_logger().error(event, value=value, nested={name: [value]}, exception=value)

    first, *rest = lines.text.removesuffix("\n").split("\n")
    assert START.match(first)
    assert all(line.startswith("    ") for line in rest)
    assert all(line.isprintable() for line in (first, *rest))
