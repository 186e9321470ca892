"""Signals that ask the program to stop become exceptions, so that unfinished outputs are removed on the way out."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

# Those of closed terminals and batch systems; Python raises KeyboardInterrupt for SIGINT by itself.
STOP_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


class Stopped(KeyboardInterrupt):
    """A stop signal came."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number


def install(handler: Callable[[int, FrameType | None], None], signals: Iterable[int]) -> dict[int, object]:
    """Set the handler of these signals except those that the parent process ignores, as nohup does; return the former ones."""
    taken = [number for number in signals if signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in taken}


@contextmanager
def stop_signals_raise(signals: Iterable[int] = STOP_SIGNALS) -> Iterator[None]:
    """Raise Stopped where the main thread is when one of these signals arrives; what the parent process ignores stays ignored."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    before = install(stop, signals)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
