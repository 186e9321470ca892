# SPDX-License-Identifier: Apache-2.0
"""The text timeline: one line per range, mark or device operation in order of time."""

from __future__ import annotations

import numpy as np

from ..errors import MissingData
from ..model.nodes import event_of
from ..model.selection import Scope
from ..model.table import NULL
from ..model.window import find_window
from ..output import Result, columns
from .owner_use import device_work, is_waiting

INDENT = "  "


def timeline(scope: Scope, operations: bool = False) -> Result:
    """Return the timeline; times count from the start of the window.

    `operations`: include device operations. Raise MissingData if the file has neither ranges nor requested
    operations.
    """
    zero = find_window(scope).start
    rows = _ranges(scope) + _marks(scope)
    if operations:
        rows += _operations(scope)
    if not rows:
        raise scope.profile.missing("NVTX_EVENTS")
    rows.sort(key=lambda row: (row[0], -row[2] if row[2] is not None else 0))
    return Result(
        columns("Time (ns), Event, Duration (ns), Notes"), [(row[0] - zero, *row[1:]) for row in rows]
    )


def _ranges(scope: Scope) -> list[tuple]:
    ranges = scope.profile.or_empty("ranges")
    if not len(ranges):
        return []
    projection = scope.projection
    work = waiting = None
    if len(projection.operations):
        work = device_work(
            projection.operations,
            projection.call_of_operation,
            projection.pairs.range,
            projection.pairs.operation,
            len(ranges),
        )
        of_range, of_call = projection.call_pairs()
        waits = is_waiting(projection.calls)[of_call]
        waiting = np.bincount(of_range[waits], minlength=len(ranges))
    rows, event = [], event_of(ranges)
    for i in scope.range_rows.tolist():
        notes = []
        if event[i] != NULL:
            notes.append(f"event {event[i]}")
        if ranges.is_open[i]:
            notes.append("never closed")
        if ranges.end_thread[i] != ranges.thread[i]:
            notes.append("ended on another thread")
        if work is not None and work.operations[i]:
            notes.append(
                f"{work.operations[i]} GPU operations, busy {work.gpu_busy[i]:,} of {work.span[i]:,} ns"
            )
        if waiting is not None and waiting[i]:
            notes.append(f"{waiting[i]} waiting calls")
        name = INDENT * int(projection.level[i]) + ranges.name.text(i)
        rows.append((int(ranges.start[i]), name, int(ranges.duration[i]), ", ".join(notes) or None))
    return rows


def _marks(scope: Scope) -> list[tuple]:
    try:
        marks = scope.profile.marks.take(scope.mark_rows)
    except MissingData:
        return []
    return [(start, name, None, "mark") for start, name in zip(marks.start.tolist(), marks.name.to_list())]


def _operations(scope: Scope) -> list[tuple]:
    rows = scope.operation_rows
    mine = scope.profile.operations.take(rows)
    sizes = [None if size == NULL else f"{size:,} B" for size in mine.bytes.tolist()]
    notes = [
        ", ".join(filter(None, (f"device {device} stream {stream}", size)))
        for device, stream, size in zip(mine.device.tolist(), mine.stream.tolist(), sizes)
    ]
    return [
        (start, f"GPU {name}", duration, note)
        for start, name, duration, note in zip(
            mine.start.tolist(), mine.short_name.to_list(), mine.duration.tolist(), notes
        )
    ]
