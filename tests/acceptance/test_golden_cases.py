"""Every golden case of the repository is read as somebody accepted it, twice the same."""

from pathlib import Path

import pytest

from penstock.app import open_reader
from penstock.extract.golden import Case, find_cases, split_name, try_case
from penstock.kernel.reader import Reader
from penstock.settings import load_settings

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASES = [f"{folder.parent.name}/{folder.name}" for folder in find_cases(GOLDEN)]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return open_reader(load_settings(extract={"adapters": ()}))


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("name", CASES)
def test_case_is_read_as_expected(name: str, reader: Reader) -> None:
    case = Case.open(GOLDEN.joinpath(*split_name(name)))

    trial = try_case(case, reader)

    assert case.expected, (
        f"look at it, then: penstock adapter test {name.partition('/')[0]} --accept"
    )
    assert trial.differences == ()
    assert trial.unsteady == ()
