"""Efficiency, purity and false rate of regions over the threshold on a probability image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

THRESHOLDS = np.round(np.concatenate([[0.01, 0.02, 0.05], np.arange(0.1, 0.95, 0.05), [0.95, 0.98, 0.99]]), 3)


@dataclass(frozen=True)
class Roc:
    """Pixels above each of THRESHOLDS. passed_true, passed (threshold,); true, pixels: all there are."""

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
        """Ratios at each threshold; nan where a ratio has no denominator."""
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
    """probability (channel, pixel), a pixel passes where it is strictly above; true (channel, pixel) bool."""
    # Number of thresholds strictly below each probability: it passes exactly those.
    passes = np.searchsorted(THRESHOLDS.astype(probability.dtype), probability.ravel(), side="left")
    bins = len(THRESHOLDS) + 1
    everything = np.bincount(passes, minlength=bins)
    of_true = np.bincount(passes[true.ravel()], minlength=bins)
    above = [counts[::-1].cumsum()[::-1][1:] for counts in (of_true, everything)]
    return Roc(above[0], above[1], int(true.sum()), true.size)
