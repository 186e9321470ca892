"""Signals that ask the program to stop become exceptions, so that unfinished outputs are removed on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Those of closed terminals and batch systems; Python raises KeyboardInterrupt for SIGINT by itself.
STOP_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


class Stopped(KeyboardInterrupt):
    """A stop signal other than SIGINT."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number


@contextmanager
def stop_signals_raise() -> Iterator[None]:
    """Raise Stopped where the main thread is when a stop signal arrives; what the parent process ignores stays ignored."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    taken = [number for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
