# SPDX-License-Identifier: Apache-2.0
"""Run the program with a time limit, and end it together with its parent."""

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


def run(command: list[str], folder: Path, limit: float | None) -> tuple[int, bool]:
    """Run a command in a folder and in a session of its own; write its output to the files stdout and stderr there.

    Return its exit status, negative for a signal, and whether it exceeded `limit` [s], which ends its process group.
    Raise OSError if it cannot be started.
    """
    with open(folder / "stdout", "wb") as output, open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    try:
        return process.wait(limit), False
    except subprocess.TimeoutExpired:
        return end_group(process), True
    except BaseException:
        end_group(process)
        raise


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
