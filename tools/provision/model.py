"""What the tests need, the ways to it, and what was found."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path


class UnavailableError(Exception):
    """One way to a server did not work; the text says why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that the tests start themselves: they only need to know where it is.

    `folders` are absolute patterns of folders to look into before the PATH; without a `package` the
    program cannot be installed.
    """

    name: str
    variable: str
    program: str
    package: str = ""
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs as long as the command does.

    `arguments` gets the program, a folder of the server's own and a free port; it may prepare the
    folder, and finds it as it left it if the server was killed. `answers` says whether a server at
    an address is ready. `ending` is the signal that stops it soonest: its data is thrown away.
    `careless` is what lets it work faster where nobody ends it before its data is thrown away.
    Without a `compose_port` it cannot come from a container: its clients must find it where it says
    it is. `stand_ins` are the last ways to it.
    """

    name: str
    variable: str
    tool: Tool
    address: str
    arguments: Callable[[str, Path, int], list[str]]
    answers: Callable[[str], bool]
    compose_port: int | None
    ending: signal.Signals = signal.SIGTERM
    careless: tuple[str, ...] = ()
    stand_ins: "Callable[[], Iterator[Way]]" = lambda: iter(())


Requirement = Tool | Server


@dataclass(frozen=True, slots=True)
class Available:
    """Something the command can use, where it came from and what to tell the command."""

    requirement: Requirement
    origin: str
    value: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Something the command must do without, and why."""

    requirement: Requirement
    reason: str


Finding = Available | Missing


@dataclass(frozen=True, slots=True)
class Run:
    """What one run owns: a folder for data, and what to undo at its end."""

    folder: Path
    undo: ExitStack


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a requirement; `take` returns its value or raises `UnavailableError`."""

    origin: str
    take: Callable[[Run], str]
