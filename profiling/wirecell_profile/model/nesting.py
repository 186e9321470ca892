# SPDX-License-Identifier: Apache-2.0
"""Nesting of ranges per thread, found over sorted starts instead of quadratic joins.

A range lies in another if both are on one thread and its start and end are within the other's, ends included.
Push/pop ranges of a thread nest perfectly; start/end ranges may overlap without nesting.

In the order of start, longest first, the parent of a range is the last earlier range that ends no earlier.
All ranges look for theirs at once: they begin at the range before them and jump to that one's candidate until
it ends late enough. A jump never passes a parent, because every range between two candidates ends too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .intervals import union_by_owner

NEVER = np.iinfo(np.int64).max


@dataclass
class Nesting:
    """Nesting of N ranges, and of M intervals (calls) in them. Indices are -1 for none."""

    parent: np.ndarray  # (N) the innermost range that the range lies in
    level: np.ndarray  # (N) 0 for a range in no other, else its parent's + 1
    exclusive: np.ndarray  # (N) duration minus the union of its children, ns
    innermost: np.ndarray  # (M) the innermost range around the interval
    _ranges: _Sorted
    _intervals: tuple

    @cached_property
    def children(self) -> np.ndarray:
        """(N) Count of ranges with this parent."""
        return np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent))

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The ranges and intervals of all pairs (range, interval in it).

        They are ordered by the interval's thread and start, outermost range first.
        """
        start, end, thread = self._intervals
        order = np.lexsort((-end, start, thread))
        finish, rank_of = end[order], self._ranges.rank
        found = np.append(rank_of, -1)[self.innermost[order]]
        rounds, asked = [], np.flatnonzero(found >= 0)
        found = found[asked]
        count = np.zeros(len(order), dtype=np.int64)
        while len(asked):  # from the innermost range to the outermost
            inside = self._ranges.end[found] >= finish[asked]
            rounds.append((asked[inside], found[inside], count[asked[inside]]))
            count[asked[inside]] += 1
            found = self._ranges.open_before[found]
            asked, found = asked[found >= 0], found[found >= 0]
        last = np.cumsum(count) - 1
        pair_range = np.empty(int(count.sum()), dtype=np.int64)
        for asked, found, passed in rounds:
            pair_range[last[asked] - passed] = self._ranges.order[found]
        return pair_range, np.repeat(order, count)


class _Sorted:
    """Ranges in order of thread, start, longest first, row: their parents by rank in this order.

    Element -1 of `end` ends never, so that the index -1 (none) ends every search.
    """

    def __init__(self, start: np.ndarray, end: np.ndarray, thread: np.ndarray) -> None:
        self.order = np.lexsort((-end, start, thread))
        self.start, self.thread = start[self.order], thread[self.order]
        self.end = np.append(end[self.order], NEVER)
        self.before = np.arange(-1, len(start) - 1)
        self.before[np.append(True, self.thread[1:] != self.thread[:-1])[: len(start)]] = -1
        self.parent = self.before.copy()
        _climb(self.parent, self.parent, self.end, self.end[:-1])

    @cached_property
    def rank(self) -> np.ndarray:
        """Rank of each range."""
        rank = np.empty(len(self.order), dtype=np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def open_before(self) -> np.ndarray:
        """The last earlier range that is still open at the start of each range."""
        found = self.before.copy()
        _climb(found, self.parent, self.end, self.start)
        return found

    def level(self) -> np.ndarray:
        """Count of the ranges around each range."""
        level = np.zeros(len(self.order), dtype=np.int64)
        rows = np.flatnonzero(self.parent >= 0)
        above = self.parent[rows]
        while len(rows):
            level[rows] += 1
            above = self.parent[above]
            rows, above = rows[above >= 0], above[above >= 0]
        return level

    def innermost(self, start: np.ndarray, end: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Return the innermost range around each interval."""
        found = np.full(len(start), -1, dtype=np.int64)
        first = np.flatnonzero(self.before == -1)
        for begin, stop in zip(first.tolist(), np.append(first, len(self.start))[1:].tolist()):
            mine = np.flatnonzero(thread == self.thread[begin])
            position = np.searchsorted(self.start[begin:stop], start[mine], "right") - 1
            found[mine] = np.where(position >= 0, position + begin, -1)
        _climb(found, self.parent, self.end, end)
        return found


def _climb(found: np.ndarray, above: np.ndarray, end: np.ndarray, wanted: np.ndarray) -> None:
    """Replace each index in `found` by the one above it until its end is at least the wanted one.

    `above` can be `found` itself: then each step doubles the length of the next.
    """
    rows = np.flatnonzero(end[found] < wanted)
    while len(rows):
        found[rows] = above[found[rows]]
        rows = rows[end[found[rows]] < wanted[rows]]


def nest(ranges: tuple, intervals: tuple | None = None) -> Nesting:
    """Nest `ranges` (arrays start, end, thread), and find the ranges around each of `intervals` (the same
    arrays).

    If two ranges have equal start and end, the earlier row is the outer one.
    """
    asked = intervals if intervals is not None else (np.empty(0, np.int64),) * 3
    ordered = _Sorted(*ranges)
    parent, level, covered = (np.empty(len(ordered.order), dtype=np.int64) for _ in range(3))
    rows = np.append(ordered.order, -1)
    parent[ordered.order] = rows[ordered.parent]
    level[ordered.order] = ordered.level()
    inner = np.flatnonzero(ordered.parent >= 0)
    spans = ordered.start[inner], ordered.end[inner], ordered.parent[inner]
    covered[ordered.order] = union_by_owner(*spans, len(ordered.order))
    exclusive = ranges[1] - ranges[0] - covered
    return Nesting(parent, level, exclusive, rows[ordered.innermost(*asked)], ordered, asked)
