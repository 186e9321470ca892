# SPDX-License-Identifier: Apache-2.0
"""Unions, gaps and overlaps of time intervals, in exact integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import ProfileError
from .table import MAX_SUM


def union_by_owner(start: np.ndarray, end: np.ndarray, owner: np.ndarray, owners: int) -> np.ndarray:
    """Return for each owner 0..owners-1 the length of the union of its intervals.

    The intervals are shifted onto one axis on which owners do not touch, so that one running maximum serves
    all owners. Raise ProfileError if that axis does not fit 64 bits.
    """
    result = np.zeros(owners, dtype=np.int64)
    if not len(start):
        return result
    order = np.lexsort((start, owner))
    start = start[order]  # one by one, and changed in place below, to save memory
    end = end[order]
    owner = owner[order]
    del order
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    owner, count = owner[first], np.diff(np.append(first, len(owner)))
    span = np.maximum.reduceat(end, first) - start[first]
    if span.sum(dtype=np.float64) > MAX_SUM:
        raise ProfileError(
            "the profile is damaged", seen="events far apart, 2^62 ns in total", hint="record it again"
        )
    shift = np.repeat(np.cumsum(span + 1) - span - start[first], count)
    start += shift
    end += shift
    del shift
    reached = np.maximum.accumulate(end)
    np.maximum(start[1:], reached[:-1], out=start[1:])
    end -= start
    result[owner] = np.add.reduceat(np.maximum(end, 0, out=end), first)
    return result


def disjoint_parts(start: np.ndarray, end: np.ndarray, track: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield parts of about `size` rows; intervals of one track in different parts do not overlap."""
    order = np.lexsort((start, track))
    start, end, track = start[order], end[order], track[order]
    at = 0
    while at < len(order):
        stop = at + size
        reached = int(end[at:stop].max())
        while stop < len(order) and track[stop] == track[stop - 1] and start[stop] < reached:
            reached = max(reached, int(end[stop]))
            stop += 1
        yield order[at:stop]
        at = stop


def clip(
    start: np.ndarray, end: np.ndarray, first: int, last: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows, starts, ends) of the intervals cut to [first, last], without those outside of it."""
    rows = np.flatnonzero((end > first) & (start < last))
    return rows, np.maximum(start[rows], first), np.minimum(end[rows], last)


@dataclass
class Gaps:
    """Gaps between intervals, in order. `before` and `after` are the intervals around each gap."""

    start: np.ndarray
    end: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def duration(self) -> np.ndarray:
        """Lengths."""
        return self.end - self.start


def gaps(start: np.ndarray, end: np.ndarray) -> Gaps:
    """Return the gaps between intervals. `before` is the interval that ends last ahead of the gap."""
    if not len(start):
        return Gaps(*(np.empty(0, np.int64) for _ in range(4)))
    order = np.argsort(start, kind="stable")
    ends = end[order]
    reached = np.maximum.accumulate(ends)
    is_latest = np.append(True, ends[1:] > reached[:-1])
    latest = np.maximum.accumulate(np.where(is_latest, np.arange(len(order)), 0))
    free = np.flatnonzero(start[order][1:] > reached[:-1])
    return Gaps(reached[free], start[order][free + 1], order[latest[free]], order[free + 1])


def time_at_once(start: np.ndarray, end: np.ndarray, depth: int) -> int:
    """Return the time in which at least `depth` intervals run at once.

    An interval that ends as another starts does not meet it.
    """
    times = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start), np.int64), np.full(len(end), -1)])
    order = np.argsort(times, kind="stable")
    running = np.cumsum(change[order])
    length = np.diff(times[order])
    return int(length[running[:-1] >= depth].sum()) if len(length) else 0
