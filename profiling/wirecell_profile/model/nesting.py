# SPDX-License-Identifier: Apache-2.0
"""Nesting of ranges per thread, found over sorted starts instead of quadratic joins.

A range lies in another if both are on one thread and its start and end are within the other's, ends included.
Push/pop ranges of a thread nest perfectly; start/end ranges may overlap without nesting.

In the order of start, longest first, the candidate of a range is the last earlier range that ends no earlier.
All ranges look for theirs at once: they begin at the range before them and jump to that one's candidate until
it ends late enough. A jump never passes a parent, because every range between two candidates ends too early.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .intervals import clip, union_by_owner

NEVER = np.iinfo(np.int64).max
SINGLE_STEPS = 32  # few ranges are nested deeper
RANK = np.int32  # of a range among all; half the memory of the index that numpy takes by default


class Nesting:
    """Nesting of N ranges, and of M intervals (calls) in them. Indices are -1 for none."""

    def __init__(self, ranges: tuple, intervals: tuple) -> None:
        self._ranges = _Sorted(*ranges)
        self._intervals = intervals

    def _by_row(self, ranked: np.ndarray) -> np.ndarray:
        """Order values by row instead of by rank."""
        values = np.empty(len(ranked), dtype=np.int64)
        values[self._ranges.order] = ranked
        return values

    def _row(self, rank: np.ndarray) -> np.ndarray:
        """Convert ranks to rows."""
        return np.append(self._ranges.order, -1)[rank]

    @cached_property
    def parent(self) -> np.ndarray:
        """(N) The shortest range that the range lies in; of equally short ones that which starts last."""
        return self._by_row(self._row(self._ranges.shortest))

    @cached_property
    def level(self) -> np.ndarray:
        """(N) 0 for a range in no other, else its parent's + 1."""
        return self._by_row(self._ranges.level())

    @cached_property
    def children(self) -> np.ndarray:
        """(N) Count of ranges with this parent."""
        return np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent))

    @cached_property
    def exclusive(self) -> np.ndarray:
        """(N) Duration minus the union of the children [ns]."""
        ranges = self._ranges
        inner = ranges.shortest >= 0
        covered = union_by_owner(
            ranges.start[inner], ranges.end[:-1][inner], ranges.shortest[inner], len(ranges.start)
        )
        return self._by_row(ranges.end[:-1] - ranges.start - covered)

    @cached_property
    def innermost(self) -> np.ndarray:
        """(M) The range around the interval that starts last."""
        return self._row(self._ranges.innermost(*self._intervals))

    def pairs(self, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranges and intervals of all pairs (range, interval in it), or of some intervals.

        They are ordered by the interval's thread and start, outermost range first.
        """
        start, end, thread = self._intervals
        rows = np.arange(len(start)) if rows is None else rows
        order = rows[np.lexsort((-end[rows], start[rows], thread[rows]))]
        finish = end[order]
        found = self._ranges.innermost(start[order], finish, thread[order])
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
        self.order = np.lexsort((-end, start, thread)).astype(RANK)
        self.start, self.end = start[self.order], np.append(end[self.order], NEVER)
        ordered = thread[self.order]
        self.first = np.flatnonzero(
            np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
        )  # per thread
        self.threads = ordered[self.first].tolist()
        self.parent = self._before()
        _climb(self.parent, self.parent, self.end, self.end[:-1])

    def _before(self) -> np.ndarray:
        """Return the range before each range of its thread, -1 for none."""
        before = np.arange(-1, len(self.start) - 1, dtype=RANK)
        before[self.first] = -1
        return before

    @cached_property
    def open_before(self) -> np.ndarray:
        """The last earlier range that is still open at the start of each range."""
        found = self._before()
        _climb(found, self.parent, self.end, self.start)
        return found

    @cached_property
    def shortest(self) -> np.ndarray:
        """The shortest range around each range. It differs from `parent` only where ranges overlap or touch.

        Ranges between one around a row and the next overlap contain that one, so the search skips them.
        """
        overlaps = self.open_before != self.parent
        if not overlaps.any():
            return self.parent
        nearest = np.where(overlaps, np.arange(len(overlaps), dtype=RANK), self.parent)
        _climb(nearest, nearest, np.append(overlaps, True), np.ones(len(overlaps), dtype=bool))
        overlapped = np.append(self.open_before, -1)[nearest]  # by the nearest range that overlaps one
        shortest, length = self.parent.copy(), self.end[:-1] - self.start
        rows = np.flatnonzero(shortest >= 0)
        found = overlapped[shortest[rows]]
        while len(rows):
            rows, found = rows[found >= 0], found[found >= 0]
            around = self.end[found] >= self.end[rows]
            better = around & (length[found] < length[shortest[rows]])
            shortest[rows[better]] = found[better]
            found = np.where(around, overlapped[found], self.parent[found])
        return shortest

    def level(self) -> np.ndarray:
        """Count of the ranges around each range. `above` is the one that many levels up; each step doubles it."""
        above, level = self.shortest.copy(), (self.shortest >= 0).astype(np.int64)
        rows = np.flatnonzero(above >= 0)
        while len(rows):
            next_above = above[rows]
            level[rows] += level[next_above]
            above[rows] = above[next_above]
            rows = rows[above[rows] >= 0]
        return level

    def innermost(self, start: np.ndarray, end: np.ndarray, thread: np.ndarray) -> np.ndarray:
        """Return the innermost range around each interval."""
        found = np.full(len(start), -1, dtype=RANK)
        stops = np.append(self.first, len(self.start))[1:]
        for owner, begin, stop in zip(self.threads, self.first.tolist(), stops.tolist()):
            mine = np.flatnonzero(thread == owner)
            position = np.searchsorted(self.start[begin:stop], start[mine], "right") - 1
            found[mine] = np.where(position >= 0, position + begin, -1)
        _climb(found, self.parent, self.end, end)
        return found


def _climb(found: np.ndarray, above: np.ndarray, end: np.ndarray, wanted: np.ndarray) -> None:
    """Replace each index in `found` by the one above it until its end is at least the wanted one.

    `above` can be `found` itself: then a step goes to where the one above is by now. Otherwise ends never shrink upwards.
    After some steps all at once, the rows that are left would look at each of a deep nest again and again.
    """
    before = found.copy()
    rows = np.flatnonzero(end[found] < wanted)
    for _ in range(SINGLE_STEPS):
        found[rows] = above[found[rows]]
        rows = rows[end[found[rows]] < wanted[rows]]
    if len(rows) and found is above:
        _climb_in_order(found, rows, before, end, wanted[rows])
    elif len(rows):
        _leap(found, rows, above, end, wanted[rows])


def _climb_in_order(
    found: np.ndarray, rows: np.ndarray, before: np.ndarray, end: np.ndarray, wanted: np.ndarray
) -> None:
    """Do as _climb for some rows from where they began, one after the other, so that none looks at a row that an earlier
    one has passed."""
    found[rows] = before[rows]
    up, ends = found.tolist(), end.tolist()
    for row, least in zip(rows.tolist(), wanted.tolist()):
        while ends[up[row]] < least:
            up[row] = up[up[row]]
    found[rows] = np.array(up, dtype=RANK)[rows]


def _leap(
    found: np.ndarray, rows: np.ndarray, above: np.ndarray, end: np.ndarray, wanted: np.ndarray
) -> None:
    """Do as _climb for some rows in leaps of 2^k steps, the longest first, that stay below the wanted ends."""
    leaps = [np.append(above, -1)]  # index -1 stays
    while (leaps[-1] >= 0).any():
        leaps.append(leaps[-1][leaps[-1]])
    for leap in reversed(leaps):
        ahead = leap[found[rows]]
        lower = end[ahead] < wanted
        found[rows[lower]] = ahead[lower]
    found[rows] = above[found[rows]]


def exclusive_within(
    start: np.ndarray, end: np.ndarray, thread: np.ndarray, first: int, last: int
) -> np.ndarray:
    """Return the part of each range's exclusive time that lies between two times [ns]."""
    rows, cut_start, cut_end = clip(start, end, first, last)
    parent = nest((start[rows], end[rows], thread[rows])).parent
    inner = parent >= 0
    covered = union_by_owner(cut_start[inner], cut_end[inner], parent[inner], len(rows))
    exclusive = np.zeros(len(start), dtype=np.int64)
    exclusive[rows] = cut_end - cut_start - covered
    return exclusive


def nest(ranges: tuple, intervals: tuple | None = None) -> Nesting:
    """Nest `ranges` (arrays start, end, thread), and find the ranges around each of `intervals` (the same
    arrays).

    If two ranges have equal start and end, the earlier row is the outer one.
    """
    return Nesting(ranges, intervals if intervals is not None else (np.empty(0, np.int64),) * 3)
