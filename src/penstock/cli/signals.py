"""Ctrl-C and SIGTERM: the first one ends gently, the second at once."""

import asyncio
import signal
from collections.abc import Callable

from penstock.cli.output import stderr


def on_signals(gently: Callable[[], None], at_once: Callable[[], None]) -> None:
    """Call one function at the first signal and another at any later one."""
    loop = asyncio.get_running_loop()
    seen = 0

    def interrupt() -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            at_once()
            return
        stderr().print("finishing what is under way; press Ctrl-C again to stop at once")
        gently()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
