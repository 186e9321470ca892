# SPDX-License-Identifier: Apache-2.0
"""The cost of one event on a device, counted exactly by the simulated CUDA runtime.

counts.json has the numbers of each mode for the small detector. A change that changes them must update the file:

    .venv/bin/python -m tests.cuda_simulator.counts
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support import cuda_simulator, wire_cell
from tests.support.small_site import Site

FILE = Path(__file__).with_name("counts.json")
TICKS = 600
FIRST, LAST = 3, 5  # runs of these many events; the difference is what later events cost

MODES: dict[str, dict[str, Any]] = {
    "none": {"model": "none"},
    "none, cuda_graph": {"model": "none", "cuda_graph": "on"},
    "none, float64": {"model": "none", "dtype": "float64"},
    "none, coherent filter": {"model": "none", "noise_filter": "coherent"},
    "network": {"model": wire_cell.DATA / "dnnroi.ts"},
    "network, fast": {"model": wire_cell.DATA / "dnnroi.ts", "precision": "fast"},
    "network, cuda_graph": {"model": wire_cell.DATA / "dnnroi.ts", "cuda_graph": "on"},
}
WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize")


def counted(report: cuda_simulator.Report) -> Counter[str]:
    """Return the numbers of a run that depend on its work only, not on the order of its threads."""
    kernels: dict[str, int] = report.all["kernels"]
    transforms = sum(count for name, count in kernels.items() if name.startswith("cufft"))
    numbers = Counter(
        {
            "kernels": sum(kernels.values()) - transforms,
            "transforms": transforms,
            "launches of graphs": report.calls("cudaGraphLaunch"),
            "operations in graphs": report.all["replayed_operations"],
            "allocations": report.calls("cudaMalloc"),
            "allocations of page-locked memory": report.calls("cudaHostAlloc"),
            "page-locked bytes": report.all["page_locked_peak_bytes"],
            "copies of pageable memory": report.all["waits"].get("cudaMemcpyAsync", 0),
            "waits of the host": sum(report.all["waits"].get(name, 0) for name in WAITS),
        }
    )
    numbers["bytes read"], numbers["bytes written"] = report.traffic()
    for direction in ("to_device", "to_host", "on_device", "fill"):
        numbers[f"{direction}: operations"], numbers[f"{direction}: bytes"] = report.copies(direction)
    return numbers


def run_events(site: Site, mode: dict[str, Any], events: int) -> cuda_simulator.Report:
    """Run a job whose events do not overlap, without the emulator; return its report."""
    one_by_one = {"events_in_flight": 1, "overlap_files": "false", "nevents": events}
    run = cuda_simulator.job(site.folder, site.flags, {**one_by_one, **mode}, emulate=0)
    assert run.done.returncode == 0, run.done.stderr
    run.report.check()
    return run.report


def of_mode(site: Site, mode: dict[str, Any]) -> dict[str, Any]:
    """Return the cost of an event after the first ones, and of a start with those."""
    first, last = (counted(run_events(site, mode, events)) for events in (FIRST, LAST))
    event: dict[str, float] = {
        name: (last[name] - first[name]) / (LAST - FIRST) for name in last if last[name] != first[name]
    }
    return {"event": event, f"start and {FIRST} events": {name: first[name] for name in first if first[name]}}


def write_frames(site: Site) -> None:
    wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(LAST, TICKS))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = Site.at(Path(folder))
        write_frames(site)
        counts = {name: of_mode(site, mode) for name, mode in MODES.items()}
    FILE.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
