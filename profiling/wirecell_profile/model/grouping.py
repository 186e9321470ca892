# SPDX-License-Identifier: Apache-2.0
"""Statistics per group for the *_sum reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .identity import codes


@dataclass
class Groups:
    """Groups of rows with equal keys."""

    of_row: np.ndarray  # group of each row
    first: np.ndarray  # first row of each group

    def __len__(self) -> int:
        return len(self.first)

    def rows(self) -> list[np.ndarray]:
        """Return the rows of each group, in their order."""
        few = len(self) <= 1 << 16
        order = np.argsort(
            self.of_row.astype(np.uint16) if few else self.of_row, kind="stable"
        )  # fast for few
        return np.split(order, np.cumsum(np.bincount(self.of_row))[:-1]) if len(order) else []


def group(*keys: np.ndarray) -> Groups:
    """Group the rows that agree in all these integer columns. Groups are in order of first appearance."""
    of_row = codes(keys[0])
    for key in keys[1:]:
        part = codes(key)
        of_row = codes(of_row * (int(part.max(initial=0)) + 1) + part)
    count = len(of_row)
    first = np.full(int(of_row.max(initial=-1)) + 1, count)
    first[of_row[::-1]] = np.arange(count - 1, -1, -1)  # the last assignment is that of the first row
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Groups(rank[of_row] if count else of_row, first[order])


@dataclass
class Summary:
    """Statistics per group.

    Integers are exact. A group without values has count 0, deviation 0, and otherwise None in `cells`.
    """

    total: np.ndarray
    count: np.ndarray
    mean: np.ndarray
    median: np.ndarray
    minimum: np.ndarray
    maximum: np.ndarray
    deviation: np.ndarray  # of the sample (n - 1); 0 for one value or none, as in nsys

    def cells(self, i: int) -> tuple:
        """Return mean, median, minimum, maximum and deviation of a group."""
        if not self.count[i]:
            return (None,) * 4 + (0.0,)
        return (
            float(self.mean[i]),
            float(self.median[i]),
            int(self.minimum[i]),
            int(self.maximum[i]),
            float(self.deviation[i]),
        )


def summarise(values: np.ndarray, of_row: np.ndarray, groups: int) -> Summary:
    """Return statistics of integer values per group 0..groups-1."""
    order = np.lexsort((values, of_row))
    ordered, owner = values[order], of_row[order]
    count = np.bincount(owner, minlength=groups)
    begin = np.cumsum(count) - count
    filled = np.flatnonzero(count)
    total, minimum, maximum = (np.zeros(groups, dtype=np.int64) for _ in range(3))
    mean, median, deviation = (np.zeros(groups) for _ in range(3))
    if len(filled):
        total[filled] = np.add.reduceat(ordered, begin[filled])
        minimum[filled] = ordered[begin[filled]]
        maximum[filled] = ordered[begin[filled] + count[filled] - 1]
        mean[filled] = total[filled] / count[filled]
        low = ordered[begin[filled] + (count[filled] - 1) // 2]
        high = ordered[begin[filled] + count[filled] // 2]
        median[filled] = (low + high) / 2
        squares = np.bincount(owner, weights=(ordered - mean[owner]) ** 2, minlength=groups)
        deviation[filled] = np.sqrt(squares[filled] / np.maximum(count[filled] - 1, 1))
    return Summary(total, count, mean, median, minimum, maximum, deviation)


def by_total(summary: Summary, groups: Groups, *ties: np.ndarray) -> list[int]:
    """Return the groups, the largest total first, equal ones by the columns `ties` of their rows."""
    return np.lexsort((*(tie[groups.first] for tie in reversed(ties)), -summary.total)).tolist()


def percent(part: int, whole: int) -> float:
    """Return the share in percent; 0 if the whole is 0."""
    return 100 * part / whole if whole else 0.0
