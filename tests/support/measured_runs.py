# SPDX-License-Identifier: Apache-2.0
"""Runs of the program whose processor time and memory are measured, and the size of tests that repeat them."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.programs import job_arguments
from bench.reliability.rows import QUICK
from tests.support import wire_cell

MB = 1e6  # bytes
# The kernel counts the memory of the process that forks as the child's before its exec, and this one has loaded libraries. So
# a small process runs the program and writes the highest memory of it into a file.
LAUNCHER = """
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss))
code = os.waitstatus_to_exitcode(status)
sys.exit(code) if code >= 0 else os.kill(os.getpid(), -code)
"""


@dataclass(frozen=True)
class Ended:
    """A process that ended. status: minus the signal that ended it; cpu_s: of all its threads."""

    status: int
    errors: str
    cpu_s: float


def choose(full: int, quick: int) -> int:
    """Return the number of runs or events of this setting."""
    return quick if os.environ.get(QUICK) else full


def run(
    words: list[Any],
    folder: Path,
    before: Callable[[], None] = wire_cell.default_signals,
    launcher: tuple[str | Path, ...] = (),
) -> Ended:
    """Run the program in `folder` to its end. before: called in the new process."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*launcher, wire_cell.PROGRAM, *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        preexec_fn=before,
        check=False,
    )
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Ended(done.returncode, done.stderr, end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)


def run_for_memory(words: list[Any], folder: Path) -> tuple[Ended, float]:
    """Run the program in `folder`; return its end and its highest resident memory [MB]."""
    path = Path(f"{folder}.memory")
    done = run(words, folder, launcher=(sys.executable, "-S", "-c", LAUNCHER, path))
    return done, int(path.read_text(encoding="utf-8")) * 1024 / MB


def limited(kind: int, limit: int) -> Callable[[], None]:
    """Return a function that limits a resource of a new process, such as resource.RLIMIT_AS."""

    def apply() -> None:
        wire_cell.default_signals()
        resource.setrlimit(kind, (limit, limit))

    return apply


def main_job(*flags: Any, **arguments: Any) -> list[Any]:
    """Return the words of the main job on the CPU."""
    given = {"input": "adc.npz", "output": "out.npz", "device": "cpu", "model": "none", "threads": 1}
    return ["-c", wire_cell.PIPELINE, *flags, *job_arguments(given | arguments)]


def succeeded(words: list[Any], folder: Path) -> Ended:
    """Run the program; fail with its message if it does."""
    done = run(words, folder)
    assert done.status == 0, done.errors
    return done


def names(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
