"""Waiting for a program that does the work, and passing signals on to it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Sent to this process alone, by a batch system or a `kill`. A terminal sends SIGINT and SIGQUIT to the child too.
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


@contextmanager
def handled_by(handler: Callable) -> Iterator[None]:
    """Handle the signals to forward, except those that the parent process ignores, as nohup does."""
    taken = [number for number in FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in taken}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def wait_for(command: list[str], **keywords) -> int:
    """Run a command to its end without standard input; return its exit status, 128 + signal if a signal killed it.

    A signal that ends a job is forwarded, so that the child ends in order and is not left behind.
    @throws FileNotFoundError if there is no such program.
    """
    received: list[int] = []
    forward = received.append
    with handled_by(lambda number, _frame: forward(number)):
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, **keywords) as child:
            forward = child.send_signal
            for number in received:
                forward(number)
            try:
                status = child.wait()
            except BaseException:
                child.kill()
                raise
    return status if status >= 0 else 128 - status
