# SPDX-License-Identifier: Apache-2.0
"""Steps in a series, from the best piecewise constant fit in the L1 norm with a penalty per piece.

The fit minimises the sum of |x - median of its piece| plus a penalty per piece over all divisions into
pieces, exactly, by optimal partitioning (Jackson et al. 2005; as in airspeed velocity). Medians ignore single
outliers; a change appears after MIN_POINTS points.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

MIN_POINTS = 2  # per piece; a single point is an outlier until the next one agrees
# Per piece, in units of b log(n), where b is the scale of Laplace distributed noise. 1 is the Bayesian information criterion
# (two parameters per piece), which finds steps in pure noise too often for a daily report.
PENALTY = 2.5
MEDIAN_OF_DIFFERENCES = 1.1462  # of |x - y| / b for two Laplace variables: (1 + u/2) exp(-u) = 1/2


@dataclass(frozen=True)
class Piece:
    """Points first .. last (inclusive) at one level."""

    first: int
    last: int
    level: float


def noise_scale(values: np.ndarray) -> float:
    """Return Laplace's b of the noise, from differences of neighbours, which steps hardly affect."""
    return float(np.median(np.abs(np.diff(values)))) / MEDIAN_OF_DIFFERENCES if len(values) > 1 else 0.0


def pieces(values: np.ndarray, penalty: float | None = None) -> list[Piece]:
    """Return the best division of a series. `penalty` per piece; by default from the noise of the series."""
    values = np.asarray(values, np.float64)
    count = len(values)
    if count == 0:
        return []
    if penalty is None:
        penalty = PENALTY * noise_scale(values) * math.log(max(count, 2))
    best = [0.0] + [math.inf] * count  # cost of the first n points
    start = [0] * (count + 1)  # start of their last piece
    costs = [deviations(values[begin:]) for begin in range(count)]
    for end in range(1, count + 1):
        for begin in range(end):
            if end - begin < min(MIN_POINTS, count) or math.isinf(best[begin]):
                continue
            cost = best[begin] + costs[begin][end - begin - 1] + penalty
            if cost < best[end] - 1e-12 * abs(cost):
                best[end], start[end] = cost, begin
    found, end = [], count
    while end > 0:
        found.append(Piece(start[end], end - 1, float(np.median(values[start[end] : end]))))
        end = start[end]
    return found[::-1]


def deviations(values: np.ndarray) -> list[float]:
    """Return for each n >= 1 the sum of |x - median| over the first n values, with two heaps around the
    median."""
    low: list[float] = []  # lower half, negated
    high: list[float] = []
    sums, result = [0.0, 0.0], []
    for value in values.tolist():
        heapq.heappush(low, -value)
        sums[0] += value
        moved = -heapq.heappop(low)
        heapq.heappush(high, moved)
        sums[0], sums[1] = sums[0] - moved, sums[1] + moved
        if len(high) > len(low):
            moved = heapq.heappop(high)
            heapq.heappush(low, -moved)
            sums[0], sums[1] = sums[0] + moved, sums[1] - moved
        middle = -low[0] if len(low) > len(high) else 0.0  # for odd counts the lower half contains the median
        result.append(max(0.0, sums[1] - (sums[0] - middle)))
    return result
