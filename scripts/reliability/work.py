# SPDX-License-Identifier: Apache-2.0
"""Setting of a measurement: the program, a folder, and functions that run jobs and measure their processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.programs import job_arguments
from tests.support import wire_cell
from tests.support.small_site import Site

TICKS = 600  # of the usual small event
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
    """A process that ended. status: minus the signal that ended it; cpu_s: of all its threads; is_late: it was killed."""

    status: int
    output: str
    errors: str
    cpu_s: float
    wall_s: float
    is_late: bool


def start(
    words: list[Any],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    launcher: tuple[str | Path, ...] = (),
) -> subprocess.Popen:
    """Start the program in `folder`. before: called in the new process; it must restore the signals too."""
    return subprocess.Popen(
        [*launcher, wire_cell.PROGRAM, *map(str, words)],
        cwd=folder,
        start_new_session=True,  # so that a late one is killed with its child
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,  # not a file, since some runs limit the size of files
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        preexec_fn=before or wire_cell.default_signals,
    )


def collect(process: subprocess.Popen, timeout_s: float = 120) -> Ended:
    """Wait for a process; kill it if it is late."""
    begin = time.monotonic()
    timer = threading.Timer(timeout_s, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    with ThreadPoolExecutor(2) as readers:
        contents = list(readers.map(lambda stream: stream.read(), (process.stdout, process.stderr)))
    _, raw, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(raw)
    is_late = not timer.is_alive()
    timer.cancel()
    output, errors = (text.decode(errors="replace") for text in contents)
    return Ended(
        process.returncode,
        output,
        errors,
        usage.ru_utime + usage.ru_stime,
        time.monotonic() - begin,
        is_late,
    )


def run(
    words: list[Any],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    timeout_s: float = 120,
) -> Ended:
    """Run the program in `folder` to its end."""
    with start(words, folder, environment, before) as process:
        return collect(process, timeout_s)


def run_for_memory(words: list[Any], folder: Path, timeout_s: float = 20) -> tuple[Ended, float]:
    """Run the program in `folder`; return its end and its highest resident memory [MB]."""
    path = Path(f"{folder}.memory")
    launcher = (sys.executable, "-S", "-c", LAUNCHER, path)
    with start(words, folder, launcher=launcher) as process:
        done = collect(process, timeout_s)
    return done, int(path.read_text(encoding="utf-8")) * 1024 / MB if path.exists() else 0.0


def main_job(*flags: Any, **arguments: Any) -> list[Any]:
    """Return the words of the main job on the CPU."""
    given = {"input": "adc.npz", "output": "out.npz", "device": "cpu", "model": "none", "threads": 1}
    return ["-c", wire_cell.PIPELINE, *flags, *job_arguments(given | arguments)]


def names(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def inside(expected: np.ndarray, seen: np.ndarray) -> float:
    """Return max|difference| / RMS over the samples that are not zero in `expected` (no samples: 0)."""
    rois = expected != 0
    return (
        wire_cell.difference(seen[rois].astype(np.float64), expected[rois].astype(np.float64))
        if rois.any()
        else 0.0
    )


def cuts_of_default_event(count: int, ticks: int) -> wire_cell.Arrays:
    """Return `count` events of `ticks` of the default event, each moved by some ticks."""
    samples, channels, _ = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(count):
        first = 900 + 100 * ident
        arrays |= wire_cell.event(samples[:, first : first + ticks], channels, ident)
    return arrays


@dataclass(frozen=True)
class Work:
    """Setting of one row. folder: for its files; is_quick: the smaller setting; cores: that it may use."""

    folder: Path
    build: Path
    is_quick: bool
    cores: int

    def choose(self, full: int, quick: int) -> int:
        """Return the number of runs or events of this setting."""
        return quick if self.is_quick else full

    def new(self, name: str) -> Path:
        """Make a folder."""
        path = self.folder / name
        path.mkdir(parents=True)
        return path

    @cached_property
    def site(self) -> Site:
        """The small detector."""
        return Site.at(self.new("site"))

    @cached_property
    def event(self) -> wire_cell.Arrays:
        """An event of the small detector with a track."""
        return self.site.busy_frames(1, TICKS)

    def small_job(self, **arguments: Any) -> list[Any]:
        """Return the words of the main job on the small detector."""
        return main_job(*self.site.flags, **arguments)
