# SPDX-License-Identifier: Apache-2.0
"""Noise of images as SPNGChannelRMS and SPNGDNNROI measure it, in NumPy alone: for the training, and for the reference of tests."""

from __future__ import annotations

import math

import numpy as np

NOISE_CUT, NOISE_STRIDE = 3.0, 4  # of the RMS: the filter set's `noise`
HOT_CHANNEL = 1.8  # of SPNGDNNROI


def cut_correction(cut: float) -> float:
    """Return the factor that makes the RMS of a unit Gaussian without its tails beyond `cut` equal to 1."""
    density = math.exp(-(cut**2) / 2) / math.sqrt(2 * math.pi)
    return 1 / math.sqrt(1 - 2 * cut * density / math.erf(cut / math.sqrt(2)))


def order_statistic(values: np.ndarray, fraction: float) -> np.ndarray:
    """Return the sorted value at index floor(fraction (n-1)) along the last axis, no interpolation.

    (..., n) -> (..., 1).
    """
    index = int(fraction * (values.shape[-1] - 1))
    return np.partition(values, index, axis=-1)[..., index : index + 1]


def robust_levels(
    waveform: np.ndarray, cut: float = 5.0, stride: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower level, median and noise RMS per channel, which signals hardly change. (..., pixel) -> three (..., 1).

    Lower level and median are the 16 and 50 % order statistics.  A first sigma comes from the 16, 50, 84 %
    order statistics (root mean square of the two half widths); the RMS is that about the median of the
    samples within `cut` first sigmas of it (docs/physics-notes.md#noise-rms), corrected for the lost tails.  A constant waveform
    gives 0.  A `cut` of 5 is that of OmnibusSigProc; 3 stays within 10 to 30 % of the noise when 60
    tracks overlap, where 5 gives 30 to 50 % too much. Only every `stride`-th sample is used: neighbours are
    correlated, so little is lost.
    """
    waveform = waveform[..., ::stride]
    low, median, high = (order_statistic(waveform, fraction) for fraction in (0.16, 0.50, 0.84))
    first = np.sqrt(0.5 * ((high - median) ** 2 + (median - low) ** 2))
    deviation = waveform - median
    quiet = np.abs(deviation) <= cut * first
    rms = np.sqrt((deviation**2 * quiet).sum(axis=-1, keepdims=True) / quiet.sum(axis=-1, keepdims=True))
    return low, median, cut_correction(cut) * rms


def view_noise(rms: np.ndarray, good: np.ndarray | None = None) -> float:
    """Return the lower median of the RMS (channel,) of the good channels; nan if there is none."""
    counted = rms if good is None else rms[good]
    return float(order_statistic(counted, 0.5)[0]) if counted.size else float("nan")


def divisors(
    rms: np.ndarray, training: float, good: np.ndarray | None = None, hot: float = HOT_CHANNEL
) -> tuple[float, np.ndarray]:
    """Return the noise of a view over that of the training, and the divisor of each channel (channel,).

    The divisor is the view's ratio, at least 1; for a hot channel, with more than `hot` times that, its own
    ratio.
    """
    ratio = view_noise(rms, good) / training
    own, of_view = rms / training, np.fmax(ratio, 1.0)
    return ratio, np.where(own > hot * of_view, own, of_view)
