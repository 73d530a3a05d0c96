"""What people type to the catalogue: times, frequencies, and whether they mean it."""

import sys

import pytest
import typer

from penstock.cli.catalog_desk import is_sure, read_frequency
from penstock.cli.monitoring import read_time
from penstock.core.errors import SettingsError

NOW = 1_772_625_600_000


@pytest.mark.parametrize(
    ("text", "seconds"), [(None, None), ("never", 0), ("6h", 21_600), ("1d", 86_400)]
)
def test_a_frequency_is_seconds(text: str | None, seconds: int | None) -> None:
    assert read_frequency(text) == seconds


def test_a_frequency_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="or never"):
        read_frequency("often")


def test_a_span_is_before_now_or_ahead_of_it() -> None:
    assert read_time("1d", NOW) == NOW - 86_400_000
    assert read_time("2h", NOW, ahead=True) == NOW + 7_200_000
    assert read_time("1970-01-01T00:00:01", NOW, ahead=True) == 1000


@pytest.mark.parametrize(("ahead", "said"), [(True, "from now"), (False, "before now")])
def test_what_is_no_time_says_how_to_write_one(ahead: bool, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_time("soon", NOW, ahead=ahead)


def test_one_task_needs_no_question_and_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert is_sure(1, "stop", yes=False)
    assert is_sure(500, "stop", yes=True)
    with pytest.raises(typer.Exit):
        is_sure(2, "stop", yes=False)


def test_who_is_asked_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def confirm(text: str) -> bool:
        asked.append(text)
        return False

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(typer, "confirm", confirm)
    assert not is_sure(12, "stop", yes=False)
    assert asked == ["Stop 12 tasks?"]
