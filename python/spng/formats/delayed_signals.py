# SPDX-License-Identifier: Apache-2.0
"""Delay stop signals while a library works that would lose their exceptions."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import TypeVar

from wirecell_profile.stop_signals import STOP_SIGNALS

Value = TypeVar("Value")


class DelayedSignals:
    """Delays signals that raise exceptions, such as KeyboardInterrupt, until the end of a block.

    In a callback of h5py or of a weak reference the exception would be lost, and zarr would go on writing in its threads.
    Python raises it in the main thread only, so other threads delay nothing.
    """

    def __init__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, *STOP_SIGNALS)}
        self._handlers = {
            each: handler for each, handler in handlers.items() if callable(handler) and is_main
        }
        self._arrived: list[int] = []

    def __enter__(self) -> DelayedSignals:
        try:
            for each in self._handlers:
                signal.signal(each, lambda signum, _frame: self._arrived.append(signum))
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
        while self._arrived:
            signal.raise_signal(self._arrived.pop(0))

    def undelayed(self, values: Iterator[Value]) -> Iterator[Value]:
        """Yield values. They are made without the delay."""
        while True:
            try:
                self.__exit__()
                value = next(values)
            except StopIteration:
                return
            finally:
                self.__enter__()
            yield value

    def _restore(self) -> None:
        """Set all former handlers, also if one of those set already raises an exception meanwhile."""
        try:
            for each, handler in self._handlers.items():
                signal.signal(each, handler)
        except BaseException:
            self._restore()
            raise
