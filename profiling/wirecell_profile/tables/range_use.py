# SPDX-License-Identifier: Apache-2.0
"""Use per range on host and device: nsys's projection and the busy share of it."""

from __future__ import annotations

import numpy as np

from ..model.events import STYLES
from ..model.grouping import group, percent
from ..model.identity import tid_of
from ..model.intervals import disjoint_parts, gaps, union_by_owner
from ..model.nodes import is_run
from ..model.projection import Projection
from ..model.selection import Scope
from ..model.window import find_window
from ..output import Result, columns
from .owner_use import (
    ApiWork,
    DeviceWork,
    api_work,
    device_cells,
    device_columns,
    device_work,
    operations_of,
    queue_times,
)

CPU_GAP = 10_000  # ns; shorter gaps are overhead of the executor
MAX_GAPS = 20
RANGES_AT_ONCE, CALLS_AT_ONCE = 500_000, 100_000  # more need too much memory


def _by_name(scope: Scope) -> list[tuple[str, str, np.ndarray]]:
    """Return (name, style, rows of profile.ranges) of the selected ranges, in order of first appearance.

    Names are without torch's numbers (Ranges.folded).
    """
    ranges, rows = scope.profile.ranges, scope.range_rows
    parts = [rows[part] for part in group(ranges.folded.codes[rows], ranges.style[rows]).rows()]
    return [(ranges.folded.text(part[0]), STYLES[ranges.style[part[0]]], part) for part in parts]


def times(scope: Scope) -> Result:
    """Return host time per range: inclusive, exclusive, of the first instance by start, and the median of the
    others."""
    window = find_window(scope)
    inside = scope.projection.exclusive_within(window.start, window.end)
    ranges, exclusive = scope.profile.ranges, scope.projection.exclusive  # after the other, to save memory
    rows = []
    for name, style, mine in _by_name(scope):
        mine = mine[np.argsort(ranges.start[mine], kind="stable")]
        own, full = exclusive[mine], ranges.duration[mine]
        rows.append(
            (
                name,
                style,
                len(mine),
                int(full.sum()),
                int(own.sum()),
                percent(int(inside[mine].sum()), window.length),
                float(full.mean()),
                int(full.min()),
                int(full.max()),
                int(full[0]),
                float(np.median(full[1:])) if len(full) > 1 else None,
            )
        )
    rows.sort(key=lambda row: -row[4])
    return Result(
        columns(
            "Range, Style, Instances, Inclusive (ns), Exclusive (ns), Share of W (%), Avg (ns), "
            "Min (ns), Max (ns), First (ns), Later median (ns)"
        ),
        rows,
    )


def devices(scope: Scope) -> Result:
    """Return device work per range, including its children, for ranges with device operations.

    Raise MissingData if the file lacks ranges, API calls or device operations.
    """
    scope.profile.operations, scope.profile.calls  # noqa: B018  raise MissingData
    named = _by_name(scope)
    name_of = np.full(len(scope.profile.ranges), -1, dtype=np.int32)
    for index, (_, _, mine) in enumerate(named):
        name_of[mine] = index
    work, own = _device_work(scope, name_of, len(named)), _exclusive_busy(scope, name_of, len(named))
    api, queue = _api_work(scope.projection, name_of, len(named)), queue_times(scope)
    pairs = scope.pairs
    split = operations_of(name_of[pairs.range], pairs.operation, list(np.arange(len(named))), len(named))
    rows = []
    copies = scope.profile.records_copies
    for index in np.flatnonzero(work.operations).tolist():
        name, style, mine = named[index]
        cells = device_cells(work, api, index, len(mine), queue[split[index]], own, copies, with_kernels=True)
        rows.append((name, style, len(mine), *cells))
    rows.sort(key=lambda row: -row[7])
    heads = device_columns("instance", "gpu_excl (ns)", "upstream_eff (%), ")
    return Result(columns("Range, Style, Instances", heads), rows)


