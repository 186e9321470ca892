# SPDX-License-Identifier: Apache-2.0
"""Turn stop signals into exceptions, so that unfinished outputs are removed."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

# Closed terminals and batch systems send these. For SIGINT Python itself raises KeyboardInterrupt.
STOP_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)

# Seconds in which signals are one request: the command `timeout` signals a process and then its group.
ONE_REQUEST = 0.1

# A handler as signal.signal() takes and returns it.
Handler = Callable[[int, FrameType | None], object] | int | None


class Stopped(KeyboardInterrupt):
    """A stop signal arrived."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_status = 128 + signum


def install(handler: Callable[[int, FrameType | None], None], signals: Iterable[int]) -> dict[int, Handler]:
    """Set the handler of these signals and return the former ones.

    Signals ignored by the parent (nohup) stay ignored.
    """
    taken = [each for each in signals if signal.getsignal(each) != signal.SIG_IGN]
    return {each: signal.signal(each, handler) for each in taken}


@contextmanager
def stop_signals_raise(signals: Iterable[int] = STOP_SIGNALS) -> Iterator[None]:
    """Raise Stopped in the main thread when one of these signals arrives, once for a request, so that no repetition
    interrupts the removal of outputs. Ignored signals stay ignored.
    """
    raised = -math.inf

    def stop(signum: int, _frame: FrameType | None) -> None:
        nonlocal raised
        if time.monotonic() - raised >= ONE_REQUEST:
            raised = time.monotonic()
            raise Stopped(signum)

    before = install(stop, signals)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
