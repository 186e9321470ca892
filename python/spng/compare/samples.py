# SPDX-License-Identifier: Apache-2.0
"""Comparison of the samples of two frames: charge, ROIs, and sizes of differences. All figures are sums over samples.

relative difference   |a - b| / max(|a|, |b|); 1 for a sample that is 0 in only one of them
union                 samples that are not 0 in A or in B
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

THRESHOLDS = (1e-4, 1e-3, 1e-2, 5e-2)  # of relative differences
DECADES = tuple(10.0**power for power in range(-7, 1))  # edges of the histogram of relative differences
BLOCK_SAMPLES = 1 << 20  # samples that are compared at a time: bounds the memory


@dataclass(frozen=True)
class Tolerance:
    """Differences of samples that count as equal.

    A sample differs if |a - b| > max(absolute, relative * max(|a|, |b|)), or if only one of both is finite.
    share   of the union that may differ by more, in each tag of each event
    """

    relative: float = 0.0
    absolute: float = 0.0
    share: float = 0.0

    def differs(self, difference: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return which differences are too large. scale: max(|a|, |b|)."""
        with np.errstate(invalid="ignore"):
            accepted = difference <= np.maximum(self.absolute, self.relative * scale)
        return ~(accepted & np.isfinite(difference) | (difference == 0))


EXACT = Tolerance()


def _none() -> np.ndarray:
    return np.zeros(len(THRESHOLDS), np.int64)


def _no_histogram() -> np.ndarray:
    return np.zeros(len(DECADES) + 1, np.int64)


@dataclass
class SampleFigures:
    """Figures of some samples of A and B; those of other samples may be added.

    charge_a, charge_b          sums of the finite samples
    in_a, in_b, both            samples that are not 0 in A, in B, in both
    above                       samples with a relative difference above each of THRESHOLDS
    histogram                   samples of the union by relative difference: equal, then up to each of DECADES
    differing                   samples that differ by more than the tolerance
    largest                     largest |a - b|
    not_finite_a, not_finite_b  samples that are NaN or infinite
    """

    samples: int = 0
    charge_a: float = 0.0
    charge_b: float = 0.0
    in_a: int = 0
    in_b: int = 0
    both: int = 0
    above: np.ndarray = field(default_factory=_none)
    histogram: np.ndarray = field(default_factory=_no_histogram)
    differing: int = 0
    largest: float = 0.0
    not_finite_a: int = 0
    not_finite_b: int = 0

    def __add__(self, other: SampleFigures) -> SampleFigures:
        mine, theirs = vars(self), vars(other)
        sums = {name: mine[name] + theirs[name] for name in mine}
        return SampleFigures(**sums | {"largest": max(self.largest, other.largest)})

    @property
    def union(self) -> int:
        """The samples that are not 0 in A or in B."""
        return self.in_a + self.in_b - self.both

    @property
    def only_a(self) -> int:
        """The samples that are 0 only in B."""
        return self.in_a - self.both

    @property
    def only_b(self) -> int:
        """The samples that are 0 only in A."""
        return self.in_b - self.both

    @property
    def charge_ratio(self) -> float | None:
        """The charge of B / that of A; None if A has none."""
        return self.charge_b / self.charge_a if self.charge_a else None

    @property
    def overlap(self) -> float | None:
        """Intersection over union; None without samples."""
        return self.both / self.union if self.union else None

    @property
    def found_of_a(self) -> float | None:
        """The share of A's samples that B has too."""
        return self.both / self.in_a if self.in_a else None

    @property
    def found_of_b(self) -> float | None:
        """The share of B's samples that A has too."""
        return self.both / self.in_b if self.in_b else None

    def shares_above(self) -> list[float]:
        """Return the shares of the union with a relative difference above each of THRESHOLDS."""
        return [count / max(1, self.union) for count in self.above.tolist()]

    def json(self) -> dict[str, object]:
        """Return the figures as a JSON object; differences that are not finite are null."""
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }
        derived = ("union", "only_a", "only_b", "charge_ratio", "overlap", "found_of_a", "found_of_b")
        largest = self.largest if np.isfinite(self.largest) else None
        shares = dict(zip(map(str, THRESHOLDS), self.shares_above()))
        return (
            plain
            | {"largest": largest, "share_above": shares}
            | {name: getattr(self, name) for name in derived}
        )


