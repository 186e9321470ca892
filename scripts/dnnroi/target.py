# SPDX-License-Identifier: Apache-2.0
"""Targets of the network, from the true charge.

The charge of an ROI is measured above the line through its ends, so an ROI must end where the charge is gone; but every
sample without charge costs purity. A short pulse would lose a tenth of its charge at ends of 200 electrons per tick, a long
pulse almost nothing: it is flat, and its share at the ends is small. So the end level is lower for shorter pulses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TargetRule:
    """Levels of the charge [electrons], the maximum over a sample's ticks."""

    seed: float = 600.0  # level that an ROI exceeds somewhere; figures of merit count 500 as true
    short_end: float = 70.0  # level at the ends of a short pulse
    long_end: float = 320.0  # level at the ends of a long pulse
    short: int = 8  # samples above short_end of a short pulse
    long: int = 11  # samples of a long pulse; between, the logarithm of the level is interpolated


def _edges(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, first samples and ends (exclusive) of the runs of a mask (channel, sample)."""
    steps = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, first = np.nonzero(steps == 1)
    return row, first, np.nonzero(steps == -1)[1]


def seeded_runs(mask: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the runs of `mask` along time with at least one seed, as _edges. Both bool (channel, sample)."""
    row, first, end = _edges(mask)
    before = np.pad(np.cumsum(seeds, axis=1), ((0, 0), (1, 0)))
    kept = before[row, end] > before[row, first]
    return row[kept], first[kept], end[kept]


def fill_runs(
    shape: tuple[int, int], runs: tuple[np.ndarray, np.ndarray, np.ndarray], values: np.ndarray
) -> np.ndarray:
    """Return an array of `shape` with a value in each run and 0 elsewhere."""
    row, first, end = runs
    steps = np.zeros((shape[0], shape[1] + 1))
    np.add.at(steps, (row, first), values)
    np.add.at(steps, (row, end), -values)
    return np.cumsum(steps, axis=1)[:, :-1]


def regions(charge: np.ndarray, rule: TargetRule = TargetRule()) -> np.ndarray:
    """Return the true ROIs, bool. charge: (channel, sample) [electrons], the maximum over each sample's ticks."""
    seeds = charge > rule.seed
    runs = seeded_runs(charge > rule.short_end, seeds)
    length = runs[2] - runs[1]
    share = np.clip((length - rule.short) / (rule.long - rule.short), 0, 1)
    end_charge = rule.short_end * (rule.long_end / rule.short_end) ** share
    level = fill_runs(charge.shape, runs, end_charge)
    inside = (level > 1) & (charge > level - 1e-6 * rule.long_end)
    found = seeded_runs(inside, seeds)
    return fill_runs(charge.shape, found, np.ones(len(found[0]))) > 0.5


def largest_of_ticks(truth: np.ndarray, ticks: int) -> np.ndarray:
    """Return the maximum over each group of `ticks`: (channel, tick) -> (channel, tick / ticks). Drop an incomplete group."""
    samples = truth.shape[1] // ticks
    return truth[:, : samples * ticks].reshape(truth.shape[0], samples, ticks).max(axis=-1)
