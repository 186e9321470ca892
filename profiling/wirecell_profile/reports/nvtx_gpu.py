# SPDX-License-Identifier: Apache-2.0
"""Reports of NVTX ranges as seen on the device (definition in model/projection.py).

A range includes the operations of its children. Projected times may overlap, exceed the range's own time, and
include idle time of the device. In the trace, operations launched outside of ranges form one row without a name.
"""

from __future__ import annotations

import numpy as np

from ..model.events import STYLES
from ..model.grouping import by_total, group, summarise
from ..model.identity import pid_of, tid_of
from ..model.projection import Projection
from ..model.selection import Scope
from ..model.table import NULL, Labels
from ..output import Result, columns
from . import list_of, listed, report
from .cuda_gpu import kernel_labels
from .nvtx import range_stacks


def require(scope: Scope) -> None:
    """Raise MissingData unless there are ranges, API calls and device operations."""
    for what in ("ranges", "calls", "operations"):
        getattr(scope.profile, what)


def unattributed(scope: Scope) -> np.ndarray:
    """Return the rows of selected operations launched by API calls outside of all ranges."""
    projection, rows = scope.projection, scope.operation_rows
    outside = (projection.range_of_operation[rows] < 0) & (projection.call_of_operation[rows] >= 0)
    return rows[outside & projection.is_counted[rows]]


@report("NVTX ranges projected on the device, one by one", "nvtxgpuproj")
def nvtx_gpu_proj_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per range with device operations, in the order of their ids.

    NumGPUOps counts launching calls (a graph launch once). Lvl and the stack include ranges of both styles on
    the same thread; only children with device operations count.
    """
    require(scope)
    projection, projected = scope.projection, scope.projected
    ranges = projection.ranges
    rows = projected.range
    result = list_of(
        np.argsort(ranges.row[rows]),
        {
            "Name": ranges.name.take(rows),
            "Projected Start (ns)": projected.start,
            "Projected Duration (ns)": projected.end - projected.start,
            "Orig Start (ns)": ranges.start[rows],
            "Orig Duration (ns)": ranges.duration[rows],
            "Style": [STYLES[style] for style in ranges.style[rows].tolist()],
            "PID": pid_of(ranges.thread[rows]),
            "TID": tid_of(ranges.thread[rows]),
            "NumGPUOps": projected.launches,
            "Lvl": projection.level[rows],
            "NumChild": _children(projection)[rows],
            "RangeId": ranges.row[rows],
            "ParentId": np.append(ranges.row, NULL)[projection.parent[rows]],
            "RangeStack": listed(range_stacks(ranges, projection.parent), rows),
        },
    )
    result.rows[:0] = _unnamed_row(scope)
    return result


def _children(projection: Projection) -> np.ndarray:
    """Return for each range the count of its children that have device operations."""
    parents = projection.parent[projection.project().range]
    return np.bincount(parents[parents >= 0], minlength=len(projection.ranges))


def _unnamed_row(scope: Scope) -> list[tuple]:
    """Return the row of operations outside of all ranges, if there are any.

    As in nsys, process and thread are those of the operation that ended last.
    """
    rows = unattributed(scope)
    if not len(rows):
        return []
    operations, call = scope.profile.operations.take(rows), scope.projection.call_of_operation[rows]
    start, end = int(operations.start.min()), int(operations.end.max())
    thread = int(scope.projection.calls.thread[call[operations.end.argmax()]])
    launches = len(np.unique(call))
    host, position = (None,) * 3, (None, 0, None, None, None)
    return [("", start, end - start, *host, pid_of(thread), tid_of(thread), launches, *position)]


@report("NVTX ranges projected on the device, by name")
def nvtx_gpu_proj_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise the ranges of the trace by name and style."""
    require(scope)
    projection, projected = scope.projection, scope.projected
    ranges = projection.ranges.take(projected.range)
    groups = group(ranges.name.codes, ranges.style)
    count, of_row = len(groups), groups.of_row
    summary = summarise(projected.end - projected.start, of_row, count)
    host = summarise(ranges.duration, of_row, count)
    launches = summarise(projected.launches, of_row, count)
    level = summarise(projection.level[projected.range], of_row, count)
    children = summarise(_children(projection)[projected.range], of_row, count)
    rows = [
        (
            ranges.name.text(groups.first[i]),
            STYLES[ranges.style[groups.first[i]]],
            int(summary.total[i]),
            int(host.total[i]),
            int(summary.count[i]),
            *summary.cells(i),
            int(launches.total[i]),
            *(float(part.mean[i]) for part in (launches, level, children)),
        )
        for i in by_total(summary, groups, ranges.name.ranks(), ranges.style)
    ]
    return Result(
        columns(
            "Range, Style, Total Proj Time (ns), Total Range Time (ns), Range Instances, "
            "Proj Avg (ns), Proj Med (ns), Proj Min (ns), Proj Max (ns), Proj StdDev (ns), "
            "Total GPU Ops, Avg GPU Ops, Avg Range Lvl, Avg Num Child"
        ),
        rows,
    )


@report("kernels by the NVTX ranges around their launch", "nvtxkernsum", ("base", "mangled"))
def nvtx_kern_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise kernels by range name, style, process, thread and kernel name, in order of range names.

    A kernel counts in every range of its stack. In nested ranges of one name it is one kernel, but its time
    counts twice. Kernels outside of ranges have an empty range name; without known call, neither process nor
    thread.
    """
    require(scope)
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    projection, ranges = scope.projection, scope.projection.ranges
    pairs = scope.pairs
    keep = projection.is_kernel[pairs.operation]
    selected = scope.operation_rows[projection.is_kernel[scope.operation_rows]]
    outside = selected[projection.range_of_operation[selected] < 0]
    operation = np.concatenate([pairs.operation[keep], outside])
    of_range = np.concatenate([pairs.range[keep], np.full(len(outside), -1)])
    thread = np.append(projection.calls.thread, NULL)[projection.call_of_operation[operation]]
    names = Labels(np.append(ranges.name.codes, -1)[of_range], ranges.name.names)
    style = np.append(ranges.style, -1)[of_range]
    kernels = kernel_labels(scope, operation, options)
    groups = group(names.codes, style, thread, kernels.codes)
    count, of_row = len(groups), groups.of_row
    summary = summarise(scope.profile.operations.duration[operation], of_row, count)
    instances = _different(of_row[of_range >= 0], of_range[of_range >= 0], count)
    different = _different(of_row, operation, count)
    keys = [part[groups.first] for part in (names.ranks(), thread, style, kernels.ranks())]
    rows = []
    for i in np.lexsort((keys[3], keys[2], -summary.total, keys[1], keys[0])):
        first = groups.first[i]
        of_thread = int(thread[first])
        rows.append(
            (
                names.text(first),
                STYLES[style[first]] if style[first] >= 0 else None,
                *((None, None) if of_thread == NULL else (pid_of(of_thread), tid_of(of_thread))),
                int(instances[i]),
                int(different[i]),
                int(summary.total[i]),
                *summary.cells(i),
                kernels.text(first),
            )
        )
    return Result(
        columns(
            "NVTX Range, Style, PID, TID, NVTX Inst, Kern Inst, Total Time (ns), Avg (ns), "
            "Med (ns), Min (ns), Max (ns), StdDev (ns), Kernel Name"
        ),
        rows,
    )


def _different(of_row: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """Return the count of distinct values per group."""
    if not len(of_row):
        return np.zeros(groups, dtype=np.int64)
    return np.bincount(np.unique(np.stack([of_row, values]), axis=1)[0], minlength=groups)
