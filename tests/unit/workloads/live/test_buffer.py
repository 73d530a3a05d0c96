"""The buffer between scrapers and the store, in examples; all of it is among the properties."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.core.errors import JournalFailed
from penstock.workloads.live.buffer import UpdateBuffer
from penstock.workloads.live.journal import Journal
from penstock.workloads.live.model import Update
from penstock.workloads.live.settings import LiveSettings
from tests.unit.workloads.live.updates import an_update

KIB = 1024
LINE = len(an_update(critical=True).as_json()) + 10


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path, most_bytes=4 * LINE) as journal:
        yield journal


@pytest.fixture
def buffer(journal: Journal) -> UpdateBuffer:
    return buffer_of(3, journal)


def buffer_of(most: int, journal: Journal) -> UpdateBuffer:
    return UpdateBuffer(LiveSettings(max_queue_size=most, max_queue_size_mb=1), journal)


def add(buffer: UpdateBuffer, updates: str) -> None:
    """`a1` is the first update of feed a, `A1` the same as a critical one."""
    for each in updates.split():
        buffer.add(named(each))


def named(name: str) -> Update:
    return an_update(int(name[1:]), name[0].lower(), critical=name[0].isupper())


def names(updates: list[Update]) -> str:
    return " ".join(
        f"{each.match_id.upper() if each.critical else each.match_id}{each.sequence}"
        for each in updates
    )


def waiting(buffer: UpdateBuffer) -> str:
    return names(buffer.take(100))


def test_updates_leave_in_order_once_they_are_written(buffer: UpdateBuffer) -> None:
    add(buffer, "a1 B1 a2")

    taken = buffer.take(2)
    assert names(taken) == "a1 B1"
    assert names(buffer.take(2)) == "a1 B1"

    buffer.written(taken)
    assert (waiting(buffer), len(buffer), buffer.in_memory) == ("a2", 1, 1)
    buffer.written(buffer.take(9))
    assert (buffer.take(9), buffer.bytes) == ([], 0)


@pytest.mark.parametrize(
    ("before", "new", "after", "dropped"),
    [
        ("a1 b1 a2", "b2", "b1 a2 b2", {"a": 1}),
        ("A1 b1 a2", "b2", "A1 a2 b2", {"b": 1}),
        ("A1 b1 B2", "A2", "A1 B2 A2", {"b": 1}),
        ("A1 B1 A2", "c1", "A1 B1 A2", {"c": 1}),
        ("a1 a2 a3 a4 a5", "a6", "a4 a5 a6", {"a": 3}),
    ],
)
def test_the_oldest_uncritical_one_is_dropped_and_counted(
    buffer: UpdateBuffer, before: str, new: str, after: str, dropped: dict[str, int]
) -> None:
    add(buffer, before)
    add(buffer, new)
    assert (waiting(buffer), dict(buffer.dropped)) == (after, dropped)


def test_the_oldest_critical_one_goes_to_the_journal_if_there_are_no_others(
    buffer: UpdateBuffer, journal: Journal
) -> None:
    add(buffer, "A1 B1 A2 B2 A3")

    assert (names(journal.replay()), buffer.in_memory, len(buffer)) == ("A1 B1", 3, 5)
    assert (waiting(buffer), dict(buffer.dropped)) == ("A1 B1 A2 B2 A3", {})
    buffer.written(buffer.take(9))
    assert (len(buffer), len(journal)) == (0, 0)


def test_a_size_is_a_bound_too(journal: Journal) -> None:
    buffer = buffer_of(100, journal)
    for sequence in range(1, 5):
        buffer.add(an_update(sequence, "a", text="x" * 300 * KIB))
    assert (waiting(buffer), buffer.bytes < 1024 * KIB) == ("a2 a3 a4", True)


def test_what_is_larger_than_all_room_drops_only_itself(journal: Journal) -> None:
    buffer = buffer_of(100, journal)
    add(buffer, "a1")
    buffer.add(an_update(2, "a", text="x" * 1024 * KIB))
    assert (waiting(buffer), dict(buffer.dropped)) == ("a1", {"a": 1})


def test_what_is_critical_and_larger_than_all_room_goes_to_the_journal(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        buffer = buffer_of(100, journal)
        add(buffer, "a1 A2")
        buffer.add(an_update(3, "a", critical=True, text="x" * 1024 * KIB))
        assert (waiting(buffer), len(journal), buffer.in_memory) == ("a1 A2", 2, 1)
        buffer.written(buffer.take(2))
        assert waiting(buffer) == "A3"


def test_critical_ones_go_to_the_journal_at_once_while_the_store_is_away(
    buffer: UpdateBuffer, journal: Journal
) -> None:
    add(buffer, "a1 A2")
    buffer.store_is_away = True
    assert names(journal.replay()) == "A2"

    add(buffer, "a3 A4")
    assert names(journal.replay()) == "A2 A4"

    buffer.store_is_away = False
    add(buffer, "A5")
    assert (names(journal.replay()), waiting(buffer)) == ("A2 A4", "a1 A2 a3 A4 A5")


def test_what_a_former_process_left_comes_first(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        former = buffer_of(3, journal)
        former.store_is_away = True
        add(former, "a1 A2 B1 a3")
    with Journal(tmp_path) as journal:
        buffer = buffer_of(3, journal)
        add(buffer, "a4")
        assert waiting(buffer) == "A2 B1 a4"
        buffer.written(buffer.take(9))
        assert (len(journal), journal.size) == (0, 0)


def test_what_is_being_written_is_not_dropped(buffer: UpdateBuffer) -> None:
    add(buffer, "a1 a2 a3")
    taken = buffer.take(2)
    add(buffer, "b1")
    assert dict(buffer.dropped) == {"a": 1}
    buffer.written(taken)
    assert waiting(buffer) == "b1"


def test_what_is_being_written_may_go_to_the_journal_meanwhile(
    buffer: UpdateBuffer, journal: Journal
) -> None:
    add(buffer, "A1 a2")
    taken = buffer.take(9)
    buffer.store_is_away = True
    add(buffer, "A3")
    buffer.written(taken)
    assert (waiting(buffer), names(journal.replay())) == ("A3", "A3")


def test_only_what_is_written_leaves(buffer: UpdateBuffer) -> None:
    add(buffer, "a1 b1 a2")
    buffer.written(buffer.take(3)[1:2])
    assert waiting(buffer) == "a1 a2"


def test_a_critical_one_that_can_be_kept_nowhere_is_refused(
    buffer: UpdateBuffer, journal: Journal
) -> None:
    buffer.store_is_away = True
    add(buffer, "A1 A2 A3 A4 b1")
    with pytest.raises(JournalFailed, match="is full"):
        add(buffer, "A5")
    assert (waiting(buffer), names(journal.replay())) == ("A1 A2 A3 A4 b1", "A1 A2 A3 A4")

    buffer.written(buffer.take(5))
    add(buffer, "A5")
    assert waiting(buffer) == "A5"


def test_critical_ones_stay_in_memory_while_the_journal_cannot_be_written(
    buffer: UpdateBuffer, journal: Journal
) -> None:
    add(buffer, "A1 A2 A3 A4 A5 A6")
    buffer.store_is_away = True
    assert (buffer.in_memory, len(journal)) == (3, 3)
    with pytest.raises(JournalFailed):
        add(buffer, "A7")
    with pytest.raises(JournalFailed):
        buffer.spill()
    assert waiting(buffer) == "A1 A2 A3 A4 A5 A6"


def test_a_feed_whose_last_update_was_dropped_lacks_it_until_the_next(
    buffer: UpdateBuffer,
) -> None:
    add(buffer, "a1 A2 b1 c1")
    assert not buffer.lacks("a")

    add(buffer, "c2")
    assert [buffer.lacks(each) for each in "abc"] == [False, True, False]
    add(buffer, "C3 c4 b2")
    assert waiting(buffer) == "A2 C3 b2"
    assert [buffer.lacks(each) for each in "abc"] == [False, False, True]


def test_a_feed_whose_new_update_finds_no_room_lacks_it(buffer: UpdateBuffer) -> None:
    add(buffer, "A1 A2 A3 b1")
    assert buffer.lacks("b")
    buffer.forget("b")
    assert (buffer.lacks("b"), dict(buffer.dropped)) == (False, {})


def test_a_new_scraper_can_go_on_from_what_waits(buffer: UpdateBuffer) -> None:
    buffer.store_is_away = True
    add(buffer, "a1 A2 b1")
    found = [buffer.last_of(each) for each in "abc"]
    assert found == [named("A2"), named("b1"), None]


def test_a_batch_is_no_larger_than_the_buffer(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        buffer = buffer_of(100, journal)
        buffer.store_is_away = True
        for sequence in range(1, 6):
            buffer.add(an_update(sequence, "a", critical=True, text="x" * 400 * KIB))
        assert [len(buffer.take(9)), len(buffer)] == [2, 5]
