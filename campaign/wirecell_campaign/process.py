# SPDX-License-Identifier: Apache-2.0
"""The end of a program: with its parent, and by signals."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from pathlib import Path

GRACE = 3.0  # seconds between SIGTERM and SIGKILL
PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(
    None, use_errno=True
).prctl  # looked up here because nothing may be loaded between fork and exec


def die_with_parent() -> None:
    """Let the kernel kill the program when the thread that started it ends, for example with a killed worker.

    Call it between fork and exec.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_limited(
    command: list[str], limit: float | None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without input, in this folder; return its output and messages.

    Raise OSError if it cannot be started, TimeoutExpired after `limit` [s]. Then, and at any other exception, it is ended with
    all processes that it started, so that none of them can keep the caller waiting.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        preexec_fn=die_with_parent,
    ) as process:
        try:
            output, messages = process.communicate(timeout=limit)
        except BaseException:
            end_group(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, messages)


def end_group(process: subprocess.Popen) -> int:
    """Send SIGTERM, then SIGKILL, to the process and its children; return its exit status."""
    signal_group(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    signal_group(process.pid, signal.SIGKILL)
    return process.wait()


def signal_group(group: int, code: int) -> None:
    """Send a signal to a process group, if it still exists."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, code)
