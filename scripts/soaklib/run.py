"""The chain on a readout that comes through a pipe, with its memory watched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from soaklib.readout import Readout
from tests.support import wire_cell


@dataclass(frozen=True)
class Run:
    """What a run cost.

    memory_mb  resident memory, sampled; peak_mb  its highest value by the kernel's count
    cpu_s      of each window, all nodes
    """

    memory_mb: np.ndarray
    peak_mb: float
    cpu_s: np.ndarray
    wall_s: float


def resident(process: int) -> tuple[float, float]:
    """Resident memory of a process now and at its highest, MB; zeros when it has gone."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", text, re.MULTILINE))
    return int(found.get("VmRSS", 0)) / 1024, int(found.get("VmHWM", 0)) / 1024


def process_readout(folder: Path, flags: list[str], readout: Readout, output: str, seconds_between: float,
                    **arguments: object) -> Run:
    """Run cfg/pipeline.jsonnet on the frames of a readout, one thread. Raises RuntimeError with its message when it fails."""
    pipe, timing = folder / "readout.tar", folder / "timing.json"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    given = {"input": pipe, "output": folder / output, "device": "cpu", "threads": 1, "series": "true", **arguments}
    words = [word for name, value in given.items() for word in ("-A", f"{name}={value}")]
    begin = time.monotonic()
    with (folder / "messages.txt").open("w+b") as messages:
        job = subprocess.Popen([wire_cell.PROGRAM, "-c", wire_cell.PIPELINE, *flags, "--timing", timing, *words],
                               cwd=folder, stdout=messages, stderr=subprocess.STDOUT)
        feeder = threading.Thread(target=feed, args=(readout, pipe, job), daemon=True)
        feeder.start()
        samples, peak = [], 0.0
        while job.poll() is None:
            now, highest = resident(job.pid)
            if now > 0:
                samples.append(now)
                peak = max(peak, highest)
            time.sleep(seconds_between)
        wall = time.monotonic() - begin
        feeder.join(timeout=60)
        messages.seek(0)
        if job.returncode != 0:
            raise RuntimeError(messages.read().decode(errors="replace"))
    nodes = json.loads(timing.read_text(encoding="utf-8"))["nodes"]
    count = max(len(node["per_call"]) for node in nodes)
    cpu = np.zeros(count)
    for node in nodes:
        calls = [call["cpu_ns"] for call in node["per_call"]]
        cpu[:len(calls)] += np.array(calls[:count]) / 1e9
    return Run(np.array(samples), peak, cpu, wall)


def feed(readout: Readout, pipe: Path, job: subprocess.Popen) -> None:
    """Write to the pipe until the readout or its reader ends."""
    try:
        readout.write(pipe)
    except BrokenPipeError:
        if job.poll() is None:
            job.terminate()


def slope(values: np.ndarray) -> tuple[float, float]:
    """Growth from the first to the last value, by a straight line, with its standard error; both in units of the mean."""
    place = np.linspace(-0.5, 0.5, len(values))
    gradient = float(place @ values / (place @ place))
    rest = values - values.mean() - gradient * place
    error = float(np.sqrt(rest @ rest / max(1, len(values) - 2) / (place @ place)))
    return gradient / float(values.mean()), error / float(values.mean())
