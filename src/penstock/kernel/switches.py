"""Switches: all contact, or that with one domain, is stopped at once and goes on when it may.

What is under way when a switch is thrown is broken off; its visit waits, and loses no attempt.
"""

import asyncio
from collections.abc import Awaitable, Collection
from typing import TypeVar

T = TypeVar("T")

#: In place of a domain: everything.
EVERYTHING = ""


class Paused(Exception):
    """The contact was broken off, because somebody paused it."""


class Switches:
    """Who may not be contacted at the moment."""

    def __init__(self) -> None:
        self._paused: frozenset[str] = frozenset()
        self._under_way: dict[str, set[asyncio.Timeout]] = {}

    @property
    def paused(self) -> frozenset[str]:
        """The paused domains; an empty name stands for all."""
        return self._paused

    def is_paused(self, domain: str) -> bool:
        """Whether a domain may not be contacted."""
        return bool(self._paused) and (EVERYTHING in self._paused or domain in self._paused)

    def set(self, paused: Collection[str]) -> None:
        """Pause exactly these; contacts with them are broken off."""
        self._paused = frozenset(paused)
        now = asyncio.get_running_loop().time()
        for domain, contacts in self._under_way.items():
            if self.is_paused(domain):
                for contact in contacts:
                    # One that is being broken off already, by us or by its own end, is left alone.
                    if contact.when() is None:
                        contact.reschedule(now)

    async def contact(self, domain: str, work: Awaitable[T]) -> T:
        """Await some work that contacts a domain; `Paused` if it had to be broken off."""
        contacts = self._under_way.setdefault(domain, set())
        try:
            async with asyncio.timeout(None) as limit:
                contacts.add(limit)
                return await work
        except TimeoutError:
            if limit.expired():
                raise Paused from None
            raise
        finally:
            contacts.discard(limit)
            if not contacts:
                self._under_way.pop(domain, None)
