"""The journal: what it has taken is there after anything, and only that."""

import errno
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.core.errors import JournalFailed, SettingsError
from penstock.workloads.live.journal import NAME, Journal, open_journal
from penstock.workloads.live.model import Update
from tests.unit.workloads.live.updates import an_update

APPEND_FOR_EVER = """
import itertools, sys
from pathlib import Path
from penstock.workloads.live.journal import Journal
from tests.unit.workloads.live.updates import an_update
with Journal(Path(sys.argv[1])) as journal:
    for sequence in itertools.count(1):
        journal.append([an_update(sequence, critical=True)])
        print(sequence, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "live" / "journal"


@pytest.fixture
def journal(folder: Path) -> Iterator[Journal]:
    with Journal(folder) as journal:
        yield journal


def found_in(folder: Path) -> list[int]:
    with Journal(folder) as journal:
        return [update.sequence for update in journal.replay()]


def some(*sequences: int, text: str = "") -> list[Update]:
    return [an_update(sequence, critical=True, text=text) for sequence in sequences]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """A disk on which no file can be larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_updates_come_back_as_they_were_in_order(folder: Path) -> None:
    updates = [an_update(1, "a", critical=True, text="ä\n\u2028"), an_update(1, "b"), an_update(2)]
    with Journal(folder) as journal:
        journal.append(updates[:2])
        journal.append(updates[2:])
    with Journal(folder) as journal:
        assert journal.replay() == updates
        assert [entry[1:3] for entry in journal.entries] == [("a", 1), ("b", 1), ("m1", 2)]


def test_what_is_settled_does_not_come_back_once_all_is(journal: Journal, folder: Path) -> None:
    first, second = journal.append(some(1, 2))

    journal.settle([second])
    assert [update.sequence for update in journal.replay()] == [1]
    assert journal.size == (folder / NAME).stat().st_size > 0

    journal.settle([first, second])
    assert (len(journal), journal.size, (folder / NAME).stat().st_size) == (0, 0, 0)

    [third] = journal.append(some(3))
    assert journal.read(third).sequence == 3


def test_another_process_sees_what_is_not_settled_yet(folder: Path) -> None:
    with Journal(folder) as journal:
        journal.settle(journal.append(some(1, 2, 3))[:1])
    assert found_in(folder) == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 2, 20, 200])
def test_a_line_that_was_not_finished_is_cut_off(folder: Path, cut: int) -> None:
    with Journal(folder) as journal:
        journal.append(some(1))
        journal.append(some(2))
    path = folder / NAME
    os.truncate(path, path.stat().st_size - cut)

    with Journal(folder) as journal:
        assert [update.sequence for update in journal.replay()] == [1]
        journal.append(some(3))

    assert found_in(folder) == [1, 3]


def test_a_damaged_line_does_not_take_others_with_it(folder: Path) -> None:
    with Journal(folder) as journal:
        journal.append(some(1, 2, 3))
    path = folder / NAME
    path.write_bytes(path.read_bytes().replace(b'"score":2', b'"score":7'))

    assert found_in(folder) == [1, 3]


def test_damage_that_comes_while_it_is_open_is_told(journal: Journal, folder: Path) -> None:
    [number] = journal.append(some(1))
    path = folder / NAME
    path.write_bytes(path.read_bytes().replace(b'"score":1', b'"score":7'))
    with pytest.raises(JournalFailed, match="damaged at byte 0: check that disk"):
        journal.read(number)


def test_a_kill_loses_nothing_that_was_taken(folder: Path) -> None:
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", APPEND_FOR_EVER, folder], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    for _ in range(20):
        process.stdout.readline()
    process.kill()
    promised = 20 + len(process.communicate()[0].splitlines())

    found = found_in(folder)

    assert found == list(range(1, len(found) + 1))
    assert promised <= len(found) <= promised + 1


def test_one_process_at_a_time_has_it(folder: Path) -> None:
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", APPEND_FOR_EVER, folder], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    process.stdout.readline()
    try:
        with pytest.raises(SettingsError, match="another process keeps updates"), Journal(folder):
            pass
    finally:
        process.kill()
        process.communicate()
    assert found_in(folder)[0] == 1


def test_nobody_else_may_read_it(journal: Journal, folder: Path) -> None:
    journal.append(some(1))
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_full_disk_is_told_and_costs_nothing_that_was_taken(
    journal: Journal, folder: Path
) -> None:
    journal.append(some(1))
    size = journal.size
    with (
        files_of_at_most(size + 100),
        pytest.raises(JournalFailed, match=r"updates\.journal .*free some room on that disk"),
    ):
        journal.append(some(2, 3))
    assert (len(journal), (folder / NAME).stat().st_size) == (1, size)

    journal.append(some(4))

    assert [update.sequence for update in journal.replay()] == [1, 4]
    journal.close()
    assert found_in(folder) == [1, 4]


def test_what_could_not_be_synced_is_not_there(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(JournalFailed, match="check that disk"):
            journal.append(some(1))
    journal.append(some(2))
    journal.close()
    assert found_in(folder) == [2]


def test_a_file_that_could_not_be_emptied_goes_on_whole(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    numbers = journal.append(some(1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        journal.settle(numbers)
    journal.append(some(2))
    journal.close()
    assert found_in(folder) == [2]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalFailed, match="file/live"), Journal(tmp_path / "file" / "live"):
        pass


def test_it_has_a_bound(folder: Path) -> None:
    line = len(some(1)[0].as_json()) + 10
    with Journal(folder, most_bytes=3 * line) as journal:
        journal.append(some(1, 2, 3))
        with pytest.raises(JournalFailed, match="is full: 3 updates wait"):
            journal.append(some(4))
        assert [update.sequence for update in journal.replay()] == [1, 2, 3]
    assert found_in(folder) == [1, 2, 3]


def test_it_makes_room_of_what_is_settled_when_it_is_full(folder: Path) -> None:
    line = len(some(1)[0].as_json()) + 10
    with Journal(folder, most_bytes=3 * line) as journal:
        numbers = journal.append(some(1, 2, 3))
        journal.settle(numbers[:2])

        [fourth] = journal.append(some(4))

        assert [journal.read(numbers[2]).sequence, journal.read(fourth).sequence] == [3, 4]
        assert journal.size == (folder / NAME).stat().st_size == 2 * line
        assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
        journal.append(some(5))
    assert found_in(folder) == [3, 4, 5]


def test_what_a_lost_process_left_is_taken_over(tmp_path: Path) -> None:
    with Journal(tmp_path / "0") as first, Journal(tmp_path / "3") as lost:
        first.append([an_update(1)])
        lost.append([an_update(2), an_update(3)])

    with open_journal(tmp_path) as journal:
        assert [each.sequence for each in journal.replay()] == [1, 2, 3]
        assert [each.sequence for each in journal.entries] == [1, 2, 3]
    with Journal(tmp_path / "3") as emptied:
        assert emptied.replay() == []


def test_processes_on_one_folder_have_journals_of_their_own(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from penstock.workloads.live.journal import open_journal\n"
        "with open_journal(pathlib.Path(sys.argv[1])) as journal:\n"
        "    print(journal.size, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    other = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout
        other.stdout.readline()
        with open_journal(tmp_path) as journal:
            journal.append([an_update(1)])
        assert (tmp_path / "1" / "updates.journal").stat().st_size > 0
        other.communicate()
