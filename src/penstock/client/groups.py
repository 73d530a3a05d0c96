"""Calls in groups, written down once for both clients.

A group names its calls; the client that it belongs to carries them out. What a call gives is known
to whoever checks types: of a client that blocks the result, of one on asyncio something to await.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import wraps
from inspect import Signature, signature
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from penstock.client.calls import Call
from penstock.client.models import JobEvent, Page

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(Protocol):
    """Carries calls out and waits for them."""

    def do(self, call: Call[T]) -> T:
        """What a call gives."""
        ...

    def go_through(self, next_part: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        """Everything in a list that comes in parts."""
        ...

    def watch(self, call: Call[bytes]) -> Iterator[JobEvent]:
        """What happens, as it happens, to its end."""
        ...


class Awaited(Protocol):
    """Carries calls out for programs on asyncio."""

    async def do(self, call: Call[T]) -> T:
        """What a call gives."""
        ...

    def go_through(self, next_part: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        """Everything in a list that comes in parts."""
        ...

    def watch(self, call: Call[bytes]) -> AsyncIterator[JobEvent]:
        """What happens, as it happens, to its end."""
        ...


W = TypeVar("W", bound=Blocking | Awaited)


class Group(Generic[W]):
    """Calls that belong together."""

    def __init__(self, client: W) -> None:
        self.client = client


class One(Generic[P, T]):
    """A call that gives one thing."""

    def __init__(self, call: Callable[P, Call[T]]) -> None:
        self.call = call

    @overload
    def __get__(self, group: None, owner: Any) -> Self: ...

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, T]: ...

    @overload
    def __get__(self, group: Group[Awaited], owner: Any) -> Callable[P, Awaitable[T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        if group is None:
            return self

        @wraps(self.call)
        def do(*given: Any, **more: Any) -> Any:
            return group.client.do(self.call(*given, **more))

        return _shown(do, signature(self.call), 0)


class Many(Generic[P, T]):
    """A call that gives a part of a list; who asks for it goes through all of them."""

    def __init__(self, call: Callable[Concatenate[str | None, P], Call[Page[T]]]) -> None:
        self.call = call

    @overload
    def __get__(self, group: None, owner: Any) -> Self: ...

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, Iterator[T]]: ...

    @overload
    def __get__(self, group: Group[Awaited], owner: Any) -> Callable[P, AsyncIterator[T]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        if group is None:
            return self

        @wraps(self.call)
        def go(*given: Any, **more: Any) -> Any:
            return group.client.go_through(lambda cursor: self.call(cursor, *given, **more))

        # The cursor is the client's.
        return _shown(go, signature(self.call), 1)


class Events(Generic[P]):
    """A call that gives a stream of events."""

    def __init__(self, call: Callable[P, Call[bytes]]) -> None:
        self.call = call

    @overload
    def __get__(self, group: None, owner: Any) -> Self: ...

    @overload
    def __get__(self, group: Group[Blocking], owner: Any) -> Callable[P, Iterator[JobEvent]]: ...

    @overload
    def __get__(
        self, group: Group[Awaited], owner: Any
    ) -> Callable[P, AsyncIterator[JobEvent]]: ...

    def __get__(self, group: Any, owner: Any) -> Any:
        if group is None:
            return self

        @wraps(self.call)
        def watch(*given: Any, **more: Any) -> Any:
            return group.client.watch(self.call(*given, **more))

        return _shown(watch, signature(self.call), 0)


def _shown(function: Any, of_call: Signature, hidden: int) -> Any:
    """A function that says to `help` how it is called: as its call, without the first few."""
    parameters = list(of_call.parameters.values())[hidden:]
    function.__signature__ = Signature(parameters)
    return function
