# SPDX-License-Identifier: Apache-2.0
"""The progress of a campaign: a line that is overwritten on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from wirecell_profile.terminal import visible

SHOWN = 5  # names in a line
INTERVAL = 0.5  # s between two lines on a terminal
INTERVAL_ELSEWHERE = 30.0  # s between two lines of a log


class Progress:
    """Shows files done, rate and time left.

    Times are of this machine's monotonic clock: clocks of other machines and clock changes have no effect.
    """

    def __init__(
        self,
        total: int,
        before: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._before = total, before
        self._stream = stream or sys.stderr  # which spells control characters, for names
        self._terminal = stream or sys.__stderr__ or sys.stderr
        self._clock = clock
        self._start = clock()
        self._width = 0
        self._on_terminal = self._stream.isatty()
        self._interval = INTERVAL if self._on_terminal else INTERVAL_ELSEWHERE
        self._last = self._start if not self._on_terminal else self._start - INTERVAL

    def show(self, done: int, failed: int, running: int, workers: int) -> None:
        """Show the line. done: all finished files, also of earlier runs."""
        now = self._clock()
        if now - self._last < self._interval:
            return
        self._last = now
        text = self.text(done, failed, running, workers)
        if self._on_terminal:
            self._write(text)
        else:
            print(text, file=self._stream, flush=True)

    def text(self, done: int, failed: int, running: int, workers: int) -> str:
        """Return, for example, '120 of 1000 done, 1 failed, 8 running on 8 workers, 41.2 files/min, 22 min left'."""
        parts = [f"{done} of {self._total} done"]
        if failed:
            parts.append(f"{failed} failed")
        parts.append(f"{running} running on {workers} workers" if workers else "waiting for workers")
        now = self._clock() - self._start
        ended = done - self._before + failed
        if ended and now > 0:
            rate = ended / now
            parts += [f"{60 * rate:.3g} files/min", f"{duration((self._total - done - failed) / rate)} left"]
        return ", ".join(parts)

    def say(self, text: str) -> None:
        """Print a permanent line, also if the output is not a terminal."""
        self.clear()
        print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            self._terminal.write("\r" + " " * self._width + "\r")
            self._terminal.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        self._terminal.write("\r" + text.ljust(self._width))
        self._terminal.flush()
        self._width = len(text)


def shortened(names: list[str]) -> str:
    """Return the first few names as text."""
    return ", ".join(map(visible, names[:SHOWN])) + (
        f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    )


def duration(seconds: float) -> str:
    """Format a time: '50 s', '22 min', '3.5 h', '2.1 days'."""
    for limit, unit, size, digits in ((90, "s", 1, 0), (5400, "min", 60, 0), (172800, "h", 3600, 1)):
        if seconds < limit:
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{seconds / 86400:.1f} days"
