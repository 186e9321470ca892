# SPDX-License-Identifier: Apache-2.0
"""Figures of merit of charge in regions of interest (ROIs) against the simulated truth.

    pixel         four consecutive ticks of a channel
    region pixel  at least one of its ticks has a non-zero output
    true pixel    at least one of its ticks has a true charge above 500 electrons
    charge        total output / total true charge of a view, both over all ticks; bias = charge - 1
    efficiency    true pixels that are region pixels / true pixels
    purity        region pixels that are true pixels / region pixels
    resolution    half the width of the central 68 % of output / true charge of the channels with enough charge
    false share   region pixels / pixels, of the pixels that are farther than 3 channels or 12 pixels from each pixel
                  with a tick above 10 true electrons

tests/reference/metrics.py is an independent implementation of charge, efficiency and purity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

PIXEL_TICKS = 4
TRUE_PIXEL_ELECTRONS = 500.0
CHANNEL_ELECTRONS = 5000.0  # true charge of a channel whose ratio counts
NEAR_ELECTRONS = 10.0  # true charge of a tick near which an ROI is not counted as false
NEAR_CHANNELS, NEAR_PIXELS = 3, 12


def any_tick(condition: np.ndarray) -> np.ndarray:
    """Return whether any tick of a pixel is set: (channel, tick) bool -> (channel, pixel) bool. Drop the ticks after the last whole pixel."""
    whole = condition.shape[1] // PIXEL_TICKS * PIXEL_TICKS
    return np.logical_or.reduce([condition[:, tick:whole:PIXEL_TICKS] for tick in range(PIXEL_TICKS)])


def true_pixels(truth: np.ndarray, electrons: float = TRUE_PIXEL_ELECTRONS) -> np.ndarray:
    """Return the true pixels: (channel, tick) electrons -> (channel, pixel) bool."""
    return any_tick(truth > electrons)


def far_pixels(truth: np.ndarray) -> np.ndarray:
    """Return the pixels far from any true charge: (channel, tick) electrons -> (channel, pixel) bool.

    Neighbouring rows are neighbouring channels.
    """
    charged = any_tick(truth > NEAR_ELECTRONS)
    return ~_widened(_widened(charged, NEAR_PIXELS).T, NEAR_CHANNELS).T


def _widened(mask: np.ndarray, reach: int) -> np.ndarray:
    """Return the mask with up to `reach` more elements on both sides of each run along the last axis."""
    found = mask.copy()
    for step in range(1, min(reach, mask.shape[1] - 1) + 1):
        found[:, step:] |= mask[:, :-step]
        found[:, :-step] |= mask[:, step:]
    return found


@dataclass(frozen=True)
class Counts:
    """Counts of which the ratios are made; those of several events may be added. Charge in electrons.

    far_pixels, far_region_pixels  0 unless the far pixels were counted
    """

    charge: float = 0.0
    true_charge: float = 0.0
    true_pixels: int = 0
    region_pixels: int = 0
    common_pixels: int = 0
    pixels: int = 0
    far_pixels: int = 0
    far_region_pixels: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values())))

    def __sub__(self, other: Counts) -> Counts:
        return Counts(*(mine - theirs for mine, theirs in zip(vars(self).values(), vars(other).values())))


def count(
    signal: np.ndarray,
    truth: np.ndarray,
    far: np.ndarray | None = None,
    electrons: float = TRUE_PIXEL_ELECTRONS,
) -> Counts:
    """Compare an output with the truth, both (channel, tick) in electrons.

    far        of far_pixels(truth), to count them too
    electrons  true charge of a tick above which its pixel is a true pixel
    """
    region, true = any_tick(signal != 0), true_pixels(truth, electrons)
    return Counts(
        float(signal.sum(dtype=np.float64)),
        float(truth.sum(dtype=np.float64)),
        int(true.sum()),
        int(region.sum()),
        int((region & true).sum()),
        region.size,
        0 if far is None else int(far.sum()),
        0 if far is None else int((region & far).sum()),
    )


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")


RATIOS: dict[str, Callable[[Counts], float]] = {
    "charge": lambda counts: _ratio(counts.charge, counts.true_charge),
    "efficiency": lambda counts: _ratio(counts.common_pixels, counts.true_pixels),
    "purity": lambda counts: _ratio(counts.common_pixels, counts.region_pixels),
    "kept": lambda counts: _ratio(counts.region_pixels, counts.pixels),
}


def false_share(counts: Counts) -> float:
    """Return the share of the far pixels that are in ROIs."""
    return _ratio(counts.far_region_pixels, counts.far_pixels)


@dataclass(frozen=True)
class Figure:
    """A value with its statistical error (one standard deviation), nan if unknown."""

    value: float
    error: float


def pooled(events: Sequence[Counts], ratio: Callable[[Counts], float]) -> Figure:
    """Return the ratio of the sums over events, with its error by the jackknife (leave one event out)."""
    total = sum(events, Counts())
    value = ratio(total)
    if len(events) < 2:
        return Figure(value, float("nan"))
    left_out = np.array([ratio(total - event) for event in events])
    spread = np.sum((left_out - left_out.mean()) ** 2)
    return Figure(value, float(np.sqrt((len(events) - 1) / len(events) * spread)))


def mean(values: Sequence[float]) -> Figure:
    """Return the mean and its standard error, without values that are nan."""
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return Figure(float("nan"), float("nan"))
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return Figure(float(known.mean()), error)


def channel_ratios(signal: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return output / true charge (selected channel,) of the channels with more than CHANNEL_ELECTRONS."""
    charge = truth.sum(axis=1, dtype=np.float64)
    selected = charge > CHANNEL_ELECTRONS
    return signal[selected].sum(axis=1, dtype=np.float64) / charge[selected]


def resolution(ratios: np.ndarray) -> float:
    """Return half the width of the central 68 %, nan for fewer than two values."""
    if len(ratios) < 2:
        return float("nan")
    low, high = np.percentile(ratios, [16, 84])
    return float(0.5 * (high - low))


def best_shift(signal: np.ndarray, truth: np.ndarray, reach: int = 20) -> float:
    """Return the ticks by which `signal` lags `truth`, both (channel, tick): the peak of their cross-correlation within
    `reach`, interpolated by a parabola.
    """
    used = truth.any(axis=1)
    length = -(-(truth.shape[1] + reach) // 256) * 256  # small prime factors
    product = np.fft.rfft(signal[used], length) * np.conj(np.fft.rfft(truth[used], length))
    values = np.fft.irfft(product.sum(axis=0), length)[np.arange(-reach, reach + 1)]
    peak = int(np.clip(np.argmax(values), 1, len(values) - 2))
    before, at, after = values[peak - 1 : peak + 2]
    curvature = before - 2 * at + after
    return float(peak - reach + (0.5 * (before - after) / curvature if curvature else 0.0))


def runs(regions: np.ndarray) -> int:
    """Return the number of separate ROIs in a mask (channel, pixel)."""
    return int(regions[:, 0].sum() + (regions[:, 1:] & ~regions[:, :-1]).sum())
