"""A process that has imported Penstock and forks commands: a start costs no two seconds.

Reads lines of JSON, `{"arguments": […], "environment": {…}, "log": "file"}`, and answers each
with a process id. What it forks is `penstock` with those arguments, or a `submitter`: a process
like any other, the leader of a group of its own. The last line of its log is how it ended.
"""

import ctypes
import json
import os
import signal
import sys
from typing import Any, NoReturn

import penstock.cli.fetch
import penstock.cli.up
from tests.chaos.engine import failpoints, submitter, wall_clock

ENDED = "ended with"
PR_SET_PDEATHSIG = 1


def serve() -> None:
    """Fork a command for every line until the input ends."""
    # Nobody waits for the children: who wants to know watches them by a pidfd.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            _become(order)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _become(order: dict[str, Any]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    # Whatever becomes of the tests: when their end of the pipe is closed, all of this ends.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.environ.update(order["environment"])
    failpoints.plant(os.environ.get(failpoints.VARIABLE, ""))
    wall_clock.plant(os.environ.get(wall_clock.VARIABLE, ""))
    code = 1
    try:
        _run(order["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os.write(2, f"\n{ENDED} {code}\n".encode())
        os._exit(code)


def _run(arguments: list[str]) -> None:
    if arguments[0] == "submitter":
        submitter.main(arguments[1:])
        return
    sys.argv = ["penstock", *arguments]
    penstock.cli.main()


if __name__ == "__main__":
    serve()
