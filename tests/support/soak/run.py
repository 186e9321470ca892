# SPDX-License-Identifier: Apache-2.0
"""Run the chain on a readout that comes through a pipe, and sample its memory."""

from __future__ import annotations

import json
import math
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from bench.programs import job_arguments
from spng import Error, Frame, write_frames
from tests.support import wire_cell

from .readout import Readout

MB = 1e6  # bytes


@dataclass(frozen=True)
class Run:
    """Cost of a run.

    memory_mb  samples of the resident memory
    descriptors, threads, frames  at the same times: open files, threads, and frames that the job has read
    peak_mb    its maximum by the kernel's count
    cpu_s      processor time of all nodes for each readout window
    """

    memory_mb: np.ndarray
    descriptors: np.ndarray
    threads: np.ndarray
    frames: np.ndarray
    peak_mb: float
    cpu_s: np.ndarray


def sample(process: psutil.Process) -> tuple[float, int, int] | None:
    """Return resident memory [MB], open files and threads of a process, or None if it has ended."""
    try:
        with process.oneshot():
            memory = process.memory_info().rss / MB
            found = (memory, process.num_fds(), process.num_threads())
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # a process that ended may deny the list of its files
        return None
    return found if memory > 0 else None


def process_readout(
    folder: Path, flags: list[str], readout: Readout, output: str, seconds_between: float, **arguments: object
) -> Run:
    """Run cfg/pipeline.jsonnet on the frames of a readout with one thread. Raise RuntimeError with its message if it fails."""
    pipe, timing = folder / "readout.tar", folder / "timing.json"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    given = {
        "input": pipe,
        "output": folder / output,
        "device": "cpu",
        "threads": 1,
        "series": "true",
        **arguments,
    }
    with (folder / "messages.txt").open("w+b") as messages:
        job = subprocess.Popen(
            [wire_cell.PROGRAM, "-c", wire_cell.PIPELINE, *flags, "--timing", timing, *job_arguments(given)],
            cwd=folder,
            stdout=messages,
            stderr=subprocess.STDOUT,
        )
        progress = [0]

        def counted() -> Iterator[Frame]:
            for progress[0], frame in enumerate(readout.frames()):
                yield frame

        feeder = threading.Thread(target=feed, args=(counted(), pipe, job), daemon=True)
        feeder.start()
        samples, watched = [], psutil.Process(job.pid)
        while job.poll() is None:
            now = sample(watched)
            if now is not None:
                samples.append((*now, progress[0]))
            time.sleep(seconds_between)
        feeder.join(timeout=60)
        messages.seek(0)
        if job.returncode != 0:
            raise RuntimeError(messages.read().decode(errors="replace"))
    report = json.loads(timing.read_text(encoding="utf-8"))
    nodes = report["nodes"]
    count = max(len(node["per_call"]) for node in nodes)
    cpu = np.zeros(count)
    for node in nodes:
        calls = [
            call["cpu_ns"] for call in node["per_call"] if call["depth"] == 0
        ]  # others are part of these
        cpu[: len(calls)] += np.array(calls[:count]) / 1e9
    memory, descriptors, open_threads, frames = np.array(samples).T
    return Run(memory, descriptors, open_threads, frames, report["run"]["process_peak_bytes"] / MB, cpu)


def feed(frames: Iterator[Frame], pipe: Path, job: subprocess.Popen) -> None:
    """Write the frames to the pipe; stop if its reader ends."""
    try:
        write_frames(pipe, frames)
    except Error:
        if job.poll() is None:
            job.terminate()


def slope(values: np.ndarray) -> tuple[float, float]:
    """Return the growth from the first to the last value by a straight line, and its standard error, in units of the mean.

    For fewer than three values return 0 with an infinite error.
    """
    if len(values) < 3:
        return 0.0, math.inf
    (gradient, _), covariance = np.polyfit(np.linspace(-0.5, 0.5, len(values)), values, 1, cov=True)
    mean = float(values.mean())
    return float(gradient) / mean, float(np.sqrt(covariance[0, 0])) / mean
