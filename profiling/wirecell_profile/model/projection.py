# SPDX-License-Identifier: Apache-2.0
"""Host ranges joined with device operations, as nsys projects them.

A device operation belongs to every range that completely contains its launching API call, on the same thread;
a call across an edge of the range does not count. Correlation id and process connect an operation with its
call. Start/end ranges that end on another thread enclose nothing. A graph launch is one call with many
operations.

If wire-cell's recorder wrote external correlation, it gives the node call of an operation even if a helper
thread launched it (nodes.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, overload

import numpy as np

from .events import GRAPH, KERNEL, Calls, Operations, Ranges, join_keys
from .identity import lookup, process_of
from .nesting import Nesting, exclusive_within, nest
from .table import NULL


def launching_calls(operations: Operations, calls: Calls) -> np.ndarray:
    """Return for each operation the index of its launching API call, -1 for none.

    If a runtime call and the driver call inside it have the same correlation id, return the outer one.
    """
    outer_first = np.lexsort((-calls.end, calls.start))
    ordered = calls.take(outer_first)
    call_key, operation_key = join_keys(
        (process_of(ordered.thread), ordered.correlation), (operations.process, operations.correlation)
    )
    found = lookup(call_key, operation_key)
    launched = (found >= 0) & (operations.correlation != NULL) & (operations.correlation != 0)
    return np.where(launched, outer_first[found] if len(calls) else -1, -1)


@dataclass
class Pairs:
    """Ranges and the operations that belong to them: two index arrays, ordered by range."""

    range: np.ndarray
    operation: np.ndarray


@dataclass
class Projected:
    """Ranges with device operations as seen on the device; one row each, in the order of `range`."""

    range: np.ndarray  # index of the range
    start: np.ndarray  # first start of its operations, ns
    end: np.ndarray  # last end of its operations, ns
    launches: np.ndarray  # distinct launching calls (NumGPUOps in nsys); a graph launch counts once
    operations: np.ndarray  # device operations


class EventSource(Protocol):
    """The part of a Profile that a projection reads."""

    @overload
    def or_empty(self, what: Literal["ranges"]) -> Ranges: ...

    @overload
    def or_empty(self, what: Literal["calls"]) -> Calls: ...

    @overload
    def or_empty(self, what: Literal["operations"]) -> Operations:
        """Return the events of this name, empty if the file has none."""


class Projection:
    """Join of a profile's ranges, calls and operations. Parts that the file lacks are empty."""

    def __init__(self, ranges: Ranges, calls: Calls, operations: Operations) -> None:
        self.ranges = ranges
        self.calls = calls
        self.operations = operations

    @classmethod
    def of(cls, profile: EventSource) -> Projection:
        """Make the projection of a whole profile."""
        return cls(profile.or_empty("ranges"), profile.or_empty("calls"), profile.or_empty("operations"))

    @cached_property
    def call_of_operation(self) -> np.ndarray:
        """The launching call of each operation, -1 for none."""
        return launching_calls(self.operations, self.calls)

    @property
    def enclosing(self) -> np.ndarray:
        """Indices of the ranges that can enclose events: those on one thread."""
        return np.flatnonzero(self.ranges.on_one_thread)

    @cached_property
    def _nesting(self) -> Nesting:
        ranges, calls = self.ranges.take(self.enclosing), self.calls
        return nest((ranges.start, ranges.end, ranges.thread), (calls.start, calls.end, calls.thread))

    def _spread(self, values: np.ndarray, other: int) -> np.ndarray:
        """Expand values of the enclosing ranges to all ranges."""
        if len(values) == len(self.ranges):
            return values
        spread = np.full(len(self.ranges), other, dtype=np.int64)
        spread[self.enclosing] = values
        return spread

    def _rows(self, local: np.ndarray) -> np.ndarray:
        """Convert indices among the enclosing ranges to indices among all; -1 stays."""
        if len(self.enclosing) in (0, len(self.ranges)):
            return local
        return np.where(local >= 0, self.enclosing[local], -1)

    @cached_property
    def parent(self) -> np.ndarray:
        """The innermost range around each range, of any style and domain; -1 for none."""
        return self._spread(self._rows(self._nesting.parent), -1)

    @cached_property
    def level(self) -> np.ndarray:
        """Depth of each range, 0 at the top."""
        return self._spread(self._nesting.level, 0)

    @cached_property
    def children(self) -> np.ndarray:
        """Count of the direct children of each range."""
        return self._spread(self._nesting.children, 0)

    @cached_property
    def exclusive(self) -> np.ndarray:
        """Duration of each range without the union of its children [ns]."""
        if len(self.enclosing) == len(self.ranges):
            return self._nesting.exclusive
        exclusive = self.ranges.duration
        exclusive[self.enclosing] = self._nesting.exclusive
        return exclusive

    def exclusive_within(self, first: int, last: int) -> np.ndarray:
        """Return the part of each range's exclusive time that lies between two times [ns]."""
        ranges = self.ranges
        exclusive = np.clip(ranges.end, first, last) - np.clip(ranges.start, first, last)
        mine = ranges.take(self.enclosing)
        exclusive[self.enclosing] = exclusive_within(mine.start, mine.end, mine.thread, first, last)
        return exclusive

    @cached_property
    def range_of_call(self) -> np.ndarray:
        """The innermost range around each call, -1 for none."""
        return self._rows(self._nesting.innermost)

    def call_pairs(self, calls: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs (range, call) where the call lies in the range, of all or some calls, ordered by the
        call's thread and start, outer range first."""
        of_range, of_call = self._nesting.pairs(calls)
        return self._rows(of_range), of_call

    @cached_property
    def range_of_operation(self) -> np.ndarray:
        """The innermost range around the launching call of each operation, -1 for none."""
        call = self.call_of_operation
        return np.where(call >= 0, self.range_of_call[call] if len(self.calls) else -1, -1)

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs (range, operation), ordered by range, then by the operation's index."""
        launched = np.flatnonzero(self.call_of_operation >= 0)
        by_call = launched[np.argsort(self.call_of_operation[launched], kind="stable")]
        launches = np.bincount(self.call_of_operation[by_call], minlength=len(self.calls))
        of_range, of_call = self.call_pairs(np.flatnonzero(launches))
        count, first = launches[of_call], (np.cumsum(launches) - launches)[of_call]
        key = np.repeat(of_range, count)
        del of_range, of_call
        key *= len(self.operations)
        position = np.arange(len(key))  # of each pair's operation in by_call
        position += np.repeat(first - (np.cumsum(count) - count), count)
        key += by_call[position]
        del position
        key.sort()
        return Pairs(*np.divmod(key, max(len(self.operations), 1)))

    def project(self, operations: np.ndarray | None = None) -> Projected:
        """Return each range with operations as seen on the device.

        `operations`: mask of those to count; default as in nsys: kernels, copies and sets, but no whole
        graphs.
        """
        counted = operations if operations is not None else self.is_counted
        keep = counted[self.pairs.operation]
        of_range, operation = self.pairs.range[keep], self.pairs.operation[keep]
        rows, first, count = np.unique(of_range, return_index=True, return_counts=True)
        if not len(rows):
            return Projected(*(np.empty(0, np.int64) for _ in range(5)))
        call_pairs = np.unique(np.stack([of_range, self.call_of_operation[operation]]), axis=1)
        return Projected(
            range=rows,
            start=np.minimum.reduceat(self.operations.start[operation], first),
            end=np.maximum.reduceat(self.operations.end[operation], first),
            launches=np.unique(call_pairs[0], return_counts=True)[1],
            operations=count,
        )

    @property
    def is_counted(self) -> np.ndarray:
        """Mask of the operations that nsys projects: kernels, copies and sets, but no graphs recorded as a
        whole."""
        return self.operations.kind != GRAPH

    @property
    def is_kernel(self) -> np.ndarray:
        """Mask of the operations that are kernels."""
        return self.operations.kind == KERNEL


def union_length(start: np.ndarray, end: np.ndarray) -> int:
    """Return the length of the union of intervals [ns]."""
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, latest = start[order], np.maximum.accumulate(end[order])
    gap = start[1:] - latest[:-1]
    return int(latest[-1] - start[0] - gap[gap > 0].sum())
