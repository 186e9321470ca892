# SPDX-License-Identifier: Apache-2.0
"""Run the program and the operator benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.wcb.checkout import ROOT, build, fail

MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
YARDSTICK = "fft_yardstick_bench"
# A CUDA graph is one launch, so that figures of nodes need jobs without.
NODE_BY_NODE = {"cuda_graph": "off"}


def ready_build(given: Path | None, *options: str) -> Path:
    """Return the build folder with wire-cell: the given one unchanged, else the checkout's after a build without tests.

    options: more options of the build.
    """
    folder = build("--notests", *options) if given is None else given.resolve()
    if not (folder / "bin" / "wire-cell").exists():
        fail(f"no program bin/wire-cell in {folder}")
    return folder


def use_cores(count: int) -> int:
    """Restrict this process and its children to `count` cores (0: all); return the number of cores."""
    allowed = sorted(os.sched_getaffinity(0))
    if 0 < count < len(allowed):
        os.sched_setaffinity(0, allowed[:count])
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Time:
    """Times of one repetition [ms]. cpu: of all threads; file_mb: size of the file that it wrote, if any [MB]."""

    wall: float
    cpu: float
    file_mb: float | None = None


def benchmark_entries(
    program: Path, only: str, repetitions: int, environment: dict[str, str], seconds: float = 0.2
) -> list[dict]:
    """Run a program of build/bench; return Google Benchmark's entries of its repetitions of at least `seconds` each."""
    command = [
        str(program),
        f"--benchmark_filter={only or '.'}",
        "--benchmark_format=json",
        f"--benchmark_repetitions={repetitions}",
        f"--benchmark_min_time={seconds}",
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if done.returncode:
        fail(f"{program} ended with status {done.returncode}\n{done.stderr}", 1)
    return [
        entry
        for report in reports(done.stdout)
        for entry in report["benchmarks"]
        if entry["run_type"] == "iteration"
    ]


def reports(text: str) -> Iterator[dict]:
    """Yield the JSON documents in a program's output: recorder_bench runs itself again with the recorder attached."""
    while text := text.lstrip():
        report, end = json.JSONDecoder().raw_decode(text)
        yield report
        text = text[end:]


def google_benchmark(
    program: Path, only: str, repetitions: int, environment: dict[str, str], seconds: float = 0.2
) -> dict[str, list[Time]]:
    """Run a program of build/bench; return name -> repetitions of at least `seconds` each."""
    times: dict[str, list[Time]] = {}
    for entry in benchmark_entries(program, only, repetitions, environment, seconds):
        scale = MILLISECONDS[entry["time_unit"]]
        name = entry["run_name"].removesuffix("/real_time").removesuffix("/process_time")
        times.setdefault(name, []).append(
            Time(entry["real_time"] * scale, entry["cpu_time"] * scale, entry.get("file_mb"))
        )
    return times


def chain_command(
    program: Path, arguments: dict[str, str], timing: Path, words: tuple[str, ...] = ()
) -> list[str]:
    """Return the command of the main job with job arguments and further words. Its last word is the path of the timing report.

    On a device the nodes are measured, not a CUDA graph of them.
    """
    on_device = not arguments.get("device", "cpu").startswith("cpu")
    given = (NODE_BY_NODE if on_device else {}) | arguments
    job = [str(program), "-c", "cfg/pipeline.jsonnet", *job_arguments(given)]
    return [*job, *words, "--timing", str(timing)]


def job_arguments(values: dict[str, Any]) -> list[str]:
    """Return the words that give a job its arguments."""
    return [word for name, value in values.items() for word in ("-A", f"{name}={value}")]


def run_quietly(command: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command with additional variables; return its exit status and standard error."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stderr


def run_chain(command: list[str], environment: dict[str, str]) -> dict:
    """Run a chain_command with additional variables; return its timing report. End with a message if it fails."""
    status, errors = run_quietly(command, environment)
    if status:
        fail(f"the main job failed with status {status}\n{errors}", 1)
    return json.loads(Path(command[-1]).read_text(encoding="utf-8"))


def wall_seconds(command: list[str]) -> float:
    """Return the wall time of a command [s]. End with a message if it fails."""
    start = time.monotonic()
    status, errors = run_quietly(command, {})
    if status:
        fail(f"{' '.join(command)} ended with status {status}\n{errors}", 1)
    return time.monotonic() - start
