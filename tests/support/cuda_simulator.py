# SPDX-License-Identifier: Apache-2.0
"""Run programs over the simulated CUDA runtime (docs/decisions/cuda-simulator.md), and read its report."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.support import wire_cell

FOLDER = wire_cell.ROOT / "build" / "tests" / "cuda_simulator"
# By soname, before the libraries of LibTorch's packages.
PRELOADED = ("libcudart.so.*", "libcufft.so.*", "libcupti.so.*")

needs_simulator = pytest.mark.skipif(
    not (FOLDER / "libSpngSimulatedOperators.so").exists() or not wire_cell.PROGRAM.exists(),
    reason="the simulated CUDA runtime is not built: it needs the full LibTorch, for CUDA",
)


def environment(report: Path | None = None, **settings: object) -> dict[str, str]:
    """Return the environment of a program over the simulator.

    `settings` are those of tests/cuda_simulator/runtime/settings.h, in lower case: devices=2, memory_mb=0.5.
    With `ranges` the log names the node of each operation, if the program is built with NVTX.
    """
    preloaded = [str(path) for pattern in PRELOADED for path in sorted(FOLDER.glob(pattern))]
    variables = {name.upper(): value for name, value in settings.items()}
    if report is not None:
        variables["REPORT"] = report
    has_ranges = variables.pop("RANGES", False)
    nodes = {"NVTX_INJECTION64_PATH": preloaded[0], "SPNG_NVTX_LEVEL": "1"} if has_ranges else {}
    return {
        **os.environ,
        **nodes,
        "LD_PRELOAD": ":".join(preloaded),
        "LD_LIBRARY_PATH": str(FOLDER),
        **{f"CUDA_SIMULATOR_{name}": str(value) for name, value in variables.items()},
    }


@dataclass(frozen=True)
class Report:
    """The counts of one process."""

    path: Path

    @cached_property
    def all(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return result

    def copies(self, direction: str) -> tuple[int, int]:
        """Return (count, bytes) of the copies `to_device`, `to_host` or `on_device`, or of `fill`."""
        found = self.all["copies"].get(direction, {"count": 0, "bytes": 0})
        return found["count"], found["bytes"]

    def traffic(self) -> tuple[int, int]:
        """Return the bytes of device memory that operations on the device read, and that they write."""
        sums = self.all["traffic"].values()
        return sum(each["read"] for each in sums), sum(each["written"] for each in sums)

    def kernels(self) -> int:
        return sum(self.all["kernels"].values())

    def calls(self, name: str) -> int:
        return int(self.all["calls"].get(name, 0))

    def check(self) -> None:
        """Fail if the simulator saw a race, or anything that it cannot simulate."""
        found = self.all["races"] + self.all["defects"]
        assert found == [], found


@dataclass(frozen=True)
class Run:
    done: subprocess.CompletedProcess
    report: Report


def job(
    folder: Path, flags: list[str], arguments: dict[str, Any], /, *options: str | Path, **settings: object
) -> Run:
    """Run the main job over the simulator, on as many devices as its argument `device` names, unless told otherwise.

    `flags` describe the detector; `arguments` are given as -A name=value, with defaults for tests of small jobs: no
    network, no CUDA graphs, no measurements.
    """
    given = {
        "input": "adc.npz",
        "output": "cuda.npz",
        "device": "cuda",
        "model": "none",
        "threads": 1,
        "cuda_graph": "off",
        "network_layout": "contiguous",
        **arguments,
    }
    words = wire_cell.settings(**given)
    devices = 1 + str(given["device"]).count(",")
    return run(folder, "-c", wire_cell.PIPELINE, *flags, *options, *words, **{"devices": devices, **settings})


def run(folder: Path, *arguments: str | Path, **settings: object) -> Run:
    """Run wire-cell over the simulator. Its report is simulator.json in `folder`."""
    report = folder / "simulator.json"
    report.unlink(missing_ok=True)
    done = wire_cell.run(*arguments, folder=folder, env=environment(report, **settings))
    return Run(done, Report(report))
