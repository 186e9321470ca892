# SPDX-License-Identifier: Apache-2.0
"""Targets of the network, from the true charge, and the weights of the samples in the loss.

The baseline of an ROI is measured beside it, so an ROI need not reach to where the charge is gone: what it leaves out is
lost, but nothing else. Every sample with little charge costs purity. A short pulse has a larger share of its charge in its
ends than a long one, so its end level is lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TargetRule:
    """Levels of the charge [electrons], the maximum over a sample's ticks."""

    seed: float = 400.0  # level that an ROI exceeds somewhere; figures of merit count 500 as true
    short_end: float = 200.0  # level at the ends of a short pulse
    long_end: float = 300.0  # level at the ends of a long pulse
    short: int = 8  # samples above short_end of a short pulse
    long: int = 11  # samples of a long pulse; between, the logarithm of the level is interpolated
    core_weight: float = (
        4.0  # weight in the loss of the largest sample of an ROI; other samples have 1 and more
    )
    heavy: float = 3000.0  # charge from which a sample counts as the largest


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


def target_and_weight(charge: np.ndarray, rule: TargetRule = TargetRule()) -> tuple[np.ndarray, np.ndarray]:
    """Return the true ROIs, as regions(), and the weights of the samples in the loss, float32.

    A hole in a pulse costs more charge than a lost end, and a weak pulse as a whole counts as much as a strong one: within
    an ROI the weight rises with the charge over the largest charge of the ROI. Empty samples have weight 1. The
    weights make the output too high; calibration.py corrects it.
    """
    target = regions(charge, rule)
    row, first, end = _edges(target)
    weight = np.ones(charge.shape, dtype=np.float32)
    if len(row):
        width = charge.shape[1]
        # Starts and ends in the flattened array; a run that ends at the last sample of the array has no element after it.
        flat = np.append(charge.ravel(), 0)
        limits = np.stack([row * width + first, row * width + end], axis=1).ravel()
        largest = np.maximum.reduceat(flat, limits)[::2]
        peak = fill_runs(target.shape, (row, first, end), np.minimum(largest, rule.heavy))
        share = np.divide(charge, peak, out=np.zeros_like(weight), where=target)
        weight += (rule.core_weight - 1) * share.clip(max=1)
    return target, weight


def largest_of_ticks(truth: np.ndarray, ticks: int) -> np.ndarray:
    """Return the maximum over each group of `ticks`: (channel, tick) -> (channel, tick / ticks). Drop an incomplete group."""
    samples = truth.shape[1] // ticks
    return truth[:, : samples * ticks].reshape(truth.shape[0], samples, ticks).max(axis=-1)
