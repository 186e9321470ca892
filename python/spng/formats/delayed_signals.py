# SPDX-License-Identifier: Apache-2.0
"""Delay stop signals while a library works that would lose their exceptions."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from wirecell_profile.stop_signals import STOP_SIGNALS


@contextmanager
def delayed_signals() -> Iterator[None]:
    """Delay signals that raise exceptions, such as KeyboardInterrupt, until the end of the block.

    In a callback of h5py the exception would be lost, and zarr would go on writing in its threads. Python raises it in
    the main thread only, so other threads delay nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, *STOP_SIGNALS)}
    raising = {each: handler for each, handler in handlers.items() if callable(handler)}
    for each in raising:
        signal.signal(each, lambda signum, _frame: arrived.append(signum))
    try:
        yield
    finally:
        for each, handler in raising.items():
            signal.signal(each, handler)
        for signum in arrived:
            signal.raise_signal(signum)
