# SPDX-License-Identifier: Apache-2.0
"""Cost of ranges and timers in an event, and the start-up. Needs ./wcb build --benchmarks."""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.programs import benchmark_entries
from tests.recorder import recorded
from tests.support import figures, wire_cell
from tests.support.measured_runs import choose, main_job, succeeded

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

RANGES, TIMERS, START_UP_S = 0.005, 0.01, 3.0  # limits: shares of an event, seconds
EVENTS = 4
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
PROGRAMS = Path(os.environ.get("SPNG_BUILD") or wire_cell.ROOT / "build") / "bench"


def costs(name: str) -> dict[str, float]:
    """Return the processor time of each benchmark of a program [ns], the median of three."""
    if not (PROGRAMS / name).exists():
        pytest.skip(f"{name} is not built: it needs Google Benchmark")
    times: dict[str, list[float]] = {}
    for entry in benchmark_entries(PROGRAMS / name, "", 3, {}, 0.05):
        case = entry["run_name"].partition("/iterations")[0]
        times.setdefault(case, []).append(entry["cpu_time"] * NS[entry["time_unit"]])
    return {case: statistics.median(values) for case, values in times.items()}


def report(folder: Path, **arguments: Any) -> dict[str, Any]:
    """Run the main job; return its timing report."""
    succeeded(["--timing", "t.json", *main_job(**arguments)], folder)
    return dict(json.loads((folder / "t.json").read_text(encoding="utf-8")))


@recorded.needs_recorder
def test_instrumentation(tmp_path: Path) -> None:
    """Counts in a later default event times the cost of one. Nodes inside of another node's call would count twice; the
    first event has one-time work.
    """
    range_costs, timer_costs = costs("recorder_bench"), costs("instrument_bench")
    samples, channels, start_ns = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(EVENTS):
        arrays |= wire_cell.event(samples, channels, ident, start_ns=start_ns)
    wire_cell.write_arrays(tmp_path / "adc.tar", arrays)
    nodes = report(tmp_path, input="adc.tar")["nodes"]
    calls = [call for node in nodes for call in node["per_call"] if call["event"] not in (None, 0)]
    event_ns = sum(call["cpu_ns"] for call in calls if call["depth"] == 0)
    counts = []
    for count in (1, EVENTS):
        words = main_job(input="adc.tar", nevents=count)
        succeeded(["--record", f"{count}.sqlite", "--record-what", "nvtx,calls", *words], tmp_path)
        with closing(sqlite3.connect(tmp_path / f"{count}.sqlite")) as file:
            counts.append(file.execute("SELECT COUNT(*) FROM NVTX_EVENTS").fetchone()[0])
    names = ("no_tool/node_range", "no_tool/step_range")
    per_range = max(*(range_costs[name] for name in names), timer_costs["idle_asynchronous_range"])
    ranges = (counts[1] - counts[0]) * per_range / event_ns
    operators = sum(call["leaf_operations"] for call in calls) * timer_costs["addition_in_a_call"]
    timers = (len(calls) * timer_costs["empty_call/process_clock"] + operators) / event_ns
    figures.note("ranges [% of an event]", 100 * ranges)
    figures.note("timers [% of an event]", 100 * timers)
    assert ranges < RANGES and timers < TIMERS


@pytest.mark.parametrize("model", ["default", "none"])
def test_start_up(tmp_path: Path, model: str) -> None:
    given = {"input": wire_cell.default_input(), "model": model, "threads": 0}
    found = [report(tmp_path, **given)["run"]["startup_seconds"] for _ in range(choose(7, 3))]
    figures.note(f"start-up with model={model}, least [s]", min(found))
    figures.note("median [s]", statistics.median(found))
    assert min(found) <= START_UP_S
