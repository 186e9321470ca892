# SPDX-License-Identifier: Apache-2.0
"""Rules for idle devices and for many small kernels."""

from __future__ import annotations

import numpy as np

from ..model.events import GRAPH, KERNEL, Operations
from ..model.grouping import group
from ..model.intervals import gaps
from ..model.profile import Profile
from ..model.projection import union_length
from ..model.selection import Scope
from ..tables.device_use import device_uses
from . import Found, Hit, Limits, rule


def _by_device(scope: Scope) -> list[tuple[int, np.ndarray]]:
    """Return (device, rows) of the selected operations, per process and device."""
    operations, rows = scope.profile.operations, scope.operation_rows
    parts = [rows[part] for part in group(operations.process[rows], operations.device[rows]).rows()]
    return [(int(operations.device[part[0]]), part) for part in parts]


@rule(
    "idle times of the device",
    "The host is late with the next launch. Remove host work, waits and copies between launches, launch ahead, use a "
    "CUDA graph, or work on several events at once.",
    "host-sampling",
)
def gpu_gaps(scope: Scope, limits: Limits) -> Found:
    """Find idle times between the first and last operation of a device, except while the profiler itself
    worked.

    The range of a hit is that of the operation after the gap, which was launched late.
    """
    operations = scope.profile.operations
    overhead = _overhead(scope.profile)
    hits = []
    for device, rows in _by_device(scope):
        found = gaps(operations.start[rows], operations.end[rows])
        for i in np.flatnonzero(found.duration > limits.gap).tolist():
            start, end = int(found.start[i]), int(found.end[i])
            if ((overhead[0] < end) & (overhead[1] > start)).any():
                continue
            after = int(rows[found.after[i]])
            note = f"device {device}, until {operations.short_name.text(after)}"
            hits.append(
                Hit(start, end - start, "idle", int(scope.projection.range_of_operation[after]), note=note)
            )
    return Found(hits)


def _overhead(profile: Profile) -> tuple[np.ndarray, np.ndarray]:
    if not profile.has("PROFILER_OVERHEAD"):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    table = profile.table("PROFILER_OVERHEAD")
    return table.integers("start"), table.integers("end")


@rule(
    "parts of the run with low utilisation",
    "Look at what the host does in this part; reading and writing of files can overlap with the device.",
    "kernel",
)
def gpu_time_util(scope: Scope, limits: Limits) -> Found:
    """Find chunks of the time from the first to the last operation whose sum of durations is under the limit.

    Neighbouring chunks are joined. The sum may exceed 100 % for simultaneous operations, as in nsys. The
    range of a hit is the one that launched most of its operations.
    """
    operations, hits = scope.profile.operations, []
    for device, rows in _by_device(scope):
        mine = operations.take(rows)
        extent = int(mine.end.max() - mine.start.min())
        chunks = min(limits.chunks, extent)  # chunks have at least 1 ns
        if not chunks:
            continue
        edges = np.linspace(0, extent, chunks + 1).round().astype(np.int64) + int(mine.start.min())
        busy = _busy_in(mine, edges)
        kernels = _busy_in(mine.take(np.isin(mine.kind, (KERNEL, GRAPH))), edges)
        low = busy / np.diff(edges) * 100 < limits.utilisation
        for first, last in _runs(low):
            start, end = int(edges[first]), int(edges[last])
            share = 100 * busy[first:last].sum() / (end - start)
            of_kernels = f", {100 * kernels[first:last].sum() / (end - start):.1f} % by kernels"
            range_row, inside = _main_range(scope, rows[(mine.end > start) & (mine.start < end)])
            hits.append(
                Hit(
                    start,
                    end - start,
                    f"chunks {first + 1}-{last} of {chunks}",
                    range_row,
                    _longest_kernel(operations, inside),
                    f"device {device}, {share:.1f} % busy{of_kernels if scope.profile.records_kernels else ''}",
                )
            )
    return Found(hits)


