"""Signals that end a run, but not its clean-up."""

import signal
from types import FrameType
from typing import NoReturn

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(SystemExit):
    """A signal asked this script to end; what it started is stopped on the way out."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(128 + signal_number)
        self.signal_number = signal_number


def end_on_signals() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, interrupt)


def ignore_signals() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def interrupt(signal_number: int, _frame: FrameType | None) -> NoReturn:
    # A second Ctrl-C must not cut the clean-up short.
    ignore_signals()
    raise Interrupted(signal_number)
