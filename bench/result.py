# SPDX-License-Identifier: Apache-2.0
"""The result that is printed, stored as JSON (schema "spng-bench-3") and put on a page, from the measurements."""

from __future__ import annotations

import os
import platform
import statistics
from dataclasses import asdict, dataclass, field

from bench.gpu.machine import processor

from .machine_load import Load
from .programs import Time
from .roofline import Machine, work_of_nodes
from .statistics_of_calls import FILE_NODES, NodeFigures, chain_figures, node_figures, spread

# Promised limits for one ProtoDUNE-HD anode of 6000 ticks on two cores, float32, without a model.
BARS = {
    "chain_ms": 400.0,
    "chain_over_yardstick": 6.0,
    "coincidence_per_target_ms": 15.0,
    "process_peak_gb": 1.0,
    "start_up_s": 3.0,
    "operations_per_event": 300.0,
}
BARS_WITH_MODEL = {"chain_ms": 2000.0, "network_ms": 300.0, "start_up_s": 3.0}
WORDS = {
    "chain_ms": "chain without file input and output, wall time of an event [ms]",
    "chain_cpu_ms": "  the same, CPU time of all threads [ms]",
    "first_event_ms": "  the same, first event [ms]",
    "yardstick_ms": "yardstick: rfft2 + irfft2 of the same planes [ms]",
    "yardstick_cpu_ms": "  the same, CPU time of all threads [ms]",
    "chain_over_yardstick": "chain / yardstick, wall time",
    "chain_over_yardstick_cpu": "chain / yardstick, CPU time",
    "network_ms": "network, a forward over U and V [ms]",
    "network_least_ms": "  the same, least [ms]",
    "coincidence_per_target_ms": "coincidence of a target plane [ms]",
    "operations_per_event": "leaf operations of an event, without files",
    "process_peak_gb": "process peak [GB]",
    "start_up_s": "start-up to first event [s]",
    "with_files_ms": "an event with file input and output (not compressed), from end to end [ms]",
    "page_faults": "minor page faults of an event after the first",
}
PASSING_ON_MS = 0.05  # a node below this time only passes its input on
SUMMED = ("wall_ms", "cpu_ms", "operations", "moved_mb", "transforms_gflop")  # over the nodes of a type
TARGET_PLANES = 2  # induction planes of an anode; coincidences are computed for each
WAITING = (
    "OMP_WAIT_POLICY",
    "GOMP_SPINCOUNT",
)  # waiting of OpenMP's threads has a large effect on a shared machine


@dataclass
class Measurements:
    """Measurements of all runs."""

    cores: int
    own_command: str
    command: list[str] = field(default_factory=list)
    timings: list[dict] = field(default_factory=list)  # timing reports of the runs of the chain
    yardsticks: list[list[Time]] = field(default_factory=list)  # before each run of the chain
    operators: dict[str, list[Time]] = field(default_factory=dict)
    start_up: dict[str, float] = field(default_factory=dict)  # s
    time: str = ""  # of the start, ISO 8601
    program: dict[str, str] = field(default_factory=dict)  # commit and build
    file_system: str = ""  # of the folder for temporary files
    load: Load | None = None  # of the run; with the chain, of its part
    peaks: Machine | None = None  # None if the program that measures them was not built


