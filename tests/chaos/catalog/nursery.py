"""`penstock` in a fork, with its fate planted in it; the last line of its log is how it ended."""

import os
from typing import NoReturn

import penstock.cli
from tests.chaos.catalog import failpoints
from tests.chaos.engine.nursery import ENDED


def run() -> NoReturn:
    """Run the command in our arguments."""
    os.setsid()
    failpoints.plant(os.environ.get(failpoints.VARIABLE, ""))
    code = 1
    try:
        penstock.cli.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        os.write(2, f"\n{ENDED} {code}\n".encode())
        os._exit(code)
