# SPDX-License-Identifier: Apache-2.0
"""Threads that run the jobs of a study, and lines about their progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field


@contextmanager
def workers(count: int) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; after a failure start no further job."""
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass
class Progress:
    """Says how much of a study is done. total: units to tell, such as "60 events"; work: of all jobs, in any unit."""

    total: str
    work: float
    say: Callable[[str], None]
    _start: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _finished: int = 0
    _worked: float = 0.0

    @property
    def elapsed(self) -> float:
        """Return the time since the start [s]."""
        return time.monotonic() - self._start

    def add(self, units: int, work: float, text: str) -> None:
        """Count a finished job and say it."""
        with self._lock:
            self._finished += units
            self._worked += work
            left = self.elapsed * (self.work / self._worked - 1)
            self.say(
                f"  {self._finished:3d} of {self.total}, {self.elapsed:4.0f} s, about {left:4.0f} s left: {text}"
            )
