"""Waking those who wait for something to change."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Waiters:
    """Who waits for what, by its id."""

    def __init__(self) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}

    def wake(self, ids: Sequence[str]) -> None:
        """Something happened to these."""
        for each in ids:
            for event in self._events.get(each, ()):
                event.set()

    def wake_all(self) -> None:
        """Let everybody look around: we are about to stop."""
        self.wake(list(self._events))

    @contextmanager
    def watch(self, name: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever something happens to what has this id."""
        event = asyncio.Event()
        self._events.setdefault(name, set()).add(event)
        try:
            yield event
        finally:
            self._events[name].discard(event)
            if not self._events[name]:
                del self._events[name]
