"""Calls in groups, written down once for both clients.

A group names its calls; the client that it belongs to carries them out. What a call gives is known
to whoever checks types: of a client that blocks the result, of one on asyncio something to await.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from penstock.client.calls import Call
from penstock.client.models import Page

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(ABC):
    """Carries calls out and waits for them."""

    @abstractmethod
    def do(self, call: Call[T]) -> T:
        """What a call gives."""

    @abstractmethod
    def go_through(self, next_part: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        """Everything in a list that comes in parts."""

    @abstractmethod
    def load(self, call: Call[Any]) -> bytes:
        """The bytes that a call gives."""


class Awaited(ABC):
    """Carries calls out for programs on asyncio."""

    @abstractmethod
    async def do(self, call: Call[T]) -> T:
        """What a call gives."""

    @abstractmethod
    def go_through(self, next_part: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        """Everything in a list that comes in parts."""

    @abstractmethod
    async def load(self, call: Call[Any]) -> bytes:
        """The bytes that a call gives."""


W = TypeVar("W", bound=Blocking | Awaited)


class Group(Generic[W]):
    """Calls that belong together."""

    def __init__(self, client: W) -> None:
        self.client = client


class One(Generic[P, T]):
    """A call that gives one thing."""

    def __init__(self, call: Callable[P, Call[T]]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, T]: ...

    @overload
    def __get__(self, group: Group[Awaited], owner: Any) -> Callable[P, Awaitable[T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        return lambda *given, **more: group.client.do(self._call(*given, **more))


class Many(Generic[P, T]):
    """A call that gives a part of a list; who asks for it goes through all of them."""

    def __init__(self, call: Callable[Concatenate[str | None, P], Call[Page[T]]]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, Iterator[T]]: ...

    @overload
    def __get__(self, group: Group[Awaited], owner: Any) -> Callable[P, AsyncIterator[T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        def go(*given: Any, **more: Any) -> Any:
            return group.client.go_through(lambda cursor: self._call(cursor, *given, **more))

        return go


class File(Generic[P]):
    """A call that gives a file."""

    def __init__(self, call: Callable[P, Call[Any]]) -> None:
        self._call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, bytes]: ...

    @overload
    def __get__(self, group: Group[Awaited], owner: Any) -> Callable[P, Awaitable[bytes]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        return lambda *given, **more: group.client.load(self._call(*given, **more))
