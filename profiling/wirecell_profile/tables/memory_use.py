# SPDX-License-Identifier: Apache-2.0
"""Memory over time: allocations on devices, samples of the recorder, and leaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..errors import MissingData
from ..model.identity import process_of
from ..model.samples import recorder_samples
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns, table_of

EVENTS = "CUDA_GPU_MEMORY_USAGE_EVENTS"
OPERATIONS = {0: "Allocation", 1: "Deallocation"}


@dataclass
class Series:
    """A quantity over time [bytes]; each value holds until the next time."""

    name: str
    time: np.ndarray  # ns, ascending
    value: np.ndarray

    @property
    def peak(self) -> int:
        """Index of the first maximum."""
        return int(np.argmax(self.value))


@dataclass
class Allocation:
    """An allocation of device memory that was not freed during the recording."""

    start: int
    device: int
    kind: str
    address: int
    size: int
    name: str
    node: str = ""


@dataclass
class DeviceMemory:
    """Content of the allocation events of a file."""

    series: list[Series] = field(default_factory=list)
    left: list[Allocation] = field(default_factory=list)


@lru_cache(maxsize=1)  # several tables and charts of one profile need it
def device_memory(scope: Scope) -> DeviceMemory:
    """Read the allocation events, per device and kind of memory. Raise MissingData if the file has none.

    With --time earlier allocations count as 0: series are relative to the start of the selection.
    """
    profile = scope.profile
    profile.require(EVENTS)
    table = profile.table(EVENTS)
    kinds = profile.enumeration("ENUM_CUDA_DEV_MEM_EVENT_OPER", OPERATIONS)
    columns_ = (
        table.integers(name)
        for name in "start deviceId memKind virtualAddress bytes memoryOperationType globalPid".split()
    )
    names = table.text_column("name")
    result = DeviceMemory()
    held: dict[tuple, Allocation] = {}
    steps: dict[str, list[tuple[int, int]]] = {}
    rows = sorted(enumerate(zip(*(column.tolist() for column in columns_))), key=lambda row: row[1][0])
    for row, (start, device, memory, address, size, operation, process) in rows:
        if not scope.selection.covers(start):
            continue
        kind = profile.memory_kind(memory) or ""
        name = f"device {device} {kind}".strip()
        key = (process, device, address)
        if "dealloc" in kinds.get(operation, "").lower():
            freed = held.pop(key, None)
            if freed is None:  # allocated before the recording
                continue
            change = -freed.size
        else:
            change = size
            held[key] = Allocation(start, device, kind, address, size, names.text(row))
        steps.setdefault(name, []).append((start, change))
    for name, changes in steps.items():
        times, sizes = (np.array(part, dtype=np.int64) for part in zip(*changes))
        result.series.append(Series(name, times, np.cumsum(sizes)))
    for (process, *_), part in held.items():
        part.node = node_at(scope, part.start, process_of(process) if process != NULL else None)
    result.left = sorted(held.values(), key=lambda part: (-part.size, part.start))
    return result


def node_at(scope: Scope, time: int, process: int | None = None) -> str:
    """Return the node of the latest-begun call that runs at a time on any thread, of one process or of all, empty for none."""
    try:
        calls = scope.profile.node_calls
    except MissingData:
        return ""
    running = (calls.start <= time) & (calls.end >= time)
    if process is not None:
        running &= process_of(calls.thread) == process
    inside = np.flatnonzero(running)
    return calls.node.text(inside[np.argmax(calls.start[inside])]) if len(inside) else ""


def sampled(scope: Scope) -> list[Series]:
    """Read the recorder's samples in bytes. Raise MissingData if there are none.

    Quantities: resident memory of the process, memory of devices, allocated and reserved bytes of the caching
    allocator.
    """
    profile = scope.profile
    profile.require("SPNG_SAMPLE")
    series = []
    for one in recorder_samples(profile):
        inside = scope.selection.covers(one.time)
        if "bytes" in one.metric and inside.any():
            name = f"{one.source} {one.metric}"
            series.append(Series(name, one.time[inside], one.value[inside].astype(np.int64)))
    if not series:
        raise profile.missing("SPNG_SAMPLE")
    return series


def all_series(scope: Scope) -> list[Series]:
    """Read samples and allocation events. Raise MissingData if the file has neither."""
    found: list[Series] = []
    for read in (sampled, lambda scope: device_memory(scope).series):
        try:
            found += read(scope)
        except MissingData:
            continue
    if not found:
        raise scope.profile.missing("SPNG_SAMPLE", EVENTS)
    return found


def peaks(scope: Scope) -> Result:
    """Return for each quantity the maximum with its time and node, and the first and last value."""
    return table_of(
        all_series(scope),
        {
            "What": lambda one: one.name,
            "Points": lambda one: len(one.time),
            "Peak (B)": lambda one: int(one.value[one.peak]),
            "Peak at (ns)": lambda one: int(one.time[one.peak]),
            "Node then": lambda one: node_at(scope, int(one.time[one.peak])) or None,
            "First (B)": lambda one: int(one.value[0]),
            "Last (B)": lambda one: int(one.value[-1]),
        },
    )


def timeline(scope: Scope) -> Result:
    """Return all points of all quantities, by time."""
    rows = [
        (time, series.name, value)
        for series in all_series(scope)
        for time, value in zip(series.time.tolist(), series.value.tolist())
    ]
    return Result(columns("Time (ns), What, Value (B)"), sorted(rows))


def leaks(scope: Scope) -> Result:
    """Return device memory allocated but not freed during the recording, the largest first.

    Constants and variables of modules ("Device Static") are left out: the driver frees them with the module, and a
    program has thousands of them.

    The caching allocator of torch keeps its blocks, and programs may end without freeing: look for many
    blocks of one size.
    """
    return table_of(
        [part for part in device_memory(scope).left if not part.kind.endswith(" Static")],
        {
            "Size (B)": lambda part: part.size,
            "Allocated at (ns)": lambda part: part.start,
            "Device": lambda part: part.device,
            "Memory": lambda part: part.kind or None,
            "Address": lambda part: f"{part.address:#x}",
            "Node then": lambda part: part.node or None,
            "Name": lambda part: part.name or None,
        },
    )
