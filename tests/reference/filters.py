# SPDX-License-Identifier: Apache-2.0
"""Frequency filters: real and of zero phase, given by their values at the non-negative frequencies.

Formulas: docs/physics-notes.md#filters.
"""

from __future__ import annotations

import numpy as np

TICK_US = 0.5


def low_pass(frequency: np.ndarray, scale: float, power: float = 2.0) -> np.ndarray:
    """Return exp(-(1/2) (f/scale)^power); `frequency` and `scale` are in the same unit."""
    return np.exp(-0.5 * (frequency / scale) ** power)


def high_pass(frequency: np.ndarray, scale: float, power: float = 2.0) -> np.ndarray:
    """Return 1 - exp(-(f/scale)^power), which is zero at f = 0."""
    return 1.0 - np.exp(-((frequency / scale) ** power))


def time_frequencies(ticks: int) -> np.ndarray:
    """Return the frequencies [MHz] of a real transform of `ticks` samples: (ticks//2 + 1,)."""
    return np.fft.rfftfreq(ticks, TICK_US)


def channel_filter(channels: int, scale: float, power: float = 2.0) -> np.ndarray:
    """Return the low pass along channels in cycles per wire (Nyquist 0.5): (channels,)."""
    return low_pass(np.abs(np.fft.fftfreq(channels)), scale, power)


def pixel_average(ticks: int, factor: int = 4) -> np.ndarray:
    """Return the transfer function of the mean over a sample and its factor-1 successors: (ticks//2 + 1,) complex.

    D(f) = (1/factor) sum_j exp(+2 pi i f j tick).  Sampled at every factor-th tick this makes pixel q the
    mean over its own ticks factor q .. factor q + factor-1, so that masks on pixels line up with ticks
    without a shift of 1.5 ticks.
    """
    phase = 2j * np.pi * np.arange(ticks // 2 + 1) / ticks
    return sum(np.exp(phase * step) for step in range(factor)) / factor
