# SPDX-License-Identifier: Apache-2.0
"""Run a program with a time limit. Its output goes to a file, so that nothing is lost if the program is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

GRACE_S = 5.0  # between SIGTERM and SIGKILL


@dataclass(frozen=True)
class Done:
    """The end of a program. text: standard output and standard error in their order."""

    status: int
    seconds: float
    text: str
    is_late: bool

    def last_lines(self, count: int = 3) -> str:
        """Return the last lines that are not empty, for a message of one line."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        return "; ".join(lines[-count:])[-400:]

    def failure(self) -> str:
        """Describe the failure in one line: the block of an error if there is one, else the last lines."""
        if self.is_late:
            return f"killed after {self.seconds:.0f} s"
        lines = self.text.splitlines()
        starts = [index for index, line in enumerate(lines) if line.startswith("error: ")]
        seen = "; ".join(line.strip() for line in lines[starts[0] : starts[0] + 5]) if starts else ""
        return f"status {self.status}: {seen[:400] or self.last_lines()}"


def run(command: list[str], log: Path, limit_s: float, environment: Mapping[str, str], folder: Path) -> Done:
    """Run a command without standard input in `folder`; kill it with its children after `limit_s`.

    @throws FileNotFoundError if there is no such program.
    """
    begin = time.monotonic()
    is_late = False
    with log.open("wb") as stream:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
        try:
            child.wait(limit_s)
        except subprocess.TimeoutExpired:
            is_late = True
        finally:
            end_group(child)
    seconds = time.monotonic() - begin
    return Done(child.returncode, seconds, log.read_text(encoding="utf-8", errors="replace"), is_late)


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End the child and all processes that it started, first with SIGTERM."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
