# SPDX-License-Identifier: Apache-2.0
"""Signals while files run: the first Ctrl-C lets running files end, a second one and other signals stop at once."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from types import FrameType

from wirecell_profile import stop_signals

# Signals of a user, of a closed terminal, and of batch systems before the end of a job.
STOP_SIGNALS = (signal.SIGINT, *stop_signals.STOP_SIGNALS)
# The shell and the kernel both send SIGHUP when a terminal closes; the kernel sends SIGXCPU every second.
REPEATED_BY_SYSTEM = (signal.SIGHUP, signal.SIGXCPU)


class Interrupts:
    """Counts signals. poll() calls `notify`; the signal handler does not, since it may interrupt a print."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self.level = 0
        self.signal = 0
        self._notify = notify
        self._told = 0
        self._handled = -math.inf
        self._before: dict[int, stop_signals.Handler] = {}

    def __enter__(self) -> Interrupts:
        self._before = stop_signals.install(self._handle, STOP_SIGNALS)
        return self

    def __exit__(self, *_: object) -> None:
        for code, handler in self._before.items():
            # A repeated signal must not interrupt the bookkeeping at the end of a stopped campaign.
            if not (self.signal and code in REPEATED_BY_SYSTEM):
                signal.signal(code, handler)

    def _handle(self, code: int, _frame: FrameType | None) -> None:
        if code == self.signal and time.monotonic() - self._handled < stop_signals.ONE_REQUEST:
            return
        self._handled = time.monotonic()
        if not (self.signal and code in REPEATED_BY_SYSTEM):
            self.signal = code
        self.level += 1 if code == signal.SIGINT else 2

    def poll(self) -> int:
        """Return 0 (no signal), 1 (start nothing more) or more (stop now). Notify the user of a change."""
        if self.level != self._told:
            self._told = self.level
            self._notify(
                "running files are finished first; Ctrl-C again stops them too"
                if self.level == 1
                else "stopping"
            )
        return self.level

    @property
    def exit_status(self) -> int:
        """Return 128 + the signal, 0 without a signal."""
        return 128 + self.signal if self.signal else 0
