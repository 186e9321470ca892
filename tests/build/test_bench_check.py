# SPDX-License-Identifier: Apache-2.0
"""./wcb bench --check: finds added work and slower steps, and accepts equal runs."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

from bench import regression

EVENTS, RUNS = 5, 8
NODES = {"SPNGDecon:u": 100.0, "SPNGApplyROI:u": 20.0}  # ms


def timing(
    generator: np.random.Generator, noise: float, factors: dict[str, float] | None = None, pace: float = 1.0
) -> dict:
    """Return a report with noisy times. pace: of the whole machine."""
    nodes = []
    start = 0
    for name, wall in NODES.items():
        calls = []
        for event in range(EVENTS):
            taken = int(
                wall * 1e6 * pace * (factors or {}).get(name, 1.0) * (1 + noise * generator.standard_normal())
            )
            calls.append(
                {
                    "event": event,
                    "depth": 0,
                    "start_ns": event * 10**9 + start,
                    "wall_ns": taken,
                    "nested_wall_ns": 0,
                    "cpu_ns": taken,
                    "device_ns": None,
                    "leaf_operations": 4,
                    "in_bytes": 1000,
                    "out_bytes": 500,
                    "cpu_allocated_bytes": 700,
                    "cpu_peak_bytes": 600,
                    "device_allocated_bytes": None,
                    "device_peak_bytes": None,
                }
            )
            start = 2 * 10**8
        nodes.append(
            {
                "name": name,
                "failed": 0,
                "operations": {"aten::mul": 3 * EVENTS, "aten::copy_": EVENTS},
                "per_call": calls,
            }
        )
    return {
        "time": "2026-11-21T12:00:00Z",
        "program": {"commit": "abc", "build": "release"},
        "versions": {"torch": "2.11.0"},
        "machine": {"host": "h", "cpu": "processor A", "cores": 2, "system": "Linux"},
        "run": {
            "device": "cpu",
            "device_name": "",
            "engine": "Pgrapher",
            "precision": "exact float32",
            "graph_threads": 1,
            "intra_op_threads": 2,
            "synchronising": False,
            "cpu_clock": "process",
        },
        "settings": {"arguments": {"model": "none"}},
        "nodes": nodes,
    }


def runs(
    seed: int, noise: float = 0.02, factors: dict[str, float] | None = None, change=lambda report: None
) -> list:
    """Return runs of a machine whose pace drifts by a third during the measurement; the yardstick, 50 ms, drifts too."""
    generator = np.random.default_rng(seed)
    reports, yardsticks = [], []
    for pace in np.linspace(1.0, 1.3, RUNS):
        report = timing(generator, noise, factors, pace)
        change(report)
        reports.append(report)
        yardsticks.append([50.0 * pace])
    return regression.measured_runs(reports, yardsticks)


def test_equal_runs_do_not_fail() -> None:
    for seed in range(5):
        verdict = regression.check(runs(100 + seed), runs(200 + seed))
        assert not verdict.failures
        assert "no regression" in verdict.text() and "whole event" in verdict.text()


def test_the_same_runs_have_the_ratio_of_one() -> None:
    same = runs(1)
    (line,) = regression.check(same, same).notes
    assert "whole event: 1.00 of" in line


def test_an_added_operation_fails_and_is_named() -> None:
    def add(report: dict) -> None:
        for call in report["nodes"][1]["per_call"]:
            call["leaf_operations"] += 1
        report["nodes"][1]["operations"]["aten::add"] = EVENTS

    verdict = regression.check(runs(1), runs(2, change=add))
    assert any(
        "operations of SPNGApplyROI:u: 4 in the reference, 5 now" in line and "aten::add +1" in line
        for line in verdict.failures
    )
    back = regression.check(runs(1, change=add), runs(2))
    assert not back.failures and any("shrank" in line for line in back.notes)


@pytest.mark.parametrize(
    "key, what",
    [
        ("in_bytes", "bytes in"),
        ("out_bytes", "bytes out"),
        ("cpu_peak_bytes", "peak bytes"),
        ("cpu_allocated_bytes", "bytes allocated"),
    ],
)
def test_bytes_that_grow_fail(key: str, what: str) -> None:
    def grow(report: dict) -> None:
        for call in report["nodes"][0]["per_call"]:
            call[key] += 1

    (line,) = regression.check(runs(1), runs(2, change=grow)).failures
    assert line.startswith(f"{what} of SPNGDecon:u")


def test_a_copy_instead_of_another_operation_fails() -> None:
    def swap(report: dict) -> None:
        report["nodes"][0]["operations"] = {"aten::mul": 2 * EVENTS, "aten::copy_": 2 * EVENTS}

    whole, line = regression.check(runs(1), runs(2, change=swap)).failures
    assert line == "copies of SPNGDecon:u: 1 in the reference, 2 now"
    assert whole == "copies of whole event: 2 in the reference, 3 now"


def test_a_new_node_fails() -> None:
    def add(report: dict) -> None:
        report["nodes"].append(copy.deepcopy(report["nodes"][1]) | {"name": "SPNGTensorTap:x"})

    assert any("SPNGTensorTap:x" in line for line in regression.check(runs(1), runs(2, change=add)).failures)


def test_a_slower_step_fails_beyond_noise_and_margin_only() -> None:
    slow = {"SPNGDecon:u": 1.4}
    assert any(
        "SPNGDecon:u: 1.4" in line for line in regression.check(runs(1), runs(2, factors=slow)).failures
    )
    assert not regression.check(runs(1), runs(2, factors={"SPNGDecon:u": 1.08})).failures, "within the margin"
    assert not regression.check(
        runs(1, noise=0.4), runs(2, noise=0.4, factors={"SPNGDecon:u": 1.2})
    ).failures, "within the noise"


def test_times_of_another_processor_are_reported_only() -> None:
    def move(report: dict) -> None:
        report["machine"]["cpu"] = "processor B"

    verdict = regression.check(runs(1), runs(2, factors={"SPNGDecon:u": 1.6}, change=move))
    assert not verdict.failures and any("another processor" in line for line in verdict.notes)


def test_another_job_is_rejected() -> None:
    def change(report: dict) -> None:
        report["settings"]["arguments"]["model"] = "default"

    with pytest.raises(ValueError, match="argument model: none in the reference, default now"):
        regression.check(runs(1), runs(2, change=change))


def test_a_reference_can_be_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "reference.json"
    regression.write_reference(runs(1), "./wcb bench --check", path)
    assert not regression.check(regression.read_reference(path), runs(2)).failures
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="schema"):
        regression.read_reference(path)
    with pytest.raises(ValueError, match="FileNotFoundError"):
        regression.read_reference(tmp_path / "none.json")
