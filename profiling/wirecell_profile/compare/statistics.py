# SPDX-License-Identifier: Apache-2.0
"""Statistics of repeated runs: ratio of B to A with interval, noise, test, and smallest detectable effect.

The unit of replication is the process run; the events of a run are samples within it (Kalibera and Jones
2013, "Rigorous benchmarking in reasonable time", ISMM). Times of a side are a list with one array per run,
one value per event; runs may differ in length. All randomness comes from the given generator, so results are
reproducible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

RESAMPLES = 10_000
EXACT_LIMIT = 60  # up to this many observations of both sides the permutation distribution is exact
POWER = 0.8  # of the smallest detectable effect
EVENT_RESAMPLES = 1000  # medians over resampled events per run, from which the outer level draws

Side = list[np.ndarray]


@dataclass(frozen=True)
class RatioInterval:
    """Ratio of the medians B / A with its 95 % percentile interval."""

    ratio: float
    low: float
    high: float

    @property
    def excludes_one(self) -> bool:
        """Whether the interval excludes the ratio 1."""
        return self.low > 1 or self.high < 1


def run_medians(side: Side) -> np.ndarray:
    """Return (runs,) medians over the events of each run.

    Raise ValueError for a side or run without values.
    """
    if not side or any(len(run) == 0 for run in side):
        raise ValueError("a side needs runs, and a run events")
    return _last_axis_medians([np.asarray(run) for run in side])


def resampled_run_medians(
    side: Side, generator: np.random.Generator, resamples: int = EVENT_RESAMPLES
) -> np.ndarray:
    """Return (runs, resamples) medians of events drawn with replacement: the inner level of the bootstrap."""
    return _last_axis_medians(
        [run[generator.integers(0, len(run), (resamples, len(run)))] for run in map(np.asarray, side)]
    )


def _last_axis_medians(arrays: list[np.ndarray]) -> np.ndarray:
    """Return the medians over the last axis of each array, in one call if the shapes are equal."""
    if len({array.shape for array in arrays}) == 1:
        return np.median(np.stack(arrays), axis=-1)
    return np.array([np.median(array, axis=-1) for array in arrays], dtype=np.float64)


class Bootstrap:
    """Two-level bootstrap of two sides: runs are drawn with replacement, then the events of each drawn run.

    Medians over a run's resampled events are drawn from up to EVENT_RESAMPLES medians made once per run.
    Compared with resampling the events of every drawn run, this affects only the Monte Carlo error and needs
    one draw instead of one per event.
    """

    def __init__(self, a: Side, b: Side, generator: np.random.Generator, resamples: int = RESAMPLES) -> None:
        self._sides = (a, b)
        self._centres = [float(np.median(run_medians(side))) for side in (a, b)]
        if min(self._centres) <= 0:
            raise ValueError("times must be positive")
        inner = min(resamples, EVENT_RESAMPLES)
        self._inner = [resampled_run_medians(side, generator, inner) for side in (a, b)]
        self._generator = generator
        self._resamples = resamples

    def _medians(self, inner: np.ndarray, runs: int) -> np.ndarray:
        """Return (resamples,) medians over `runs` runs drawn from the rows of `inner`."""
        return np.median(
            inner.ravel()[self._generator.integers(0, inner.size, (self._resamples, runs))], axis=1
        )

    def ratio(self) -> RatioInterval:
        """Return the ratio of the medians of run medians, B over A, with its interval."""
        medians = [self._medians(inner, len(side)) for inner, side in zip(self._inner, self._sides)]
        low, high = np.percentile(medians[1] / medians[0], (2.5, 97.5))
        return RatioInterval(self._centres[1] / self._centres[0], float(low), float(high))

    def noise(self) -> float:
        """Return the A/A noise: the 95th percentile of |ratio - 1| for equal code with as many runs and
        events.

        Both sides are drawn from one population: the runs of A and B, each divided by its side's median, so
        that a true difference between the sides does not count as noise.
        """
        inner = np.concatenate([inner / centre for inner, centre in zip(self._inner, self._centres)])
        medians = [self._medians(inner, len(side)) for side in self._sides]
        return float(np.percentile(np.abs(medians[1] / medians[0] - 1), 95))


def mann_whitney(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return (U of B, two-sided p) of Mann and Whitney's test; U counts the pairs with b > a, ties as one
    half.

    Up to EXACT_LIMIT observations p is the share of all divisions of the pooled values into groups of these
    sizes whose U is as far from its mean as the observed one, also with ties; above, the normal approximation
    with corrections for ties and continuity. Raise ValueError if a side is empty.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if len(a) == 0 or len(b) == 0:
        raise ValueError("a side needs values")
    doubled = _doubled_midranks(np.concatenate([a, b]))
    sum_b = int(doubled[len(a) :].sum())  # of doubled ranks, an integer even with ties
    u = sum_b / 2 - len(b) * (len(b) + 1) / 2
    if len(doubled) <= EXACT_LIMIT:
        return u, _exact_p(doubled, len(b), sum_b)
    return u, _normal_p(doubled, len(a), len(b), u)


def _doubled_midranks(values: np.ndarray) -> np.ndarray:
    """Return twice the midrank of each value, which is an integer."""
    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (2 * last - count + 1)[position].astype(np.int64)


def _exact_p(doubled: np.ndarray, size: int, seen: int) -> float:
    """Return the share of subsets of `size` ranks whose sum is at least as far from the mean as `seen`."""
    ways = _subsets_by_sum(tuple(sorted(doubled.tolist())), size)
    mean = size * (len(ways) - 1) / len(doubled)
    far = np.abs(np.arange(len(ways)) - mean) >= abs(seen - mean) - 1e-9
    return float(min(1.0, ways[far].sum() / ways.sum()))


@lru_cache(maxsize=64)  # runs without ties have the same ranks on every node
def _subsets_by_sum(ranks: tuple[int, ...], size: int) -> np.ndarray:
    """Return the number of subsets of `size` ranks for each sum from 0 to the sum of all."""
    total = sum(ranks)
    ways = np.zeros((size + 1, total + 1), dtype=np.float64)  # by size and sum
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    return ways[size].copy()


def _normal_p(doubled: np.ndarray, n_a: int, n_b: int, u: float) -> float:
    """Return the two-sided p of the normal approximation."""
    n = n_a + n_b
    _, count = np.unique(doubled, return_counts=True)
    ties = float((count.astype(np.float64) ** 3 - count).sum())
    variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(u - n_a * n_b / 2) - 0.5)
    return 2 * NormalDist().cdf(-distance / math.sqrt(variance))


def smallest_p(n_a: int, n_b: int) -> float:
    """Return the smallest p that Mann and Whitney's test can give for these counts: complete separation in
    either order."""
    return min(1.0, 2 / math.comb(n_a + n_b, n_b))


def cliffs_delta(a: np.ndarray, b: np.ndarray) -> float:
    """Return P(b > a) - P(b < a) over all pairs: 1 if all values of B are larger, 0 without a difference."""
    return float(np.sign(np.asarray(b)[:, None] - np.asarray(a)[None, :]).mean())


def benjamini_hochberg(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return values of p adjusted for the false discovery rate (Benjamini and Hochberg 1995), in the given order."""
    p = np.asarray(values, np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return adjusted


def needed_runs(tests: int, level: float = 0.05) -> int:
    """Return the runs per side needed for one difference among these tests to reach the level after
    adjustment."""
    runs = 2
    while smallest_p(runs, runs) * tests > level:
        runs += 1
    return runs


def smallest_detectable_effect(
    noise: float, least: float, tests: int, n_a: int, n_b: int, level: float = 0.05
) -> float:
    """Return the relative difference that is found with probability POWER if it is the only one among
    `tests`.

    It exceeds both the smallest ratio of a verdict (`least`) and the need of Mann and Whitney's test at level
    / tests. `noise` is the half width that contains 95 % of the ratios of equal code. Ratios are assumed
    normal, and the test's efficiency 3 / pi (Lehmann, "Nonparametrics"). Infinite if the runs are too few to
    reach the level.
    """
    if smallest_p(n_a, n_b) * tests > level:
        return math.inf
    normal = NormalDist()
    sigma = noise / normal.inv_cdf(0.975)
    margin = normal.inv_cdf(POWER) * sigma
    quantile = normal.inv_cdf(1 - level / (2 * tests))
    return max(least + margin, (quantile * sigma + margin) * math.sqrt(math.pi / 3))