def _busy_in(operations: Operations, edges: np.ndarray) -> np.ndarray:
    """Return the sum of durations per chunk between neighbouring edges, in exact integers."""
    order_start, order_end = np.sort(operations.start) - edges[0], np.sort(operations.end) - edges[0]
    sums_start = np.append(0, np.cumsum(order_start))
    sums_end = np.append(0, np.cumsum(order_end))
    edges = edges - edges[0]
    begun, ended = np.searchsorted(order_start, edges, "right"), np.searchsorted(order_end, edges, "right")
    until = (
        begun * edges - sums_start[begun] - (ended * edges - sums_end[ended])
    )  # device time before each edge
    return np.diff(until)


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Return [first, last) of each run of True."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return list(zip(change[::2].tolist(), change[1::2].tolist()))


def _main_range(scope: Scope, rows: np.ndarray) -> tuple[int, np.ndarray]:
    """Return a range (row) of the name in which most of these operations were launched, and those operations.

    Return -1 and all operations if none was launched in a range.
    """
    around = scope.projection.range_of_operation[rows]
    inside, around = rows[around >= 0], around[around >= 0]
    if not len(around):
        return -1, rows
    names = scope.projection.ranges.name.codes[around]
    mine = names == np.bincount(names).argmax()
    return int(around[mine][0]), inside[mine]


def _longest_kernel(operations: Operations, rows: np.ndarray) -> int:
    """Return the longest kernel (row), -1 without kernels."""
    kernels = rows[operations.kind[rows] == KERNEL]
    return int(kernels[np.argmax(operations.duration[kernels])]) if len(kernels) else -1


@rule(
    "many short kernels in one range",
    "Each launch costs the host several microseconds, more than such a kernel runs. Replace the loop by operations on "
    "whole tensors, fuse kernels, or capture the range as a CUDA graph.",
    "storm",
)
def launch_storm(scope: Scope, limits: Limits) -> Found:
    """Find instances of ranges, without inner ranges, that launched many short kernels.

    The cost is the time from the first launch to the end of the last kernel. Kernels outside of all ranges
    are one hit per process and device; their cost is the time in which one of them runs or is being launched.
    """
    operations, projection = scope.profile.operations, scope.projection
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    rows = scope.operation_rows
    short = rows[(operations.kind[rows] == KERNEL) & (operations.duration[rows] < limits.short_kernel)]
    hits = []
    parts = group(projection.range_of_operation[short], operations.process[short], operations.device[short])
    for mine in (short[part] for part in parts.rows()):
        if len(mine) < limits.storm:
            continue
        launch = projection.call_of_operation[mine]
        launch = launch[launch >= 0]
        begun = np.concatenate([operations.start[mine], projection.calls.start[launch]])
        ended = np.concatenate([operations.end[mine], projection.calls.end[launch]])
        names = operations.short_name.codes[mine]
        usual = int(mine[np.flatnonzero(names == np.bincount(names).argmax())[0]])
        range_row = int(projection.range_of_operation[usual])
        note = (
            f"device {operations.device[usual]}, {len(mine):,} kernels under {limits.short_kernel / 1000:g} us, median "
            f"{np.median(operations.duration[mine]) / 1000:.2f} us, most often {operations.short_name.text(usual)}"
        )
        hits.append(
            Hit(
                int(begun.min()),
                int(operations.end[mine].max() - begun.min())
                if range_row >= 0
                else union_length(begun, ended),
                f"{len(mine)} launches",
                range_row,
                usual,
                note,
            )
        )
    return Found(hits)


@rule(
    "devices that mostly copy",
    "A device that copies counts as busy, but computes nothing. Copy less, keep data on the device, use pinned memory, "
    "and copy on another stream while kernels run.",
    "memory-backtrace",
)
def gpu_copies(scope: Scope, _: Limits) -> Found:
    """Find devices that are busy with copies only for most of their busy time."""
    scope.profile.require("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
    hits = []
    for use in device_uses(scope):
        only_copies = use.gpu_busy - use.kernel_busy
        if scope.profile.records_kernels and only_copies > use.gpu_busy / 2:
            shares = [100 * time / use.window.length for time in (use.gpu_busy, use.kernel_busy)]
            note = f"device {use.device}, {shares[0]:.1f} % of W busy, {shares[1]:.1f} % by kernels"
            hits.append(Hit(use.window.start, only_copies, "only copies run", note=note))
    return Found(hits)
