"""Signals: outside of a run of files each one ends the command; while files run, the first Ctrl-C lets running files end, a second
one and every other signal stop at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# A person's, a closed terminal's, and those by which batch systems announce the end of a job.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)
# The shell and the kernel both send SIGHUP when a terminal closes; the kernel sends SIGXCPU every second.
REPEATED_BY_SYSTEM = (signal.SIGHUP, signal.SIGXCPU)


class Stopped(KeyboardInterrupt):
    """A stop signal outside of a run of files."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number


def install(handler: Callable[[int, FrameType | None], None]) -> dict[int, object]:
    """Set the handler of all stop signals except those that the parent process ignores, as nohup does; return the former ones."""
    taken = [number for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in taken}


@contextmanager
def stop_signals_raise() -> Iterator[None]:
    """Raise Stopped where the main thread is when a stop signal arrives."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number)

    before = install(stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Interrupts:
    """Counts signals. `notify` is told by poll(), not while the signal is handled: it may have come in the middle of a print."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self.level = 0
        self.signal = 0
        self._notify = notify
        self._told = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        self._before = install(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # A repetition must not cut short the bookkeeping at the end of a stopped campaign.
            if not (self.signal and number in REPEATED_BY_SYSTEM):
                signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not (self.signal and number in REPEATED_BY_SYSTEM):
            self.signal = number
        self.level += 1 if number == signal.SIGINT else 2

    def poll(self) -> int:
        """0: none; 1: start nothing more; more: stop now. Tells the user when that has changed."""
        if self.level != self._told:
            self._told = self.level
            self._notify(
                "files that are running are finished first; Ctrl-C again stops them too" if self.level == 1 else "stopping"
            )
        return self.level

    @property
    def exit_status(self) -> int:
        """128 + the signal, 0 without one."""
        return 128 + self.signal if self.signal else 0
