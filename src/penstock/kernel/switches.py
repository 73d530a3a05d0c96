"""Switches: all contact, or that with one domain, is stopped at once and goes on when it may.

What is under way when a switch is thrown is broken off; its visit waits, and loses no attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol, TypeVar

from penstock.core.clock import Clock
from penstock.core.errors import PenstockError
from penstock.core.log import get_logger

T = TypeVar("T")
#: Seconds between two looks at switches that others throw.
LOOK_EVERY = 0.4

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


class Switchboard(Protocol):
    """Switches that several processes obey."""

    async def pause(self, domain: str, reason: str) -> None:
        """Stop all contact with a domain; an empty one stands for all."""
        ...

    async def resume(self, domain: str) -> bool:
        """Let it go on; False if it was not paused."""
        ...

    async def paused(self) -> dict[str, str]:
        """What is paused, and why."""
        ...


async def keep_obeying(
    look: Callable[[], Awaitable[Collection[str]]], obeying: Switches, clock: Clock
) -> None:
    """Throw the switches of this process as those that others throw."""
    trouble = ""
    while True:
        try:
            paused = frozenset(await look())
        except PenstockError as error:
            if str(error) != trouble:
                get_logger().warning("switches unknown; they stay", error=str(error))
            trouble = str(error)
        else:
            if paused != obeying.paused:
                get_logger().warning("switches thrown", paused=sorted(paused))
                obeying.set(paused)
        await clock.sleep(LOOK_EVERY)
