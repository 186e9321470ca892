# SPDX-License-Identifier: Apache-2.0
"""Figures of merit of a processed frame against the simulated truth.

Definitions, which give the published numbers of OmnibusSigProc (OSP) on tracks10 (charge 0.942, 0.824, 1.015
and purity 0.59, 0.59, 0.67 on U, V, W):
  pixel         four consecutive ticks of a channel
  region pixel  at least one of its ticks has a non-zero output
  true pixel    at least one of its ticks has a true charge above 500 electrons
  charge        total output / total true charge of the view, both over all ticks
  efficiency    true pixels that are region pixels / true pixels
  purity        region pixels that are true pixels / region pixels
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TRUE_PIXEL_ELECTRONS = 500.0
PIXEL_TICKS = 4


@dataclass(frozen=True)
class Merit:
    """charge, efficiency, purity as defined above; charge_efficiency = true charge inside region pixels /
    true charge.
    """

    charge: float
    efficiency: float
    purity: float
    charge_efficiency: float


def any_tick(condition: np.ndarray) -> np.ndarray:
    """Return whether any tick of a pixel is set: (channel, tick) bool -> (channel, pixel) bool."""
    return np.any(condition.reshape(condition.shape[0], -1, PIXEL_TICKS), axis=-1)


def merit(signal: np.ndarray, truth: np.ndarray) -> Merit:
    """Compare signal with truth, both (channel, tick) in electrons.  Ratios without a denominator are nan."""
    region = any_tick(signal != 0)
    true = any_tick(truth > TRUE_PIXEL_ELECTRONS)
    both = (region & true).sum()
    pixel_truth = truth.reshape(truth.shape[0], -1, PIXEL_TICKS).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Merit(
            charge=float(signal.sum() / truth.sum()),
            efficiency=float(both / true.sum()),
            purity=float(both / region.sum()),
            charge_efficiency=float(pixel_truth[region].sum() / truth.sum()),
        )


def channel_ratios(signal: np.ndarray, truth: np.ndarray, minimum: float = 5000.0) -> np.ndarray:
    """Return output over true charge of every channel whose true charge exceeds `minimum` electrons.

    -> (selected channel,).
    """
    charge = truth.sum(axis=1)
    selected = charge > minimum
    return signal[selected].sum(axis=1) / charge[selected]


def best_shift(signal: np.ndarray, truth: np.ndarray, reach: int = 20) -> float:
    """Return the ticks by which `signal` lags `truth`: the peak of their cross-correlation, interpolated by
    a parabola.

    Both (channel, tick).  Positive: the signal is late.
    """
    ticks = signal.shape[1]
    length = ticks + reach
    product = np.fft.rfft(signal, length) * np.conj(np.fft.rfft(truth, length))
    correlation = np.fft.irfft(product.sum(axis=0), length)
    lags = np.arange(-reach, reach + 1)
    values = correlation[lags]
    peak = int(np.clip(np.argmax(values), 1, len(values) - 2))
    before, at, after = values[peak - 1 : peak + 2]
    return float(lags[peak] + 0.5 * (before - after) / (before - 2 * at + after))
