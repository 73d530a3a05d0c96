"""What of a page is new, for people."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.live_changes import Change, changes_between, fields_of, in_one_line

TEXTS = st.dictionaries(st.text(), st.text())


def test_fields_have_the_path_to_them_and_nothing_is_said_of_what_is_absent() -> None:
    payload = {"score": {"runs": 12, "out": None}, "teams": ["A", "B"], "is_live": True}

    assert fields_of(payload) == {
        "score.runs": "12",
        "teams.0": "A",
        "teams.1": "B",
        "is_live": "yes",
    }


def test_what_a_page_says_cannot_steer_the_terminal() -> None:
    assert fields_of({"a\x1b": "\x1b[31mred"}) == {"a\\x1b": "\\x1b[31mred"}


def test_changes_are_what_differs_is_new_or_is_gone() -> None:
    changes = changes_between({"a": "1", "b": "2", "c": "3"}, {"d": "4", "a": "1", "b": "5"})

    assert list(map(str, changes)) == ["d 4", "b 2 → 5", "c 3 → gone"]


@given(TEXTS, TEXTS)
def test_changes_lead_from_the_one_to_the_other(
    before: dict[str, str], after: dict[str, str]
) -> None:
    reached = dict(before)
    for change in changes_between(before, after):
        assert reached.get(change.name) == change.before
        if change.after is None:
            del reached[change.name]
        else:
            reached[change.name] = change.after
    assert reached == after


def test_a_line_has_room_for_some_changes_and_says_how_many_more_there_are() -> None:
    changes = [Change(f"f{number}", "0", "x" * 100) for number in range(8)]

    told = in_one_line(changes)

    assert told.endswith(", 2 more")
    assert told.count("…") == 6
    assert in_one_line(changes[:1]).startswith("f0 0 → xxx")
