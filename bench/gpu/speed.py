# SPDX-License-Identifier: Apache-2.0
"""Stage speed: copies, ways of the network, events in flight, and the slowest kernels under ncu."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import partial
from typing import Any

from . import jobs, recording
from .jobs import event_file, measure, run_job
from .outcome import Failed, Skipped
from .stage import Stage

IN_FLIGHT = (1, 2, 4, 8)
LONG_RUN = 3  # times the events of a job
FASTEST: dict[str, Any] = {"precision": "fast", "engine": "TbbFlow", "cuda_graph": "on"}

# ncu takes about 0.4 s for a launch: one event of the slowest kernels whose mean is above SHORT_US.
SHORT_US, MAX_LAUNCHES = 16.0, 120
SECTIONS = ("SpeedOfLight", "Occupancy", "LaunchStats")


def run(stage: Stage) -> None:
    """Run the checks."""
    stage.check("copies between host and device", lambda: transfers(stage))
    stage.check("ways of the network", lambda: network(stage))
    for count in IN_FLIGHT:
        stage.check(f"events in flight: {count}", partial(in_flight, stage, count))
    stage.check("long run", lambda: long_run(stage))
    stage.check("slowest kernels under ncu", lambda: slowest_kernels(stage))


def probe(stage: Stage, name: str) -> Any:
    """Run a probe, a program that uses torch in Python; return the JSON that it prints."""
    stage.needs_hardware("its speed says nothing")
    if importlib.util.find_spec("torch") is None:
        raise Skipped("no torch in this Python")
    done = stage.run(name, [sys.executable, "-m", f"bench.gpu.{name}"], 90)
    if done.status:
        raise Failed(done.failure())
    return json.loads(done.text.splitlines()[-1])


def transfers(stage: Stage) -> str:
    """Measure copies."""
    rows = probe(stage, "probe_transfers")
    stage.results["transfers"] = rows
    largest = [row for row in rows if row["mb"] == max(one["mb"] for one in rows)]
    return ", ".join(f"{row['direction']} {row['memory']} {row['gb_s']:.1f} GB/s" for row in largest)


def network(stage: Stage) -> str:
    """Measure the network in each type and layout."""
    found = probe(stage, "probe_network")
    stage.results["network"] = found["network"]
    stage.results["depthwise"] = found["depthwise"]
    best = {row["type"]: row for row in sorted(found["network"], key=lambda row: -row["ms"])}
    return "; ".join(f"{kind} {row['ms']:.2f} ms {row['layout']}" for kind, row in best.items())


def in_flight(stage: Stage, count: int) -> str:
    """Measure the fastest mode with events in flight."""
    file = event_file(stage, stage.setting.events)
    job = run_job(stage, f"in-flight-{count}", input=file, events_in_flight=count, **FASTEST)
    job.output.unlink(missing_ok=True)
    return measure(stage, job)


def long_run(stage: Stage) -> str:
    """Measure the fastest mode over more events."""
    file = event_file(stage, LONG_RUN * stage.setting.events)
    job = run_job(stage, "long-run", input=file, events_in_flight=4, **FASTEST)
    job.output.unlink(missing_ok=True)
    return measure(stage, job)


def slowest_kernels(stage: Stage) -> str:
    """Profile one event of the slowest kernels of a recording."""
    stage.needs_hardware("ncu reads counters of the device")
    ncu = stage.tool("ncu")
    recording.check(stage, "before-ncu")
    kernels = stage.results["profiles"][-1]["reports"]["cuda_gpu_kern_sum"]
    names, launches = chosen_kernels(kernels, recording.EVENTS - recording.FIRST)
    command = [ncu, "--clock-control", "none", "--target-processes", "all", "--csv", "--log-file"]
    csv = stage.logs / "ncu.csv"
    command += [str(csv), "--kernel-name", f"regex:^({'|'.join(map(re.escape, names))})$"]
    command += ["--launch-skip", str(2 * launches), "--launch-count", str(launches)]
    command += [word for section in SECTIONS for word in ("--section", section)]
    arguments = {"input": event_file(stage, stage.setting.events), "nevents": 4}
    done = stage.run("ncu", [*command, *jobs.command(stage, "ncu", [], arguments)], 150)
    if "ERR_NVGPUCTRPERM" in done.text or (csv.exists() and "ERR_NVGPUCTRPERM" in csv.read_text()):
        raise Skipped("this user may not read the performance counters (ERR_NVGPUCTRPERM)")
    if done.status:
        raise Failed(done.failure())
    table = stage.run(
        "ncu-table", [sys.executable, "-m", "wirecell_profile", "ncu", str(csv), "-f", "json"], 60
    )
    if table.status:
        raise Failed(f"wirecell-profile ncu: {table.failure()}")
    stage.results["ncu"] = json.loads(table.text[table.text.index("{") :])["kernels"]
    return f"{len(names)} kernels, {launches} launches"


def chosen_kernels(kernels: list[dict[str, Any]], events: int) -> tuple[list[str], int]:
    """Return the names of the slowest kernels that are not short, and their launches in an event."""
    names, launches = [], 0
    for row in sorted(kernels, key=lambda row: -row["Total Time (ns)"]):
        per_event = -(-row["Instances"] // events)
        if row["Avg (ns)"] >= 1e3 * SHORT_US and launches + per_event <= MAX_LAUNCHES:
            names.append(row["Name"])
            launches += per_event
    if not names:
        raise Failed(f"no kernel takes more than {SHORT_US} us")
    return names, launches