def summary_of(found: Measurements, nodes: list[NodeFigures]) -> dict[str, float]:
    """Return the figures that have a bar, and related figures."""
    chain = chain_figures(found.timings)
    runs = [timing["run"] for timing in found.timings]
    coincidence = sum(node.wall.median for node in nodes if node.type == "SPNGNoTileMPCoincidence")
    summary = {"chain_ms": chain.wall.median, "chain_cpu_ms": chain.cpu, "first_event_ms": chain.first}
    if found.yardsticks:
        repetitions = [time for times in found.yardsticks for time in times]
        wall = statistics.median(time.wall for time in repetitions)
        cpu = statistics.median(time.cpu for time in repetitions)
        summary |= {
            "yardstick_ms": wall,
            "yardstick_cpu_ms": cpu,
            "chain_over_yardstick": chain.wall.median / wall,
            "chain_over_yardstick_cpu": chain.cpu / cpu,
        }
    network = [node.wall for node in nodes if node.type == "SPNGTorchService"]
    if network:
        summary |= {
            "network_ms": sum(wall.median for wall in network),
            "network_least_ms": sum(wall.minimum for wall in network),
        }
    return summary | {
        "coincidence_per_target_ms": coincidence / TARGET_PLANES,
        "operations_per_event": chain.operations,
        "process_peak_gb": max(run["process_peak_bytes"] for run in runs) * 1e-9,
        "start_up_s": statistics.median(run["startup_seconds"] for run in runs),
        "with_files_ms": 1e-6 * statistics.median(run["event_with_files_ns"] for run in runs),
        "page_faults": statistics.median(run["page_faults_per_later_event"] for run in runs),
    }


def type_rows(nodes: list[NodeFigures], timing: dict, peaks: Machine | None) -> list[dict]:
    """Return one row per node type: sums over its nodes of time, of unavoidable work, and of the least time for that work."""
    works, is_cpu = work_of_nodes(timing), timing["run"]["device"] == "cpu"
    rows: dict[str, dict] = {}
    for node in nodes:
        row = rows.setdefault(
            node.type,
            {
                "type": node.type,
                "nested": node.nested,
                "nodes": 0,
                **dict.fromkeys(SUMMED, 0.0),
                "roofline_ms": None,
            },
        )
        work = works[node.name]
        row["nodes"] += 1
        row["wall_ms"] += node.wall.median
        row["cpu_ms"] += node.cpu
        row["operations"] += node.operations
        row["moved_mb"] += work.bytes * 1e-6
        row["transforms_gflop"] += (work.real + work.complex) * 1e-9
        passes_on = node.wall.median < PASSING_ON_MS  # neither reads nor writes its input
        if peaks is not None and is_cpu and node.type not in FILE_NODES and not passes_on:
            row["roofline_ms"] = (row["roofline_ms"] or 0.0) + work.least_ms(peaks)
    return sorted(rows.values(), key=lambda row: -row["wall_ms"])


def result_of(found: Measurements) -> dict:
    """Return the content of the JSON file."""
    result: dict = {
        "schema": "spng-bench-3",
        "command": found.own_command,
        "cores": found.cores,
        "environment": {name: os.environ[name] for name in WAITING if name in os.environ},
        "time": found.time,
        "program": found.program,
        "machine": {"cpu": processor(), "system": f"{platform.system()} {platform.release()}"},
        "file_system": found.file_system,
        "load_text": found.load.text() if found.load else "",
        "operators": {
            name: {
                "wall": asdict(spread([time.wall for time in times])),
                "cpu": statistics.median(time.cpu for time in times),
                **({} if times[0].file_mb is None else {"file_mb": times[0].file_mb}),
            }
            for name, times in found.operators.items()
        },
    }
    if found.timings and found.load:
        last = found.timings[-1]
        nodes = node_figures(found.timings)
        result |= {key: last[key] for key in ("time", "program", "versions", "machine", "run", "settings")}
        result |= {
            "chain_command": found.command,
            "load": asdict(found.load),
            "summary": summary_of(found, nodes),
            "bars": BARS if last["settings"]["arguments"].get("model") == "none" else BARS_WITH_MODEL,
            "start_up_s": found.start_up,
            "chain": chain_figures(found.timings).json(),
            "nodes": [node.json() for node in nodes],
            "types": type_rows(nodes, last, found.peaks),
            "peaks": None if found.peaks is None else found.peaks.json(),
            "peaks_text": "not measured" if found.peaks is None else found.peaks.text(),
            "runs": [chain_figures([timing]).wall.median for timing in found.timings],
            "yardstick_runs": [statistics.median(time.wall for time in times) for times in found.yardsticks],
        }
    return result
