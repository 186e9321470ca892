"""Running the program and the operator benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from wcblib.checkout import ROOT, fail

MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
YARDSTICK = "fft_yardstick_bench"


@dataclass(frozen=True)
class Time:
    """of one repetition, in ms; cpu: of all threads"""

    wall: float
    cpu: float


def google_benchmark(program: Path, only: str, repetitions: int, environment: dict[str, str],
                     seconds: float = 0.2) -> dict[str, list[Time]]:
    """Run a program of build/bench; name -> its repetitions of at least `seconds` each."""
    command = [str(program), f"--benchmark_filter={only or '.'}", "--benchmark_format=json",
               f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={seconds}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        fail(f"{program} ended with status {done.returncode}\n{done.stderr}", 1)
    times: dict[str, list[Time]] = {}
    for entry in json.loads(done.stdout)["benchmarks"] if done.stdout.strip() else []:
        if entry["run_type"] == "iteration":
            scale = MILLISECONDS[entry["time_unit"]]
            name = entry["run_name"].removesuffix("/real_time").removesuffix("/process_time")
            times.setdefault(name, []).append(Time(entry["real_time"] * scale, entry["cpu_time"] * scale))
    return times


def chain_command(program: Path, arguments: dict[str, str], timing: Path) -> list[str]:
    """The main job with job arguments."""
    words = [word for name, value in arguments.items() for word in ("-A", f"{name}={value}")]
    return [str(program), "-c", "cfg/pipeline.jsonnet", *words, "--timing", str(timing)]


def run_chain(command: list[str]) -> dict:
    """Run the main job; what --timing wrote."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        fail(f"the main job failed with status {done.returncode}\n{done.stderr}", 1)
    return json.loads(Path(command[-1]).read_text(encoding="utf-8"))


def wall_seconds(command: list[str]) -> float:
    """Of a command that must succeed, its output thrown away."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        fail(f"{' '.join(command)} ended with status {done.returncode}\n{done.stderr}", 1)
    return time.monotonic() - start