def _device_work(scope: Scope, name_of: np.ndarray, names: int) -> DeviceWork:
    """Return the sum of the device work of the ranges of each name."""
    total, pairs, projection = DeviceWork.nothing(names), scope.pairs, scope.projection
    ranges = len(name_of)
    for first in range(0, ranges, RANGES_AT_ONCE):
        begin, end = np.searchsorted(pairs.range, (first, first + RANGES_AT_ONCE)).tolist()
        owner, operation = pairs.range[begin:end] - first, pairs.operation[begin:end]
        owners = min(RANGES_AT_ONCE, ranges - first)
        work = device_work(projection.operations, projection.call_of_operation, owner, operation, owners)
        used = np.flatnonzero(work.operations)
        total.add(
            DeviceWork(**{name: part[used] for name, part in vars(work).items()}), name_of[used + first]
        )
    return total


def _api_work(projection: Projection, name_of: np.ndarray, names: int) -> ApiWork:
    """Return the sum of the API times of the ranges of each name.

    Parts of the calls that do not overlap add up.
    """
    total, calls = ApiWork.nothing(names), projection.calls
    for part in disjoint_parts(calls.start, calls.end, calls.thread, CALLS_AT_ONCE):
        of_range, of_call = projection.call_pairs(part)
        selected = name_of[of_range] >= 0
        owners, owner = np.unique(of_range[selected], return_inverse=True)
        total.add(api_work(calls, owner, of_call[selected], len(owners)), name_of[owners])
    return total


def _exclusive_busy(scope: Scope, name_of: np.ndarray, names: int) -> np.ndarray:
    """Return for each name the sum over its ranges of the union of the operations launched in a range but in
    no range inside of it."""
    operations, rows = scope.profile.operations, scope.operation_rows
    around = scope.projection.range_of_operation[rows]
    inside = (around >= 0) & (name_of[around] >= 0)
    rows, (owners, owner) = rows[inside], np.unique(around[inside], return_inverse=True)
    busy = union_by_owner(operations.start[rows], operations.end[rows], owner, len(owners))
    total = np.zeros(names, dtype=np.int64)
    np.add.at(total, name_of[owners], busy)
    return total


def cpu_gaps(scope: Scope, shortest: int = CPU_GAP) -> Result:
    """Return gaps between the first and last range of each thread in window W, of at least `shortest`.

    The range `run` and ranges of events in flight do not cover gaps. Rows: the sum of all gaps per thread,
    then the widest gaps.
    """
    window = find_window(scope)
    ranges, rows = scope.profile.ranges, scope.range_rows
    counted = ranges.on_one_thread & ~is_run(ranges) & ~ranges.category.matching("event".__eq__)
    rows = rows[(counted & (ranges.end > window.start) & (ranges.start < window.end))[rows]]
    names = scope.profile.thread_names
    sums, widest = [], []
    by_thread = [rows[part] for part in group(ranges.thread[rows]).rows()]
    for mine in sorted(by_thread, key=lambda mine: int(ranges.thread[mine[0]])):
        start, end, thread = ranges.start[mine], ranges.end[mine], int(ranges.thread[mine[0]])
        found = gaps(start, end)
        long = np.flatnonzero(found.duration >= shortest)
        title = f"{names.get(thread) or 'thread'} {tid_of(thread)}"
        extent = int(end.max() - start.min())
        total = int(found.duration[long].sum())
        sums.append((title, "all", len(long), None, total, percent(total, extent), None, None))
        widest += [
            (
                title,
                "one",
                None,
                int(found.start[i]),
                int(found.duration[i]),
                percent(int(found.duration[i]), extent),
                ranges.name.text(mine[found.before[i]]),
                ranges.name.text(mine[found.after[i]]),
            )
            for i in long.tolist()
        ]
    widest.sort(key=lambda row: -row[4])
    return Result(
        columns("Thread, Kind, Gaps, Start (ns), Duration (ns), Share of thread (%), After, Before"),
        sums + widest[:MAX_GAPS],
    )
