"""Signals while files run: the first Ctrl-C lets running files end, a second one and every other signal stop at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

from wirecell_profile import stop_signals

# A person's, a closed terminal's, and those by which batch systems announce the end of a job.
STOP_SIGNALS = (signal.SIGINT, *stop_signals.STOP_SIGNALS)
# The shell and the kernel both send SIGHUP when a terminal closes; the kernel sends SIGXCPU every second.
REPEATED_BY_SYSTEM = (signal.SIGHUP, signal.SIGXCPU)


class Interrupts:
    """Counts signals. `notify` is told by poll(), not while the signal is handled: it may have come in the middle of a print."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self.level = 0
        self.signal = 0
        self._notify = notify
        self._told = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        self._before = stop_signals.install(self._handle, STOP_SIGNALS)
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
                "files that are running are finished first; Ctrl-C again stops them too"
                if self.level == 1
                else "stopping"
            )
        return self.level

    @property
    def exit_status(self) -> int:
        """128 + the signal, 0 without one."""
        return 128 + self.signal if self.signal else 0
