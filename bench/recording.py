# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --recording: measure the cost of ranges without a tool, with --record, and under nsys.

The tools take turns, so that a change of the machine's load affects all. The times are processor time of the
thread that opens the range; threads of a tool that write the file are not in it.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path

from scripts.output import Table
from scripts.wcb.checkout import fail, say

from . import programs

PROGRAM = "recorder_bench"
SCHEMA = "spng-bench-recording-1"
NO_TOOL, RECORDER, NSYS = "no tool", "--record", "nsys"
PREFIXES = {"no_tool": NO_TOOL, "recorder": RECORDER}  # of the names of recorder_bench
BURST = 1000  # ranges in an iteration of a burst
ROWS = {
    "step_range": "step range",
    "node_range": "node range, with the event",
    "mark": "mark",
    f"burst_of_{BURST}_ranges": f"step range in bursts of {BURST} with pauses",
}
SECONDS = 0.05  # least time of a benchmark: nsys writes several million ranges a second

Costs = dict[str, dict[str, list[float]]]  # tool -> row -> ns of each round


def nsys_entries(nsys: str, program: Path, folder: Path) -> list[dict]:
    """Run the benchmark under nsys; return Google Benchmark's entries."""
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "benchmark.json"
    command = [nsys, "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true"]
    command += ["--output", str(folder / "profile"), str(program)]
    command += [f"--benchmark_min_time={SECONDS}", f"--benchmark_out={out}", "--benchmark_out_format=json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode:
        fail(f"nsys ended with status {done.returncode}\n{done.stdout}{done.stderr}", 1)
    entries = json.loads(out.read_text(encoding="utf-8"))["benchmarks"]
    shutil.rmtree(folder)
    return entries


def add(costs: Costs, entries: Iterable[dict], tool: str | None = None) -> None:
    """Add the processor time of each entry [ns]; the tool is that of its name, or the given one."""
    for entry in entries:
        prefix, name, *_ = entry["run_name"].split("/")
        if name in ROWS:
            ns = entry["cpu_time"] * programs.MILLISECONDS[entry["time_unit"]] * 1e6
            ranges = BURST if name.startswith("burst") else 1
            costs.setdefault(tool or PREFIXES[prefix], {}).setdefault(name, []).append(ns / ranges)


def measured(build: Path, folder: Path, rounds: int) -> dict:
    """Measure `rounds` times in turn; return tool -> row -> ns of each round, and the version of nsys."""
    program = build / "bench" / PROGRAM
    if not program.exists():
        fail(f"{program} is not built: it needs Google Benchmark and ./wcb configure --with-nvtx")
    nsys = shutil.which("nsys")
    costs: Costs = {}
    for index in range(rounds):
        add(costs, programs.benchmark_entries(program, "", 1, {}, SECONDS))
        if nsys:
            add(costs, nsys_entries(nsys, program, folder / "nsys"), NSYS)
        say(f"  round {index + 1} of {rounds}")
    version = subprocess.run([nsys, "--version"], capture_output=True, text=True).stdout if nsys else ""
    return {"schema": SCHEMA, "costs_ns": costs, "nsys": version.strip()}


def recording_table(figures: dict) -> Table:
    """Return the medians, each with the range over the rounds."""
    costs: Costs = figures["costs_ns"]
    tools = [tool for tool in (NO_TOOL, RECORDER, NSYS) if tool in costs]

    def cell(values: list[float] | None) -> str:
        if not values:
            return ""
        digits = 1 if statistics.median(values) < 10 else 0
        low, middle, high = (
            f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values))
        )
        return middle if low == high else f"{middle} ({low} to {high})"

    rows = [[text, *(cell(costs[tool].get(row)) for tool in tools)] for row, text in ROWS.items()]
    return Table("Cost of recording", ["processor time of the thread [ns]", *tools], rows)


def note(figures: dict) -> str:
    """Return the version of nsys, or that it is missing."""
    return figures["nsys"] or "nsys is not on the path: it was not measured"
