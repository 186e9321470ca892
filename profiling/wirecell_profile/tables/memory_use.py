"""Memory over time: the device's allocations, the recorder's samples, and what was never freed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import MissingData
from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns

EVENTS = "CUDA_GPU_MEMORY_USAGE_EVENTS"
OPERATIONS = {0: "Allocation", 1: "Deallocation"}
RESIDENT = "process resident_bytes"


@dataclass
class Series:
    """A quantity over time, in bytes; it holds from each time to the next."""

    name: str
    time: np.ndarray  # ns, ascending
    value: np.ndarray

    @property
    def peak(self) -> int:
        """Index of the first highest value."""
        return int(np.argmax(self.value))


@dataclass
class Allocation:
    """A piece of device memory that was not freed while the recording went on."""

    start: int
    device: int
    kind: str
    address: int
    size: int
    name: str
    node: str = ""


@dataclass
class DeviceMemory:
    """What the allocation events of a file say."""

    series: list[Series] = field(default_factory=list)
    left: list[Allocation] = field(default_factory=list)
    unknown_frees: int = 0  # of memory that was allocated before the recording


def device_memory(scope: Scope) -> DeviceMemory:
    """From the allocation events; per device and kind of memory. MissingData when the file has none. A selection by --time
    chooses events; what was allocated before counts as 0, so that series are relative to the start of the selection."""
    profile = scope.profile
    profile.require(EVENTS)
    table = profile.table(EVENTS)
    kinds = profile.enumeration("ENUM_CUDA_DEV_MEM_EVENT_OPER", OPERATIONS)
    columns_ = (
        table.integers(name)
        for name in (
            "start",
            "deviceId",
            "memKind",
            "virtualAddress",
            "bytes",
            "memoryOperationType",
            "globalPid",
        )
    )
    names = table.texts("name")  # our recorder spells them, nsys refers to StringIds
    first, last = scope.selection.time
    result = DeviceMemory()
    held: dict[tuple, Allocation] = {}
    steps: dict[str, list[tuple[int, int]]] = {}
    rows = sorted(enumerate(zip(*(column.tolist() for column in columns_))), key=lambda row: row[1][0])
    for row, (start, device, memory, address, size, operation, process) in rows:
        if (first is not None and start < first) or (last is not None and start >= last):
            continue
        kind = "" if memory == NULL else profile.memory_kinds.get(memory, f"kind {memory}")
        name = f"device {device} {kind}".strip()
        key = (process, device, address)
        if "dealloc" in kinds.get(operation, "").lower():
            freed = held.pop(key, None)
            if freed is None:
                result.unknown_frees += 1
                continue
            change = -freed.size
        else:
            change = size
            text = names.text(row)
            text = text if isinstance(text, str) else profile.strings.get(text, "")
            held[key] = Allocation(start, device, kind, address, size, text)
        steps.setdefault(name, []).append((start, change))
    for name, changes in steps.items():
        time, change = (np.array(part, dtype=np.int64) for part in zip(*changes))
        result.series.append(Series(name, time, np.cumsum(change)))
    result.left = sorted(held.values(), key=lambda part: (-part.size, part.start))
    for part in result.left:
        part.node = node_at(scope, part.start)
    return result


def node_at(scope: Scope, time: int) -> str:
    """The node whose call runs at a time on any thread, the latest one begun; empty for none or without node calls."""
    try:
        calls = scope.profile.node_calls
    except MissingData:
        return ""
    inside = np.flatnonzero((calls.start <= time) & (calls.end >= time))
    return calls.node.text(inside[np.argmax(calls.start[inside])]) if len(inside) else ""


def sampled(scope: Scope) -> list[Series]:
    """What the recorder sampled in bytes: resident memory of the process, memory of devices, the caching allocator's
    allocated and reserved bytes. MissingData when there are no such samples."""
    profile = scope.profile
    profile.require("SPNG_SAMPLE")
    table = profile.table("SPNG_SAMPLE")
    sources, metrics = table.texts("source").texts(), table.texts("metric").texts()
    names = np.array([f"{source} {metric}" for source, metric in zip(sources, metrics)])
    time, value = table.integers("t"), table.reals("value")
    first, last = scope.selection.time
    inside = (time >= (first if first is not None else time.min())) & (
        time < (last if last is not None else time.max() + 1)
    )
    series = []
    for name in dict.fromkeys(names.tolist()):
        rows = np.flatnonzero((names == name) & inside)
        if "bytes" in name and len(rows):
            rows = rows[np.argsort(time[rows], kind="stable")]
            series.append(Series(name, time[rows], value[rows].astype(np.int64)))
    if not series:
        raise profile.missing("SPNG_SAMPLE")
    return series


def all_series(scope: Scope) -> list[Series]:
    """Samples and allocation events together. MissingData when the file has neither."""
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
    """Per quantity its highest value, when that was and in which node, and the value at the end."""
    rows = []
    for series in all_series(scope):
        at = int(series.time[series.peak])
        rows.append(
            (
                series.name,
                len(series.time),
                int(series.value[series.peak]),
                at,
                node_at(scope, at) or None,
                int(series.value[0]),
                int(series.value[-1]),
            )
        )
    return Result(
        columns("What", "Points", "Peak (B)", "Peak at (ns)", "Node then", "First (B)", "Last (B)"), rows
    )


def timeline(scope: Scope) -> Result:
    """Every point of every quantity, by time."""
    rows = [
        (time, series.name, value)
        for series in all_series(scope)
        for time, value in zip(series.time.tolist(), series.value.tolist())
    ]
    return Result(columns("Time (ns)", "What", "Value (B)"), sorted(rows))


def leaks(scope: Scope) -> Result:
    """Device memory that was allocated and not freed within the recording, the largest first. The caching allocator of torch
    keeps its blocks, and a program may end without freeing: look for many of one size."""
    found = device_memory(scope)
    rows = [
        (
            part.size,
            part.start,
            part.device,
            part.kind or None,
            f"{part.address:#x}",
            part.node or None,
            part.name or None,
        )
        for part in found.left
    ]
    return Result(
        columns("Size (B)", "Allocated at (ns)", "Device", "Memory", "Address", "Node then", "Name"), rows
    )
