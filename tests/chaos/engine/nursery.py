"""What chaos is done to: `penstock` or a `submitter` in a fork, with its fate planted in it.

It is a process like any other, the leader of a group of its own. The last line of its log is how
it ended.
"""

import os
import sys
from typing import NoReturn

import penstock.cli
from tests.chaos.engine import failpoints, submitter, wall_clock

ENDED = "ended with"


def run() -> NoReturn:
    """Run the command in our arguments."""
    os.setsid()
    failpoints.plant(os.environ.get(failpoints.VARIABLE, ""))
    wall_clock.plant(os.environ.get(wall_clock.VARIABLE, ""))
    code = 1
    try:
        _run(sys.argv[1:])
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
    penstock.cli.main()
