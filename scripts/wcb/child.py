# SPDX-License-Identifier: Apache-2.0
"""Wait for a program and forward signals to it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

# A batch system or `kill` sends these to this process alone. A terminal sends SIGINT and SIGQUIT to the child too.
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


@contextmanager
def handled_by(handler: Callable) -> Iterator[None]:
    """Handle the signals to forward, except those that the parent process ignores, as nohup does."""
    taken = [code for code in FORWARDED if signal.getsignal(code) != signal.SIG_IGN]
    before = {code: signal.signal(code, handler) for code in taken}
    try:
        yield
    finally:
        for code, former in before.items():
            signal.signal(code, former)


def wait_for(
    command: list[str],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    is_quiet: bool = False,
) -> int:
    """Run a command without standard input; return its exit status, 128 + signal if a signal killed it.

    Forward the signals that end a job, so that the child ends in order and does not outlive this process.
    @param is_quiet  discard the output
    @throws FileNotFoundError if there is no such program.
    """
    output = subprocess.DEVNULL if is_quiet else None
    received: list[int] = []
    forward = received.append
    with handled_by(lambda code, _frame: forward(code)):
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=env,
        ) as child:
            forward = child.send_signal
            for code in received:
                forward(code)
            try:
                status = child.wait()
            except BaseException:
                child.kill()
                raise
    return status if status >= 0 else 128 - status
