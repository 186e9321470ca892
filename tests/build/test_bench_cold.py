# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --cold: caches are empty and separate, and the figures are those of the timing reports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bench import cold

CALLS = ("SPNGDecon:u", (900.0, 100.0, 102.0)), ("SPNGROI", (60.0, 50.0, 50.0))  # ms


def timing() -> dict:
    """Return a report of three events."""
    nodes = []
    for name, walls in CALLS:
        calls = [
            {
                "event": event,
                "depth": 0,
                "start_ns": event * 10**9,
                "wall_ns": int(wall * 1e6),
                "nested_wall_ns": 0,
                "cpu_ns": int(wall * 1e6),
                "leaf_operations": 1,
                "device_ns": None,
            }
            for event, wall in enumerate(walls)
        ]
        nodes.append(
            {
                "name": name,
                "type": name.split(":")[0],
                "first_wall_ns": int(walls[0] * 1e6),
                "calls": 3,
                "leaf_operations": 3,
                "cpu_peak_bytes": 0,
                "steady_mean_wall_ns": int(sum(walls[1:]) / 2 * 1e6),
                "per_call": calls,
            }
        )
    return {"run": {"startup_seconds": 1.25}, "nodes": nodes}


def test_figures() -> None:
    figures = cold.cold_figures([timing()], [12])
    assert figures["first_event_ms"] == pytest.approx(960.0) and figures["later_event_ms"] == pytest.approx(
        151.0
    )
    assert (
        figures["once_ms"] == pytest.approx(809.0)
        and figures["start_up_s"] == 1.25
        and figures["cached_bytes"] == 12
    )
    assert figures["first_call_extra_ms"] == {
        "SPNGDecon:u": pytest.approx(799.0),
        "SPNGROI": pytest.approx(10.0),
    }
    assert "809.0 ms" in cold.cold_text(figures)


def test_caches_are_empty_in_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program finds no file in its caches, files that it writes there are counted, and our environment is unchanged."""
    monkeypatch.setenv("CUDA_CACHE_PATH", "mine")
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    report = tmp_path / "timing.json"
    script = tmp_path / "program"
    script.write_text(
        '#!/bin/sh\nls "$CUDA_CACHE_PATH" "$TRITON_CACHE_DIR" > "$0.found"\n'
        f'printf 12345 > "$CUDA_CACHE_PATH/kernel"\necho \'{json.dumps(timing())}\' > "$1"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    for _ in range(2):
        seen, size = cold.cold_run([str(script), str(report)], tmp_path / "caches")
        assert seen == timing() and size == 5
        assert "kernel" not in (tmp_path / "program.found").read_text(encoding="utf-8")
    assert os.environ["CUDA_CACHE_PATH"] == "mine" and "TRITON_CACHE_DIR" not in os.environ
