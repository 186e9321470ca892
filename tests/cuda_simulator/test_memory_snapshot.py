# SPDX-License-Identifier: Apache-2.0
"""Snapshots of LibTorch's allocator (wire-cell --memory-snapshot), over the simulated CUDA runtime, as
`wirecell-profile memory --snapshot` reads them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from wirecell_profile.cli import main

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

pytestmark = cuda_simulator.needs_simulator

EVENTS, TICKS = 2, 1200


@pytest.fixture(name="job", scope="module")
def fixture_job(site: Site) -> Site:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    return site


def tables(file: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["memory", "--snapshot", str(file), "-f", "json"]) == 0
    return json.loads(capsys.readouterr().out)["tables"]


def test_a_run(job: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Reserved memory is that of the simulator's allocations, and the peak belongs to the nodes."""
    file = job.folder / "memory.pickle"
    run = cuda_simulator.job(job.folder, job.flags, {}, "--memory-snapshot", file, emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    assert f"snapshot of the device memory in {file}\n" in run.done.stderr
    found = tables(file, capsys)
    (device,) = found["devices"]
    assert device["Segments"] == run.report.calls("cudaMalloc") - run.report.calls("cudaFree")
    assert device["Peak reserved (B)"] >= device["Reserved (B)"] > device["Active (B)"] > 0
    assert device["Peak requested (B)"] == sum(row["Size (B)"] for row in found["at-peak"])
    assert device["Out of memory"] == 0
    for table in ("at-peak", "blocks"):
        assert found[table][0]["Allocated by"].startswith("spng::")


def test_a_job_out_of_memory(job: Site, capsys: pytest.CaptureFixture[str]) -> None:
    file = job.folder / "full.pickle"
    run = cuda_simulator.job(
        job.folder, job.flags, {"memory_budget": "1GB"}, "--memory-snapshot", file, memory_mb=25, emulate=0
    )
    assert run.done.returncode == 1 and "error: out of device memory" in run.done.stderr
    (device,) = tables(file, capsys)["devices"]
    assert device["Out of memory"] >= 1 and 0 < device["Peak reserved (B)"] <= 25e6


def test_jobs_that_cannot_have_one(job: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPNG_MEMORY_SNAPSHOT", "none.pickle")
    on_cpu = cuda_simulator.job(job.folder, job.flags, {"device": "cpu"}, emulate=0).done
    assert on_cpu.returncode == 2
    assert "--memory-snapshot does not apply" in on_cpu.stderr and "a job on cpu" in on_cpu.stderr
    assert not (job.folder / "none.pickle").exists()
