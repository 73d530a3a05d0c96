"""The submitter's own record of what it asked for and what it was promised; fsynced."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entries:
    """URLs of what was submitted, by id, and the ids for which there was a receipt."""

    submitted: dict[str, str] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)


class Journal:
    """A file that only grows; several processes may take turns at it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def submit(self, urls: Mapping[str, str]) -> None:
        """Note what is about to be put, before it is."""
        self._append(f"submit {item} {url}" for item, url in urls.items())

    def acknowledge(self, items: Iterable[str]) -> None:
        """Note what the queue accepted, after it said so."""
        self._append(f"acknowledge {item}" for item in items)

    def read(self) -> Entries:
        found = Entries()
        if not self.path.exists():
            return found
        for line in self.path.read_text().splitlines():
            match line.split():
                case ["submit", item, url]:
                    found.submitted[item] = url
                case ["acknowledge", item]:
                    found.acknowledged.add(item)
        return found

    def _append(self, lines: Iterable[str]) -> None:
        with self.path.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
