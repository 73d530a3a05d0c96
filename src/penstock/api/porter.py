"""Takes the connections of an API, and answers those who ask how the service does.

Runs as a program of its own beside the service, on two open sockets:

    python porter.py LISTENING SERVICE

Once a second the service sends a line of JSON: what is to be said at which path, now and if it is
silent for long. Who asks for one of these paths is answered here, however busy the service is, and
told how old the answer is. The connections of all others are handed to the service, unread.

Nothing of Penstock is imported here: it starts in a few milliseconds, and needs little memory.
"""

import json
import resource
import selectors
import signal
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import takewhile

#: A service that is silent for longer hangs.
SILENT_SECONDS = 5.0
#: Who says nothing for so long is handed on, and who does not take an answer is let go.
PATIENCE_SECONDS = 2.0
TICK_SECONDS = 0.5
#: Connections that may wait here; as many as wait where nobody takes them.
MOST_WAITING = 2048
LONGEST_HEAD = 16 * 1024
LONGEST_PART = 256 * 1024
END = b"\r\n\r\n"
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
#: The head of an answer, without what is different each time; and its body.
Answer = tuple[str, str]


class Porter:
    """Answers or hands on."""

    def __init__(self, listening: socket.socket, service: socket.socket) -> None:
        self._listening, self._service = listening, service
        self._told: dict[bytes, tuple[Answer, Answer]] = {}
        self._told_at = time.monotonic()
        self._part = b""
        #: Connections on their way to the service.
        self._waiting: deque[socket.socket] = deque()
        #: Those that have yet to say something or to take their answer, the oldest first.
        self._held: dict[socket.socket, float] = {}
        self._selector = selectors.DefaultSelector()
        for ours, do in ((listening, self._accept), (service, self._hear)):
            ours.setblocking(False)
            self._selector.register(ours, READ, do)

    def run(self) -> None:
        """Work until the service is gone."""
        while True:
            for key, _ in self._selector.select(TICK_SECONDS):
                key.data(key.fileobj)
            self._hand_on()
            self._lose_patience()

    # ── the service

    def _hear(self, service: socket.socket) -> None:
        """Take in what is to be said."""
        try:
            part = service.recv(LONGEST_PART)
        except BlockingIOError:
            return
        if not part:
            raise EOFError
        *lines, self._part = (self._part + part).split(b"\n")
        if lines:
            told = json.loads(lines[-1])
            self._told = {path.encode(): answers for path, answers in told.items()}
            self._told_at = time.monotonic()

    def _hand_on(self) -> None:
        """Hand waiting connections to the service, as many as it takes."""
        try:
            while self._waiting:
                socket.send_fds(self._service, [b"c"], [self._waiting[0].fileno()])
                self._waiting.popleft().close()
        except BlockingIOError:
            pass
        self._selector.modify(self._service, READ | (WRITE if self._waiting else 0), self._hear)

    # ── connections

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except BlockingIOError:
            return
        except OSError:
            # Nobody is there any more, or there is no room: so hurry those who are here.
            self._lose_patience(0.0)
            return
        connection.setblocking(False)
        self._hold(connection, READ, self._look)

    def _look(self, connection: socket.socket) -> None:
        """Answer a connection, or let the service have it."""
        if connection not in self._held:
            # It was let go after it was found to have something to say.
            return
        try:
            head = connection.recv(LONGEST_HEAD, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            head = b""
        if not head:
            self._close(connection)
        elif answers := self._told.get(path_asked_for(head)):
            connection.recv(len(head))
            age = time.monotonic() - self._told_at
            self._send(render(answers[age > SILENT_SECONDS], age), connection)
        else:
            self._pass(connection)

    def _send(self, rest: bytes, connection: socket.socket) -> None:
        """Send what is left of an answer, as much of it as is taken now."""
        try:
            rest = rest[connection.send(rest) :]
        except BlockingIOError:
            pass
        except OSError:
            rest = b""
        if rest:
            self._hold(connection, WRITE, partial(self._send, rest))
        else:
            self._close(connection)

    def _pass(self, connection: socket.socket) -> None:
        self._release(connection)
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(connection)
        else:
            connection.close()

    def _close(self, connection: socket.socket) -> None:
        self._release(connection)
        connection.close()

    def _hold(self, connection: socket.socket, event: int, do: Callable[..., None]) -> None:
        if connection in self._held:
            self._selector.modify(connection, event, do)
        else:
            self._selector.register(connection, event, do)
            self._held[connection] = time.monotonic()

    def _release(self, connection: socket.socket) -> None:
        if self._held.pop(connection, None) is not None:
            self._selector.unregister(connection)

    def _lose_patience(self, patience: float = PATIENCE_SECONDS) -> None:
        """Let those go who have been here for too long."""
        latest = time.monotonic() - patience
        old = [held for held, _ in takewhile(lambda each: each[1] <= latest, self._held.items())]
        for connection in old:
            if self._selector.get_key(connection).events & READ:
                self._pass(connection)
            else:
                self._close(connection)


def path_asked_for(head: bytes) -> bytes:
    """What a request without a body asks for; nothing if it is another, or not complete."""
    line, _, fields = head.partition(b"\r\n")
    if not head.endswith(END) or head.count(END) > 1 or b"\ncontent-length:" in fields.lower():
        return b""
    match line.split(b" "):
        case [b"GET", target, b"HTTP/1.1" | b"HTTP/1.0"]:
            return target.partition(b"?")[0]
    return b""


def render(answer: Answer, age: float) -> bytes:
    """An answer that was made so many seconds ago, as it is sent."""
    head, body = answer
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    more = f"date: {date}\r\nage: {age:.0f}\r\nx-request-id: {uuid.uuid4()}\r\nconnection: close"
    return f"{head}{more}\r\n\r\n{body}".encode()


def main(listening: int, service: int) -> None:
    """Work until the service is gone: whatever else ends it, ends us that way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        Porter(socket.socket(fileno=listening), socket.socket(fileno=service)).run()
    except (EOFError, ConnectionError):
        return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
