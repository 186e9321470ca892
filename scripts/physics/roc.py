# SPDX-License-Identifier: Apache-2.0
"""Efficiency, purity and false rate of ROIs as functions of the threshold on the network's probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

THRESHOLDS = np.round(np.concatenate([[0.01, 0.02, 0.05], np.arange(0.1, 0.95, 0.05), [0.95, 0.98, 0.99]]), 3)


@dataclass(frozen=True)
class Roc:
    """Pixels above each of THRESHOLDS. passed_true, passed (threshold,); true, pixels: totals."""

    passed_true: np.ndarray
    passed: np.ndarray
    true: int
    pixels: int

    def __add__(self, other: Roc) -> Roc:
        return Roc(
            self.passed_true + other.passed_true,
            self.passed + other.passed,
            self.true + other.true,
            self.pixels + other.pixels,
        )

    def json(self) -> dict[str, list[float]]:
        """Return the ratios at each threshold, nan for a denominator of zero."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "threshold": THRESHOLDS.tolist(),
                "efficiency": (self.passed_true / np.float64(self.true)).tolist(),
                "purity": (self.passed_true / self.passed).tolist(),
                "false_rate": (
                    (self.passed - self.passed_true) / np.float64(self.pixels - self.true)
                ).tolist(),
            }


def count(probability: np.ndarray, true: np.ndarray) -> Roc:
    """Count pixels strictly above each threshold. probability (channel, pixel), true (channel, pixel) bool."""
    # Each probability passes the thresholds strictly below it.
    passes = np.searchsorted(THRESHOLDS.astype(probability.dtype), probability.ravel(), side="left")
    bins = len(THRESHOLDS) + 1
    everything = np.bincount(passes, minlength=bins)
    of_true = np.bincount(passes[true.ravel()], minlength=bins)
    above = [counts[::-1].cumsum()[::-1][1:] for counts in (of_true, everything)]
    return Roc(above[0], above[1], int(true.sum()), true.size)
