# SPDX-License-Identifier: Apache-2.0
"""Nesting of ranges per thread, found by one sweep over sorted starts instead of quadratic joins.

A range lies in another if both are on one thread and its start and end are within the other's, ends included.
Push/pop ranges of a thread nest perfectly; start/end ranges may overlap without nesting, so the sweep keeps a
list of open ranges instead of a stack.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

SHORT = 8  # lists of open ranges up to this length are not cleaned


@dataclass
class Nesting:
    """Nesting of N ranges, and of M intervals (calls) in them. Indices are -1 for none."""

    parent: np.ndarray  # (N) the shortest range that the range lies in, of equal ones that which starts last
    level: np.ndarray  # (N) 0 for a range in no other, else its parent's + 1
    children: np.ndarray  # (N) count of ranges with this parent
    exclusive: np.ndarray  # (N) duration minus the union of its children, ns
    innermost: np.ndarray  # (M) the range around the interval that starts last
    pair_range: np.ndarray  # ranges of all pairs (range, interval in it)
    pair_interval: (
        np.ndarray
    )  # their intervals; pairs are ordered by the interval's thread and start, outermost range first


def nest(ranges: tuple, intervals: tuple | None = None) -> Nesting:
    """Nest `ranges` (arrays start, end, thread), and find the ranges around each of `intervals` (the same
    arrays).

    If two ranges have equal start and end, the earlier row is the outer one.
    """
    start, end, thread = ranges
    count = len(start)
    asked = intervals if intervals is not None else (np.empty(0, np.int64),) * 3
    events = _sweep_order(ranges, asked)
    result = _sweep(
        events, count, start.tolist(), end.tolist(), thread.tolist(), [part.tolist() for part in asked]
    )
    parent, level, covered, innermost, pair_range, pair_interval = (
        np.array(part, dtype=np.int64) for part in result
    )
    children = np.bincount(parent[parent >= 0], minlength=count)
    return Nesting(parent, level, children, end - start - covered, innermost, pair_range, pair_interval)


def _sweep_order(ranges: tuple, intervals: tuple) -> list[int]:
    """Sort ranges (0..N-1) and intervals (N..) by thread, start, longest first, ranges before intervals, row."""
    start, end, thread = (np.concatenate(parts) for parts in zip(ranges, intervals))
    is_interval = np.arange(len(start)) >= len(ranges[0])
    return np.lexsort((is_interval, -end, start, thread)).tolist()


def _sweep(
    events: list[int], count: int, start: list[int], end: list[int], thread: list[int], asked: list[list[int]]
) -> tuple[list[int], ...]:
    """Run the loop of `nest` over lists, which Python reads faster than arrays.

    Return the columns of Nesting in order.
    """
    asked_start, asked_end, asked_thread = asked
    parent, level, covered = [-1] * count, [0] * count, [0] * count
    covered_until = list(start)
    innermost = [-1] * len(asked_start)
    pair_range: list[int] = []
    pair_interval: list[int] = []
    active: list[int] = []  # ranges of this thread in order of start; may include ended ones
    shortest: list[int] = []  # shortest duration among the active ranges up to each
    current, limit = None, SHORT
    for event in events:
        is_range = event < count
        index = event if is_range else event - count
        begin = start[index] if is_range else asked_start[index]
        finish = end[index] if is_range else asked_end[index]
        owner = thread[index] if is_range else asked_thread[index]
        if owner != current:
            current, active, shortest, limit = owner, [], [], SHORT
        while active and end[active[-1]] < begin:
            active.pop()
            shortest.pop()
        if len(active) > limit:  # drop ended ranges below a long one, so that the list stays short
            active = [other for other in active if end[other] >= begin]
            shortest = list(accumulate((end[other] - start[other] for other in active), min))
            limit = max(SHORT, 2 * len(active))
        if is_range:
            outer, length = -1, 0
            for other, least in zip(reversed(active), reversed(shortest)):
                if outer >= 0 and least >= length:
                    break
                if end[other] >= finish and (outer < 0 or end[other] - start[other] < length):
                    outer, length = other, end[other] - start[other]
            if outer >= 0:
                parent[index], level[index] = outer, level[outer] + 1
                covered[outer] += max(0, finish - max(begin, covered_until[outer]))
                covered_until[outer] = max(covered_until[outer], finish)
            active.append(index)
            shortest.append(min(finish - begin, shortest[-1]) if shortest else finish - begin)
            continue
        around = [other for other in active if end[other] >= finish]
        if around:
            innermost[index] = around[-1]
            pair_range += around
            pair_interval += [index] * len(around)
    return parent, level, covered, innermost, pair_range, pair_interval