@dataclass(frozen=True)
class SampleComparison:
    """Figures of each group of rows, and the positions (n, 2) row, tick of all samples that differ, in order."""

    groups: list[SampleFigures]
    positions: np.ndarray

    @property
    def total(self) -> SampleFigures:
        """The figures of all rows."""
        return sum(self.groups, SampleFigures())


def compare_samples(
    a: np.ndarray,
    b: np.ndarray,
    group_of_row: np.ndarray | None = None,
    groups: int = 1,
    tolerance: Tolerance = EXACT,
) -> SampleComparison:
    """Compare the samples (row, tick) of two arrays of the same shape.

    group_of_row: (row,) index of the figures that count the row, from 0 to groups - 1; None: one group
    """
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape} differ")
    of_row = np.zeros(len(a), np.int64) if group_of_row is None else group_of_row
    figures = [SampleFigures() for _ in range(groups)]
    positions = [np.zeros((0, 2), np.int64)]
    for rows in _blocks(a.shape):
        row, tick = np.nonzero((a[rows] != 0) | (b[rows] != 0))
        x, y = (array[rows][row, tick].astype(np.float64) for array in (a, b))
        row += rows.start
        differs, relative, difference = _differences(x, y, tolerance)
        positions.append(np.stack([row[differs], tick[differs]], axis=1))
        sizes = np.bincount(of_row[rows], minlength=groups) * a.shape[1]
        for group in range(groups):
            chosen = of_row[row] == group if groups > 1 else slice(None)
            figures[group] += _figures(
                int(sizes[group]), x[chosen], y[chosen], differs[chosen], relative[chosen], difference[chosen]
            )
    return SampleComparison(figures, np.concatenate(positions))


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(1, BLOCK_SAMPLES // max(1, shape[1]))
    return (slice(first, min(first + rows, shape[0])) for first in range(0, shape[0], rows))


def _differences(
    x: np.ndarray, y: np.ndarray, tolerance: Tolerance
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (differs, relative difference, |a - b|) of each sample; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(x - y)
    scale = np.maximum(np.abs(x), np.abs(y))
    difference[(x == y) | (np.isnan(x) & np.isnan(y))] = 0.0
    difference[np.isnan(difference)] = np.inf
    relative = np.where(difference == 0, 0.0, np.inf)
    is_usual = np.isfinite(difference) & (difference > 0)
    relative[is_usual] = difference[is_usual] / scale[is_usual]
    return tolerance.differs(difference, scale), relative, difference


def _figures(
    samples: int,
    x: np.ndarray,
    y: np.ndarray,
    differs: np.ndarray,
    relative: np.ndarray,
    difference: np.ndarray,
) -> SampleFigures:
    finite_x, finite_y = np.isfinite(x), np.isfinite(y)
    above = np.array([np.count_nonzero(relative > threshold) for threshold in THRESHOLDS])
    counts = [np.count_nonzero(relative <= edge) for edge in (0.0, *DECADES)]
    return SampleFigures(
        samples,
        float(x[finite_x].sum()),
        float(y[finite_y].sum()),
        int(np.count_nonzero(x)),
        int(np.count_nonzero(y)),
        int(np.count_nonzero((x != 0) & (y != 0))),
        above,
        np.diff([0, *counts[:-1], len(x)]),
        int(np.count_nonzero(differs)),
        float(difference.max(initial=0.0)),
        int((~finite_x).sum()),
        int((~finite_y).sum()),
    )
