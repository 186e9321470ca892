# SPDX-License-Identifier: Apache-2.0
"""Window W: the time interval that utilisations refer to.

W is the first of these that exists: the selected part of the profile; the range `run` that wire-cell opens
around its events, without start-up and the writing of the profile; in files of other programs the time from
the first to the last device operation; the extent of the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import MissingData, UsageError
from .nodes import is_run
from .selection import Scope


@dataclass(frozen=True)
class Window:
    """[start, end] [ns] and a description."""

    start: int
    end: int
    what: str

    @property
    def length(self) -> int:
        """end - start."""
        return self.end - self.start


def find_window(scope: Scope) -> Window:
    """Return window W of a selection.

    Raise MissingData if the file has no events, UsageError if window W is empty.
    """
    first, last = scope.selection.time
    start, end, what = _extent(scope)
    if (first, last) != (None, None):
        start = start if first is None else max(start, first)
        end = end if last is None else min(end, last)
        what += ", within --time"
    if end <= start:
        raise UsageError("no part of the run is in this part of the profile", scope.profile.name)
    return Window(start, end, what)


def _extent(scope: Scope) -> tuple[int, int, str]:
    selection = scope.selection
    if selection.ranges or selection.chooses_nodes:
        return *_ends(_chosen(scope), scope), "first start to last end of the selection"
    ranges = scope.profile.or_empty("ranges")
    runs = ranges.take(is_run(ranges))
    if len(runs):
        return int(runs.start.min()), int(runs.end.max()), "range run"
    operations = scope.profile.or_empty("operations")
    if len(operations):
        return int(operations.start.min()), int(operations.end.max()), "first to last device operation"
    try:
        calls = scope.profile.node_calls
        return int(calls.start.min()), int(calls.end.max()), "first to last node call"
    except MissingData:
        return *scope.profile.extent(), "extent of the recording"


def _chosen(scope: Scope) -> list:
    """Return the selected events of every kind that the file has."""
    sets = []
    for events, rows in (
        ("ranges", "range_rows"),
        ("node_calls", "node_call_rows"),
        ("operations", "operation_rows"),
    ):
        try:
            sets.append(getattr(scope.profile, events).take(getattr(scope, rows)))
        except MissingData:
            continue
    return [events for events in sets if len(events)]


def _ends(sets: list, scope: Scope) -> tuple[int, int]:
    if not sets:
        raise UsageError("this part of the profile is empty", scope.profile.name)
    return min(int(np.min(events.start)) for events in sets), max(int(np.max(events.end)) for events in sets)
