# SPDX-License-Identifier: Apache-2.0
"""Turn stop signals into exceptions, so that unfinished outputs are removed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

# Closed terminals and batch systems send these. For SIGINT Python itself raises KeyboardInterrupt.
STOP_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


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
    """Raise Stopped in the main thread when one of these signals arrives. Ignored signals stay ignored."""

    def stop(signum: int, _frame: FrameType | None) -> None:
        raise Stopped(signum)

    before = install(stop, signals)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
