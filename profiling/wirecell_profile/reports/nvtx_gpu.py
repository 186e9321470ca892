# SPDX-License-Identifier: Apache-2.0
"""Reports of NVTX ranges as seen on the device (definition in model/projection.py).

A range includes the operations of its children. Projected times may overlap, exceed the range's own time, and
include idle time of the device. Operations launched outside of ranges form one row without a name.
"""

from __future__ import annotations

import numpy as np

from ..model.events import STYLES, join_labels
from ..model.grouping import group, summarise
from ..model.identity import pid_of, tid_of
from ..model.projection import Projected
from ..model.selection import Scope
from ..model.table import label
from ..output import Result, columns
from . import Report
from .cuda_gpu import KERNEL_OPTIONS, kernel_labels


def require(scope: Scope) -> None:
    """Raise MissingData unless there are ranges, API calls and device operations."""
    for what in ("ranges", "calls", "operations"):
        getattr(scope.profile, what)


def unattributed(scope: Scope) -> np.ndarray:
    """Return the rows of selected operations launched by API calls outside of all ranges."""
    projection, rows = scope.projection, scope.operation_rows
    outside = (projection.range_of_operation[rows] < 0) & (projection.call_of_operation[rows] >= 0)
    return rows[outside & projection.is_counted[rows]]


def nvtx_gpu_proj_trace(scope: Scope, _: frozenset[str]) -> Result:
    """Return one row per range with device operations, by projected start.

    NumGPUOps counts launching calls (a graph launch once). Lvl and the stack include ranges of both styles on
    the same thread; only children with device operations count.
    """
    require(scope)
    projection, projected = scope.projection, scope.projected
    ranges = projection.ranges
    with_operations = projection.project().range
    parents = projection.parent[with_operations]
    children = np.bincount(parents[parents >= 0], minlength=len(ranges))
    stacks: dict[int, str] = {}
    rows = []
    for start, end, launches, i in _by_start(projected):
        thread, parent = int(ranges.thread[i]), int(projection.parent[i])
        rows.append(
            (
                ranges.name.text(i),
                start,
                end - start,
                int(ranges.start[i]),
                int(ranges.duration[i]),
                STYLES[ranges.style[i]],
                pid_of(thread),
                tid_of(thread),
                launches,
                int(projection.level[i]),
                int(children[i]),
                int(ranges.row[i]),
                int(ranges.row[parent]) if parent >= 0 else None,
                _stack(i, projection.parent, ranges.row, stacks),
            )
        )
    rows += _unnamed_row(scope)
    return Result(
        columns(
            "Name, Projected Start (ns), Projected Duration (ns), Orig Start (ns), "
            "Orig Duration (ns), Style, PID, TID, NumGPUOps, Lvl, NumChild, RangeId, ParentId, "
            "RangeStack"
        ),
        rows,
    )


def _by_start(projected: Projected) -> list[tuple[int, int, int, int]]:
    """Return (start, end, launches, range) by start, for equal starts by range."""
    order = np.lexsort((projected.range, projected.start))
    parts = (projected.start, projected.end, projected.launches, projected.range)
    return list(zip(*(part[order].tolist() for part in parts)))


def _stack(i: int, parent: np.ndarray, range_id: np.ndarray, known: dict[int, str]) -> str:
    """Return the ids of the ranges around a range and its own, each after a colon."""
    chain = []
    while i >= 0 and i not in known:
        chain.append(i)
        i = int(parent[i])
    above = known[i] if i >= 0 else ""
    for member in reversed(chain):
        above = known[member] = f"{above}:{int(range_id[member])}"
    return above


def _unnamed_row(scope: Scope) -> list[tuple]:
    """Return the row of operations outside of all ranges, if there are any."""
    rows = unattributed(scope)
    if not len(rows):
        return []
    operations = scope.profile.operations.take(rows)
    start = int(operations.start.min())
    launches = len(np.unique(scope.projection.call_of_operation[rows]))
    nothing = (None,) * 5
    return [("", start, int(operations.end.max()) - start, *nothing, launches, None, None, None, None, None)]


