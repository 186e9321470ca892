# SPDX-License-Identifier: Apache-2.0
"""Snapshots of LibTorch's allocator (wire-cell --memory-snapshot), over the simulated CUDA runtime."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

EVENTS, TICKS = 2, 1200


@pytest.fixture(name="job", scope="module")
def fixture_job(site: Site) -> Site:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    return site


def snapshot(file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the segments, and the allocations of the only device that has any."""
    found = pickle.loads(file.read_bytes())
    (trace,) = filter(None, found["device_traces"])
    return found["segments"], trace


def test_a_run(job: Site) -> None:
    """Reserved memory is that of the simulator's allocations, and the blocks in use belong to the nodes."""
    file = job.folder / "memory.pickle"
    run = cuda_simulator.job(job.folder, job.flags, {}, "--memory-snapshot", file, emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    assert f"snapshot of the device memory in {file}\n" in run.done.stderr
    segments, trace = snapshot(file)
    assert len(segments) == run.report.calls("cudaMalloc") - run.report.calls("cudaFree")
    blocks = [block for segment in segments for block in segment["blocks"]]
    active = [block for block in blocks if block["state"].startswith("active")]
    assert sum(segment["total_size"] for segment in segments) == sum(block["size"] for block in blocks)
    assert all(any(frame["name"].startswith("spng::") for frame in block["frames"]) for block in active)
    actions = {entry["action"] for entry in trace}
    assert active and actions >= {"alloc", "segment_alloc", "free_completed"} and "oom" not in actions


def test_a_job_out_of_memory(job: Site) -> None:
    file = job.folder / "full.pickle"
    run = cuda_simulator.job(
        job.folder, job.flags, {"memory_budget": "1GB"}, "--memory-snapshot", file, memory_mb=25, emulate=0
    )
    assert run.done.returncode == 1 and "error: out of device memory" in run.done.stderr
    segments, trace = snapshot(file)
    assert any(entry["action"] == "oom" for entry in trace)
    assert 0 < sum(segment["total_size"] for segment in segments) <= 25e6


def test_jobs_that_cannot_have_one(job: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPNG_MEMORY_SNAPSHOT", "none.pickle")
    on_cpu = cuda_simulator.job(job.folder, job.flags, {"device": "cpu"}, emulate=0).done
    assert on_cpu.returncode == 2
    assert "--memory-snapshot does not apply" in on_cpu.stderr and "a job on cpu" in on_cpu.stderr
    assert not (job.folder / "none.pickle").exists()
