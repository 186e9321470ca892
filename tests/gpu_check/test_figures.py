# SPDX-License-Identifier: Apache-2.0
"""Figures of timing reports: the events that count, calls inside calls, times with files."""

from __future__ import annotations

from typing import Any

import pytest

from bench.gpu.timing_figures import figures_of

MS = 1_000_000


def call(event: int, device_ms: float, wall_ms: float, start_ms: float = 0.0, **more: Any) -> dict[str, Any]:
    """Return a call of a node as in a timing report."""
    return {
        "event": event,
        "device_ns": int(device_ms * MS),
        "wall_ns": int(wall_ms * MS),
        "start_ns": int(start_ms * MS),
        "nested_wall_ns": 0,
        "depth": 0,
        **more,
    }


def node(name: str, kind: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a node as in a timing report."""
    return {
        "name": name,
        "kind": kind,
        "per_call": calls,
        "calls": len(calls),
        "leaf_operations": 3 * len(calls),
    }


def report(device_ms: list[float]) -> dict[str, Any]:
    """Return a timing report whose events take these times on the device, half of it in a nested node."""
    events = range(len(device_ms))
    settings = ("device", "engine", "precision", "cuda_graph", "events_in_flight", "graph_threads", "dtype")
    return {
        "run": {
            "startup_seconds": 2.0,
            "device_peak_bytes": 3e9,
            "process_peak_bytes": 4e9,
        },
        "settings": {**dict.fromkeys(settings, ""), "arguments": {}, "warm_up_seconds": 0.5},
        "nodes": [
            node("source", "source", [call(event, 1, 1) for event in events]),
            node(
                "outer", "roi", [call(event, device_ms[event], 4, nested_wall_ns=3 * MS) for event in events]
            ),
            node("inner", "dnn", [call(event, device_ms[event] / 2, 3, depth=1) for event in events]),
            node("sink", "sink", [call(event, 9, 5, start_ms=20.0 * event) for event in events]),
        ],
    }


def test_first_half_is_left_out() -> None:
    """Slow calls of late threads, up to the event before the half, do not change the figures."""
    found = figures_of("job", report([900, 20, 700, 10, 500, 400, 10, 11, 12, 10, 11, 50]))
    assert (found.events, found.steady, found.slow) == (12, 6, 1)
    assert found.device_ms == 11 and found.host_ms == 4
    assert found.with_files_ms == pytest.approx(20)
    assert found.settings["model"] == "default" and found.operations == 6


def test_nested_calls_count_once() -> None:
    found = figures_of("job", report([10.0] * 4))
    rows = {row.name: row for row in found.nodes}
    assert rows["outer"].host_ms == 1 and not rows["outer"].nested
    assert rows["inner"].device_ms == 5 and rows["inner"].nested and rows["inner"].operations == 3
    assert found.device_ms == 10


def test_run_on_the_cpu_has_no_device_times() -> None:
    timing = report([0.0] * 4)
    timing["run"]["device_peak_bytes"] = None
    for one in timing["nodes"]:
        for each in one["per_call"]:
            each["device_ns"] = None
    found = figures_of("job", timing)
    assert found.device_ms == 0 and found.device_peak_gb == 0 and found.slow == 0
