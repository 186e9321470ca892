# SPDX-License-Identifier: Apache-2.0
"""The cost of the default event (2560 channels x 6000 ticks, no network) on a device, node by node, from the log of
the simulated CUDA runtime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.frames import copies_of_frame
from tests.cuda_simulator.simulator_log import Record, SimulatorLog
from tests.support import cuda_simulator, wire_cell

EVENTS = 4  # the first calls the nodes one by one, the second captures a graph, the third is counted
# Kernels that touch only the samples inside ROIs of the tensors that they read or write. The simulator knows the extent
# of a tensor only; the first copy to the host has room for all these samples.
INSIDE_ROIS = {
    "compact_regions_linear_float32": ("read", "written"),
    "compact_regions_restored_float32": ("written",),
    "bend_negative_float32": ("written",),
    "gather_rows_float32": ("read", "written"),
}
WAITS = ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize")
ALLOCATIONS = ("cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost")


@dataclass
class Cost:
    """Operations of a device, and bytes. traffic: of its memory, without transfers."""

    kernels: int = 0
    transforms: int = 0
    copies: int = 0
    read: int = 0
    written: int = 0
    uploads: int = 0
    upload_bytes: int = 0
    download_bytes: int = 0

    @property
    def launches(self) -> int:
        """Operations on the device: kernels, transforms, copies on the device and fills."""
        return self.kernels + self.transforms + self.copies

    @property
    def traffic(self) -> int:
        return self.read + self.written

    def add(self, record: Record) -> None:
        """Count an operation, or the traffic of an operator of LibTorch."""
        self.read += record["read"]
        self.written += record["written"]
        self.kernels += record["kind"] == "kernel"
        self.transforms += record["kind"] == "transform"
        self.copies += record["kind"] in ("copy_on_device", "fill")
        if record["kind"] == "copy_to_device":
            self.uploads += 1
            self.upload_bytes += record["bytes"]
        elif record["kind"] == "copy_to_host":
            self.download_bytes += record["bytes"]


@dataclass(frozen=True)
class EventCost:
    """One event. nodes: in the order of their work; calls: of the CUDA runtime, by name."""

    nodes: dict[str, Cost]
    calls: Counter[str]
    uploads: list[int]  # bytes of each
    graph_launches: int

    @property
    def total(self) -> Cost:
        total = Cost()
        for cost in self.nodes.values():
            for name, value in vars(cost).items():
                setattr(total, name, getattr(total, name) + value)
        return total

    def count(self, names: Iterable[str]) -> int:
        """Return the number of calls with one of these names."""
        return sum(self.calls[name] for name in names)


def is_counted(record: Record) -> bool:
    return "read" in record


def as_touched(record: Record, inside_rois: int) -> Record:
    """Return the record with the bytes that its kernel touches of its tensors, whose extent the simulator counts.

    inside_rois  room for the samples inside ROIs
    """
    if record["name"] == "interpolate_rows_float32":  # rows of single bad channels: none in the default event
        return {**record, "written": 0}
    if record["name"] == "join_neighbours":  # three of all levels, the ROIs and two confirmations; two masks
        return {**record, "read": 3 * record["written"]}
    inside = INSIDE_ROIS.get(record["name"], ())
    return {**record, **{direction: min(record[direction], inside_rois) for direction in inside}}


def third_event(log: SimulatorLog) -> EventCost:
    """Return the cost from the upload of the third event to that of the fourth one."""
    uploaded = {i: each["bytes"] for i, each in enumerate(log.records) if each["kind"] == "copy_to_device"}
    starts = [index for index, size in uploaded.items() if size == max(uploaded.values())]
    assert len(starts) >= EVENTS, "the log lacks the uploads of frames"
    records = log.records[starts[-2] : starts[-1]]
    nodes: dict[str, Cost] = {}
    inside_rois = sum(record["bytes"] for record in records if record["kind"] == "copy_to_host")
    for record in filter(is_counted, records):
        nodes.setdefault(record["range"], Cost()).add(as_touched(record, inside_rois))
    calls = Counter(record["name"].rpartition("_v")[0] for record in records if record["kind"] == "call")
    uploads = [record["bytes"] for record in records if record["kind"] == "copy_to_device"]
    return EventCost(nodes, calls, uploads, calls["cudaGraphLaunch"])


def run(folder: Path, frames: Path, *, cuda_graph: str) -> EventCost:
    """Run the job on copies of the default event; return the cost of one."""
    log = folder / f"graph-{cuda_graph}.log"
    arguments = {
        "input": frames,
        "output": "signal.tar",
        "nevents": EVENTS,
        "events_in_flight": 1,
        "overlap_files": "false",
        "cuda_graph": cuda_graph,
    }
    done = cuda_simulator.job(folder, [], arguments, emulate=0, log=log, ranges=True)
    assert done.done.returncode == 0, done.done.stderr
    done.report.check()
    return third_event(SimulatorLog.read(log))


def write_frames(folder: Path) -> Path:
    """Write the events of a run, not compressed."""
    return copies_of_frame(wire_cell.ADC, EVENTS, folder)