def nvtx_gpu_proj_sum(scope: Scope, _: frozenset[str]) -> Result:
    """Summarise the trace by range name and style."""
    trace = nvtx_gpu_proj_trace(scope, frozenset()).rows
    names, styles = label([row[0] for row in trace]), label([row[5] for row in trace])
    groups = group(names.codes, styles.codes)
    summary = summarise(np.array([row[2] for row in trace], dtype=np.int64), groups.of_row, len(groups))
    members = [[trace[row] for row in part.tolist()] for part in groups.rows()]
    rows = []
    alphabetical = sorted(range(len(groups)), key=lambda i: (members[i][0][0], members[i][0][5] or ""))
    for i in sorted(
        alphabetical, key=lambda i: -int(summary.total[i])
    ):  # equal totals, as for nested ranges, by name
        name, style = members[i][0][0], members[i][0][5]
        operations = sum(row[8] for row in members[i])
        count = len(members[i])
        host = (sum(row[4] for row in members[i]),) if style else (None,)
        position = (
            (sum(row[9] for row in members[i]) / count, sum(row[10] for row in members[i]) / count)
            if style
            else (None, None)
        )
        rows.append(
            (
                name,
                style,
                int(summary.total[i]),
                *host,
                count,
                *summary.cells(i),
                operations,
                operations / count,
                *position,
            )
        )
    return Result(
        columns(
            "Range, Style, Total Proj Time (ns), Total Range Time (ns), Range Instances, "
            "Proj Avg (ns), Proj Med (ns), Proj Min (ns), Proj Max (ns), Proj StdDev (ns), "
            "Total GPU Ops, Avg GPU Ops, Avg Range Lvl, Avg Num Child"
        ),
        rows,
    )


def nvtx_kern_sum(scope: Scope, options: frozenset[str]) -> Result:
    """Summarise kernels by range name, style, process, thread and kernel name, in order of range names.

    A kernel counts in every range of its stack. In nested ranges of one name it is one kernel, but its time
    counts twice.
    """
    require(scope)
    scope.profile.require("CUPTI_ACTIVITY_KIND_KERNEL")
    projection, ranges = scope.projection, scope.projection.ranges
    is_kernel = projection.is_kernel
    pairs = scope.pairs
    keep = is_kernel[pairs.operation]
    of_range, operation = pairs.range[keep], pairs.operation[keep]
    outside = unattributed(scope)
    outside = outside[is_kernel[outside]]
    operation = np.concatenate([operation, outside])
    of_range = np.concatenate([of_range, np.full(len(outside), -1)])
    inside = of_range >= 0
    thread = projection.calls.thread[projection.call_of_operation[operation]]
    names = join_labels([ranges.name.take(of_range[inside]), label([""] * len(outside))])
    style = np.where(inside, ranges.style[of_range] if len(ranges) else -1, -1)
    kernels = kernel_labels(scope, operation, options)
    groups = group(names.codes, style, thread, kernels.codes)
    count, of_row = len(groups), groups.of_row
    summary = summarise(scope.profile.operations.duration[operation], of_row, count)
    instances = _different(of_row, of_range, count)
    different = _different(of_row, operation, count)
    order = sorted(range(count), key=lambda i: (names.text(int(groups.first[i])), -int(summary.total[i])))
    rows = []
    for i in order:
        first = groups.first[i]
        known = style[first] >= 0
        rows.append(
            (
                names.text(first),
                STYLES[style[first]] if known else None,
                pid_of(int(thread[first])),
                tid_of(int(thread[first])),
                int(instances[i]) if known else None,
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


REPORTS = [
    Report(
        "nvtx_gpu_proj_trace",
        "NVTX ranges projected on the device, one by one",
        nvtx_gpu_proj_trace,
        ("nvtxgpuproj",),
    ),
    Report("nvtx_gpu_proj_sum", "NVTX ranges projected on the device, by name", nvtx_gpu_proj_sum),
    Report(
        "nvtx_kern_sum",
        "kernels by the NVTX ranges around their launch",
        nvtx_kern_sum,
        ("nvtxkernsum",),
        KERNEL_OPTIONS,
    ),
]
