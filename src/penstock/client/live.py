"""Live pages, as both clients have them: `client.live.read("final")`."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from inspect import signature
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from penstock.client import live_calls as calls
from penstock.client.calls import Call
from penstock.client.groups import Awaited, Blocking, Group, Many, One, W
from penstock.client.models import JobEvent

P = ParamSpec("P")
T = TypeVar("T")


class Told(Generic[P, T]):
    """A call that gives a stream of events, each read as what it says; others are left out."""

    def __init__(
        self, call: Callable[P, Call[bytes]], read: Callable[[JobEvent], T | None]
    ) -> None:
        self.call = call
        self.read = read

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
        def watch(*given: Any, **more: Any) -> Any:
            told = group.client.watch(self.call(*given, **more))
            if isinstance(told, AsyncIterator):
                return (read async for event in told if (read := self.read(event)) is not None)
            return (read for event in told if (read := self.read(event)) is not None)

        # `help` shows the call, and not what is done with it.
        watch.__dict__["__signature__"] = signature(self.call)
        return watch


class LiveErrors(Group[W]):
    """What went wrong with feeds, and the pages that could not be read."""

    list = Many(calls.errors)
    resolve = One(calls.resolve_error)
    snapshot = One(calls.snapshot)
    screenshot = One(calls.screenshot)


class Live(Group[W]):
    """Pages that change by the second, watched for as long as they do."""

    start = One(calls.start)
    stop = One(calls.stop)
    restart = One(calls.restart)
    remove = One(calls.remove)
    list = Many(calls.feeds)
    get = One(calls.feed)
    read = One(calls.read)
    updates = Many(calls.updates)
    events = Told(calls.events, calls.read_event)
    health = One(calls.health)
    health_log = One(calls.health_log)
    adapters = One(calls.adapters)

    def __init__(self, client: W) -> None:
        super().__init__(client)
        self.errors = LiveErrors(client)
