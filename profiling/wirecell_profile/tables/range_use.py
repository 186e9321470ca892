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
    api_work,
    device_cells,
    device_columns,
    device_work,
    operations_of,
    queue_times,
)

CPU_GAP = 10_000  # ns; shorter gaps are overhead of the executor
MAX_GAPS = 20
CALLS_AT_ONCE = 100_000  # more need too much memory


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
    ranges, exclusive = scope.profile.ranges, scope.projection.exclusive
    window = find_window(scope)
    inside = scope.projection.exclusive_within(window.start, window.end)
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
    ranges, projection = scope.profile.ranges, scope.projection
    work = device_work(
        projection.operations,
        projection.call_of_operation,
        scope.pairs.range,
        scope.pairs.operation,
        len(ranges),
    )
    api = _api_work(projection, len(ranges))
    own = _exclusive_busy(scope)
    queue = queue_times(scope)
    rows = []
    copies = scope.profile.records_copies
    named = [part for part in _by_name(scope) if work.operations[part[2]].any()]
    parts = [mine for _, _, mine in named]
    split = operations_of(scope.pairs.range, scope.pairs.operation, parts, len(ranges))
    for (name, style, mine), inside in zip(named, split):
        cells = device_cells(work, api, mine, queue[inside], own, copies, with_kernels=True)
        rows.append((name, style, len(mine), *cells))
    rows.sort(key=lambda row: -row[7])
    heads = device_columns("instance", "gpu_excl (ns)", "upstream_eff (%), ")
    return Result(columns("Range, Style, Instances", heads), rows)


def _api_work(projection: Projection, owners: int) -> ApiWork:
    """Return the API time within each range, in parts of the calls that do not overlap: their unions add up."""
    calls, work = projection.calls, ApiWork(*np.zeros((2, owners), dtype=np.int64))
    for part in disjoint_parts(calls.start, calls.end, calls.thread, CALLS_AT_ONCE):
        inside = api_work(calls, *projection.call_pairs(part), owners)
        work.api += inside.api
        work.waiting += inside.waiting
    return work


def _exclusive_busy(scope: Scope) -> np.ndarray:
    """Return for each range the union of the operations launched in it but in no range inside of it."""
    rows = scope.operation_rows
    owner = scope.projection.range_of_operation[rows]
    mine = scope.profile.operations.take(rows[owner >= 0])
    return union_by_owner(mine.start, mine.end, owner[owner >= 0], len(scope.profile.ranges))


def cpu_gaps(scope: Scope, shortest: int = CPU_GAP) -> Result:
    """Return gaps between the first and last range of each thread in window W, of at least `shortest`.

    The range `run` and ranges of events in flight do not cover gaps. Rows: the sum of all gaps per thread,
    then the widest gaps.
    """
    window = find_window(scope)
    chosen = scope.profile.ranges.take(scope.range_rows)
    chosen = chosen.take((chosen.end > window.start) & (chosen.start < window.end))
    chosen = chosen.take(chosen.on_one_thread & ~is_run(chosen) & ~chosen.category.matching("event".__eq__))
    names = scope.profile.thread_names
    sums, widest = [], []
    for thread in np.unique(chosen.thread).tolist():
        mine = chosen.take(chosen.thread == thread)
        found = gaps(mine.start, mine.end)
        long = np.flatnonzero(found.duration >= shortest)
        title = f"{names.get(thread) or 'thread'} {tid_of(thread)}"
        extent = int(mine.end.max() - mine.start.min())
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
                mine.name.text(found.before[i]),
                mine.name.text(found.after[i]),
            )
            for i in long.tolist()
        ]
    widest.sort(key=lambda row: -row[4])
    return Result(
        columns("Thread, Kind, Gaps, Start (ns), Duration (ns), Share of thread (%), After, Before"),
        sums + widest[:MAX_GAPS],
    )
