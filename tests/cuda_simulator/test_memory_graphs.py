# SPDX-License-Identifier: Apache-2.0
"""Memory of jobs with CUDA graphs, over the simulated CUDA runtime.

Captures allocate little, a full device costs graphs and not the job, and the plan holds.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.cuda_simulator import Run
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

EVENTS, TICKS = 5, 1200
# Of cudaMalloc: without graphs, and with one graph for the shape of the warm-up and two for that of the events.
# The pool of each graph also has the rows that the upload selects.
# An earlier version emptied all caches for each capture and called cudaFree 14 times with two graphs in all.
ALLOCATIONS = 8
ALLOCATIONS_WITH_GRAPHS = 16
MUCH = "1GB"  # a memory_budget by which the plan limits nothing


@pytest.fixture(name="job", scope="module")
def fixture_job(site: Site) -> Site:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    return site


@pytest.fixture(name="expected", scope="module")
def fixture_expected(job: Site) -> wire_cell.Arrays:
    run(job, cuda_graph="off")
    return wire_cell.read_arrays(job.folder / "out.npz")


def run(
    job: Site,
    *flags: str,
    memory_mb: float = 80_000,
    devices: int = 1,
    log: str = "",
    cuda_graph: str | None = "on",
    **arguments: str,
) -> Run:
    """Run the main job on simulated devices to its end, without a race. cuda_graph: None leaves the argument out."""
    asked = {"input": "adc.npz", "output": "out.npz", "device": "cuda", **arguments}
    if cuda_graph is not None:
        asked["cuda_graph"] = cuda_graph
    words = wire_cell.settings(**asked)
    done = cuda_simulator.run(
        job.folder,
        "-c",
        "pipeline.jsonnet",
        "--timing",
        "timing.json",
        *job.flags,
        *flags,
        *words,
        memory_mb=memory_mb,
        devices=devices,
        log=log,
        emulate=0,
    )
    assert done.done.returncode == 0, done.done.stderr
    done.report.check()
    return done


def require_equal(folder: Path, expected: wire_cell.Arrays) -> None:
    seen = wire_cell.read_arrays(folder / "out.npz")
    assert seen.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(seen[name], array), name


class TestCaptures:
    def test_allocate_a_pool_and_empty_no_cache(self, job: Site, expected: wire_cell.Arrays) -> None:
        without = run(job, cuda_graph="off").report
        graphs = run(job).report
        require_equal(job.folder, expected)
        assert graphs.all["replays"] >= EVENTS - 1
        assert (without.calls("cudaMalloc"), without.calls("cudaFree")) == (ALLOCATIONS, 0)
        assert (graphs.calls("cudaMalloc"), graphs.calls("cudaFree")) == (ALLOCATIONS_WITH_GRAPHS, 0)

    @pytest.mark.parametrize(
        ("memory_mb", "engine"), [(100, "Pgrapher"), (80, "TbbFlow"), (70, "Pgrapher"), (50, "TbbFlow")]
    )
    def test_full_device(self, job: Site, expected: wire_cell.Arrays, memory_mb: float, engine: str) -> None:
        seen = run(job, memory_mb=memory_mb, engine=engine, memory_budget=MUCH)
        require_equal(job.folder, expected)
        assert seen.report.all["peak_bytes"]["0"] <= memory_mb * 1e6
        assert seen.report.calls("cudaFree") > 0

    def test_only_the_full_device_empties_its_cache(self, job: Site, expected: wire_cell.Arrays) -> None:
        # Two replicas on the first device and one on the second.
        log = job.folder / "simulator.log"
        run(
            job,
            memory_mb=120,
            devices=2,
            log=str(log),
            device="cuda:0,cuda:0,cuda:1",
            engine="TbbFlow",
            memory_budget=MUCH,
        )
        require_equal(job.folder, expected)
        records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        released = [record["device"] for record in records if record["kind"] == "release"]
        assert 0 in released and 1 not in released


class TestDefault:
    """Jobs without the argument `cuda_graph`: graphs where memory allows, and no warning where it does not."""

    def memory_of(self, job: Site) -> dict[str, int]:
        timing = json.loads((job.folder / "timing.json").read_text(encoding="utf-8"))
        found: dict[str, int] = timing["settings"]["memory"]
        return found

    def test_captures(self, job: Site, expected: wire_cell.Arrays) -> None:
        seen = run(job, cuda_graph=None)
        require_equal(job.folder, expected)
        assert seen.report.all["replays"] >= EVENTS - 1
        timing = json.loads((job.folder / "timing.json").read_text(encoding="utf-8"))
        assert timing["settings"]["cuda_graph"] == "auto"
        assert "SPNGDeviceSection: " in seen.done.stdout and "-A cuda_graph=off" in seen.done.stdout

    def test_a_small_budget_takes_graphs_first(self, job: Site, expected: wire_cell.Arrays) -> None:
        seen = run(job, memory_mb=100, cuda_graph=None)
        require_equal(job.folder, expected)
        memory = self.memory_of(job)
        assert (memory["cuda_graphs"], memory["events_in_flight"]) == (0, 2)
        assert seen.report.all["replays"] == 0 and "warning" not in seen.done.stderr.lower()

    @pytest.mark.parametrize("graph", [None, "on"])
    def test_only_who_asks_is_warned(self, job: Site, expected: wire_cell.Arrays, graph: str | None) -> None:
        """The device has less memory than the plan assumes."""
        done = run(job, "-L", "warn", memory_mb=70, memory_budget=MUCH, cuda_graph=graph).done
        require_equal(job.folder, expected)
        assert ("no more are made" in done.stderr) == (graph == "on"), done.stderr


class TestPlan:
    def test_limits_graphs(self, job: Site, expected: wire_cell.Arrays) -> None:
        seen = run(job, memory_mb=110)
        require_equal(job.folder, expected)
        memory = json.loads((job.folder / "timing.json").read_text(encoding="utf-8"))["settings"]["memory"]
        assert (memory["cuda_graphs"], memory["events_in_flight"]) == (1, 1)
        assert memory["total_bytes"] <= 0.9 * 110e6
        assert seen.report.calls("cudaFree") == 0 and seen.report.all["replays"] >= EVENTS - 1
