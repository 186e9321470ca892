# SPDX-License-Identifier: Apache-2.0
"""Busy and idle time of the devices in the window. Definitions: docs/profiling-reports.md.

A graph launch recorded as a whole counts as a kernel. Operations are cut at the ends of the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.events import MEMCPY, MEMSET, Operations
from ..model.grouping import percent
from ..model.intervals import Gaps, clip, gaps, time_at_once
from ..model.projection import union_length
from ..model.selection import Scope
from ..model.table import NULL
from ..model.window import Window, find_window
from ..output import Result, columns

# A queued operation starts one or two us after the previous one ended; longer gaps have another cause.
KERNEL_WAIT = 2_000


@dataclass
class DeviceUse:
    """Operations of one device in window W. Starts and ends outside of W are moved to its bounds.

    `launch` is the start of the launching API call, NULL if unknown.
    """

    device: int
    window: Window
    operations: Operations
    launch: np.ndarray

    @cached_property
    def is_copy(self) -> np.ndarray:
        """Mask of the memory copies and sets."""
        return np.isin(self.operations.kind, (MEMCPY, MEMSET))

    def _union(self, mask: np.ndarray) -> int:
        return union_length(self.operations.start[mask], self.operations.end[mask])

    @cached_property
    def gpu_busy(self) -> int:
        """Union of all operations [ns]."""
        return union_length(self.operations.start, self.operations.end)

    @cached_property
    def kernel_busy(self) -> int:
        """Union of the kernels [ns]."""
        return self._union(~self.is_copy)

    @cached_property
    def copy_busy(self) -> int:
        """Union of copies and sets [ns]."""
        return self._union(self.is_copy)

    @property
    def overlap(self) -> int:
        """Time in which a kernel and a copy or set run at once [ns]."""
        return self.kernel_busy + self.copy_busy - self.gpu_busy

    @cached_property
    def parallel(self) -> int:
        """Time in which two or more operations run at once [ns]."""
        return time_at_once(self.operations.start, self.operations.end, 2)

    @property
    def kernel_sum(self) -> int:
        """Sum of the durations of the kernels [ns]."""
        return int(self.operations.duration[~self.is_copy].sum())

    @property
    def copy_sum(self) -> int:
        """Sum of the durations of copies and sets [ns]."""
        return int(self.operations.duration[self.is_copy].sum())

    @property
    def concurrency(self) -> float:
        """Mean count of simultaneous operations while the device is busy."""
        return (self.kernel_sum + self.copy_sum) / self.gpu_busy if self.gpu_busy else 0.0

    @cached_property
    def gaps(self) -> Gaps:
        """The idle times between operations."""
        return gaps(self.operations.start, self.operations.end)

    def idle_classes(self, kernel_wait: int = KERNEL_WAIT) -> dict[str, int]:
        """Return idle time by cause [ns]; with gpu_busy the causes add up to the window.

        host wait: the operation after the gap was launched after the gap began, so the device had no work.
        kernel wait: it was launched before the gap, and the gap is at most `kernel_wait`. other wait: it was
        launched before the gap but waited longer (for an event or stream), or its launch is unknown. Times
        before the first and after the last operation are separate, because they often are input and output of
        files.
        """
        found = self.gaps
        launch = self.launch[found.after]
        host = (launch != NULL) & (launch > found.start)
        kernel = ~host & (launch != NULL) & (found.duration <= kernel_wait)
        length = found.duration
        return {
            "before the first operation": int(self.operations.start.min()) - self.window.start,
            "host wait": int(length[host].sum()),
            "kernel wait": int(length[kernel].sum()),
            "other wait": int(length[~host & ~kernel].sum()),
            "after the last operation": self.window.end - int(self.operations.end.max()),
        }


def device_uses(scope: Scope, window: Window | None = None) -> list[DeviceUse]:
    """Return one object per device with operations in the window.

    Raise MissingData if the file has no device operations.
    """
    window = window or find_window(scope)
    operations = scope.profile.operations.take(scope.operation_rows)
    call = scope.projection.call_of_operation[scope.operation_rows]
    starts = np.append(scope.projection.calls.start, NULL)
    rows, start, end = clip(operations.start, operations.end, window.start, window.end)
    operations, launch = operations.take(rows), starts[call[rows]]
    operations.start, operations.end = start, end
    return [
        DeviceUse(device, window, operations.take(mine), launch[mine])
        for device in np.unique(operations.device).tolist()
        for mine in [operations.device == device]
    ]


def utilisation(scope: Scope, kernel_wait: int = KERNEL_WAIT) -> Result:
    """Return one row per device and quantity: busy times, idle times by cause, concurrency, and ratios of
    notebooks."""
    rows = []

    def add(use: DeviceUse, name: str, time: int | None, about: str, ratio: float | None = None) -> None:
        share = None if time is None else percent(time, use.window.length)
        rows.append((use.device, name, time, share, ratio, about))

    kernels, copies = scope.profile.records_kernels, scope.profile.records_copies
    for use in device_uses(scope):
        add(use, "window", use.window.length, f"W: {use.window.what}")
        add(use, "gpu_busy", use.gpu_busy, "at least one operation runs (union); its share is gpu_util")
        if kernels:
            add(use, "kernel_busy", use.kernel_busy, "at least one kernel runs")
        if copies:
            add(use, "copy_busy", use.copy_busy, "at least one copy or set runs")
        if kernels and copies:
            add(use, "overlap", use.overlap, "kernels and copies at once: kernel_busy + copy_busy - gpu_busy")
        add(use, "parallel", use.parallel, "two or more operations at once, on different streams")
        for name, time in use.idle_classes(kernel_wait).items():
            add(use, f"idle: {name}", time, IDLE[name].format(kernel_wait / 1000))
        add(use, "concurrency", None, "sum of durations / gpu_busy", use.concurrency)
        for name, ratio, about in notebook_ratios(scope, use):
            add(use, name, None, about, ratio)
    return Result(columns("Device, Quantity, Time (ns), Share of W (%), Ratio:3, Definition"), rows)


IDLE = {
    "before the first operation": "start of W to the first operation",
    "host wait": "idle until something was launched: the host is late",
    "kernel wait": "idle up to {} us although something was launched",
    "other wait": "idle longer than that although something was launched, or launch unknown",
    "after the last operation": "last operation to the end of W",
}


def notebook_ratios(scope: Scope, use: DeviceUse) -> list[tuple[str, float, str]]:
    """Return the ratios that notebooks of LArTPC experiments plot (sums, not unions), without those that the
    file lacks."""
    kernels, copies = use.kernel_sum, use.copy_sum
    both = kernels + copies
    found = []
    if both and scope.profile.records_kernels and scope.profile.records_copies:
        found.append(("field: work fraction", kernels / both, "sum_k / (sum_k + sum_m)"))
        found.append(("field: I-O fraction", copies / both, "sum_m / (sum_k + sum_m)"))
    calls = scope.profile.or_empty("calls")
    api = int(calls.take(scope.call_rows).duration.sum()) if len(calls) else None
    if api is not None and both + api:
        found.append(
            (
                "field: utilisation 1",
                kernels / (both + api),
                "sum_k / (sum_k + sum_m + sum_api): no utilisation",
            )
        )
    system = scope.profile.or_empty("system_calls")
    waited = int(system.take(scope.system_call_rows).duration.sum()) if len(system) else None
    if api is not None and waited:
        found.append(("field: utilisation 2", (both + api) / waited, "(sum_k + sum_m + sum_api) / sum_osrt"))
    found.append(("field: utilisation 3", both / use.window.length, "(sum_k + sum_m) / W"))
    return found


def streams(scope: Scope) -> Result:
    """Return operations and busy time per stream."""
    rows = []
    for use in device_uses(scope):
        operations = use.operations
        for stream in np.unique(operations.stream).tolist():
            mine = operations.take(operations.stream == stream)
            copies = np.isin(mine.kind, (MEMCPY, MEMSET))
            busy = union_length(mine.start, mine.end)
            rows.append(
                (
                    use.device,
                    stream,
                    len(mine),
                    int((~copies).sum()) if scope.profile.records_kernels else None,
                    int(copies.sum()) if scope.profile.records_copies else None,
                    busy,
                    percent(busy, use.window.length),
                )
            )
    return Result(columns("Device, Stream, Operations, Kernels, Copies, Busy (ns), Share of W (%)"), rows)


def bus(scope: Scope) -> Result:
    """Return the bytes of copies by direction and kinds of memory.

    Throughput is bytes over the union of their times.
    """
    profile, rows = scope.profile, []
    profile.require("CUPTI_ACTIVITY_KIND_MEMCPY")
    for use in device_uses(scope):
        copies = use.operations.take(use.operations.kind == MEMCPY)
        keys = sorted(
            set(zip(copies.copy_kind.tolist(), copies.source_kind.tolist(), copies.target_kind.tolist()))
        )
        for kind, source, target in keys:
            mine = copies.take(
                (copies.copy_kind == kind) & (copies.source_kind == source) & (copies.target_kind == target)
            )
            known = mine.bytes[mine.bytes != NULL]
            size, busy = int(known.sum()), union_length(mine.start, mine.end)
            rows.append(
                (
                    use.device,
                    profile.copy_kinds.get(kind, f"kind {kind}"),
                    profile.memory_kind(source),
                    profile.memory_kind(target),
                    len(mine),
                    size,
                    busy,
                    size / busy if busy else None,
                )
            )
    return Result(
        columns("Device, Direction, From, To, Copies, Size (B), Busy (ns), Throughput (GB/s):2"), rows
    )
