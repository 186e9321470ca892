# SPDX-License-Identifier: Apache-2.0
"""Run the chain on a readout that comes through a pipe, and sample its memory."""

from __future__ import annotations

import json
import math
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from scripts.bench.programs import job_arguments
from spng import Error
from tests.support import wire_cell

from .readout import Readout

MB = 2**20  # bytes


@dataclass(frozen=True)
class Run:
    """Cost of a run.

    memory_mb  samples of the resident memory
    peak_mb    its maximum by the kernel's count
    cpu_s      processor time of all nodes for each readout window
    """

    memory_mb: np.ndarray
    peak_mb: float
    cpu_s: np.ndarray
    wall_s: float


def resident(process: psutil.Process) -> float:
    """Return the resident memory of a process [MB], zero if it has ended."""
    try:
        return process.memory_info().rss / MB
    except psutil.NoSuchProcess:
        return 0.0


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
    begin = time.monotonic()
    with (folder / "messages.txt").open("w+b") as messages:
        job = subprocess.Popen(
            [wire_cell.PROGRAM, "-c", wire_cell.PIPELINE, *flags, "--timing", timing, *job_arguments(given)],
            cwd=folder,
            stdout=messages,
            stderr=subprocess.STDOUT,
        )
        feeder = threading.Thread(target=feed, args=(readout, pipe, job), daemon=True)
        feeder.start()
        samples, watched = [], psutil.Process(job.pid)
        while job.poll() is None:
            now = resident(watched)
            if now > 0:
                samples.append(now)
            time.sleep(seconds_between)
        wall = time.monotonic() - begin
        feeder.join(timeout=60)
        messages.seek(0)
        if job.returncode != 0:
            raise RuntimeError(messages.read().decode(errors="replace"))
    report = json.loads(timing.read_text(encoding="utf-8"))
    nodes = report["nodes"]
    count = max(len(node["per_call"]) for node in nodes)
    cpu = np.zeros(count)
    for node in nodes:
        calls = [call["cpu_ns"] for call in node["per_call"]]
        cpu[: len(calls)] += np.array(calls[:count]) / 1e9
    return Run(np.array(samples), report["run"]["process_peak_bytes"] / MB, cpu, wall)


def feed(readout: Readout, pipe: Path, job: subprocess.Popen) -> None:
    """Write the readout to the pipe; stop if its reader ends."""
    try:
        readout.write(pipe)
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
