# SPDX-License-Identifier: Apache-2.0
"""Figures per event of a timing report (--timing).

Steady events are those of the second half of a run. The first events include one-time work: libraries load, each thread
makes its handles and plans at its first call, and CUDA graphs are captured. With TbbFlow the last thread may begin as
late as in the tenth event.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

FILE_KINDS = ("source", "sink")
SLOW = 2.0  # events slower than so many medians are counted


@dataclass(frozen=True)
class NodeTime:
    """Median times of the calls of a node in steady events [ms]; nested: called inside another node."""

    name: str
    nested: bool
    device_ms: float
    host_ms: float
    operations: float


@dataclass(frozen=True)
class JobFigures:
    """Figures of a job. Times are medians over the steady events, in ms.

    device_ms, host_ms  sum of the calls between source and sink; calls of TbbFlow may overlap
    with_files_ms       mean time from the end of one event to the end of the next, steady events
    slow                steady events whose device_ms is more than twice the median
    """

    name: str
    settings: dict[str, Any]
    events: int
    steady: int
    slow: int
    device_ms: float
    host_ms: float
    with_files_ms: float
    start_up_s: float
    warm_up_s: float
    device_peak_gb: float
    process_peak_gb: float
    operations: float
    nodes: list[NodeTime] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        """Return the content of the result file."""
        return asdict(self)

    def summary(self) -> str:
        """Return the figures in one line."""
        return (
            f"{self.device_ms:.1f} ms on the device, {self.host_ms:.1f} ms of the host, {self.with_files_ms:.1f} ms with "
            f"files, {self.device_peak_gb:.2f} GB"
        )


SHOWN_SETTINGS = ("device", "engine", "precision", "cuda_graph", "events_in_flight", "graph_threads", "dtype")


def figures_of(name: str, timing: dict[str, Any]) -> JobFigures:
    """Return the figures of a timing report."""
    run, settings = timing["run"], timing["settings"]
    device = times_by_event(timing, "device_ns")
    host = times_by_event(timing, "wall_ns")
    events = sorted(host)
    steady = events[len(events) // 2 :]
    median = statistics.median(device[event] for event in steady)
    arguments = settings["arguments"]
    return JobFigures(
        name,
        {key: settings[key] for key in SHOWN_SETTINGS} | {"model": str(arguments.get("model", "default"))},
        len(events),
        len(steady),
        sum(device[event] > SLOW * median for event in steady),
        median,
        statistics.median(host[event] for event in steady),
        period_ms(timing, len(steady)),
        run["startup_seconds"],
        settings.get("warm_up_seconds") or 0.0,
        (run["device_peak_bytes"] or 0) * 1e-9,
        run["process_peak_bytes"] * 1e-9,
        sum(n["leaf_operations"] for n in timing["nodes"] if n["kind"] not in FILE_KINDS) / len(events),
        node_times(timing, set(steady)),
    )


def times_by_event(timing: dict[str, Any], key: str) -> dict[int, float]:
    """Return event -> time [ms] of the calls between source and sink; calls inside others are part of these."""
    sums: dict[int, float] = defaultdict(float)
    for node in timing["nodes"]:
        if node["kind"] not in FILE_KINDS:
            for call in node["per_call"]:
                if call["depth"] == 0:
                    sums[call["event"]] += (call[key] or 0) * 1e-6
    return sums


def period_ms(timing: dict[str, Any], count: int) -> float:
    """Return the mean time between the ends of the last `count` events [ms]; NaN for a single one."""
    ends = sorted(
        call["start_ns"] + call["wall_ns"]
        for node in timing["nodes"]
        if node["kind"] == "sink"
        for call in node["per_call"]
    )
    last = ends[-count - 1 :]
    return (last[-1] - last[0]) * 1e-6 / (len(last) - 1) if len(last) > 1 else float("nan")


def node_times(timing: dict[str, Any], steady: set[int]) -> list[NodeTime]:
    """Return the nodes that ran in steady events, the slowest first."""
    rows = []
    for node in timing["nodes"]:
        calls = [call for call in node["per_call"] if call["event"] in steady]
        if calls:
            rows.append(
                NodeTime(
                    node["name"],
                    calls[0]["depth"] > 0,
                    statistics.median((call["device_ns"] or 0) * 1e-6 for call in calls),
                    statistics.median((call["wall_ns"] - call["nested_wall_ns"]) * 1e-6 for call in calls),
                    node["leaf_operations"] / node["calls"],
                )
            )
    return sorted(rows, key=lambda row: -max(row.device_ms, row.host_ms))
