"""Charge with regions taken from the truth: what deconvolution alone would give, whatever finds the regions.

Definition of `ideal_roi` in ../shared/data/README.md: true pixels above 100 electrons, two ticks wider; on induction views a
line through both ends of each region is its baseline, on collection views nothing is subtracted.
"""

from __future__ import annotations

import numpy as np

from .metrics import PIXEL_TICKS, any_tick

PIXEL_ELECTRONS = 100.0
WIDER_TICKS = 2


def regions(truth: np.ndarray) -> np.ndarray:
    """(channel, tick) electrons -> (channel, tick) bool. Ticks behind the last whole pixel belong to none."""
    pixels = np.repeat(any_tick(truth > PIXEL_ELECTRONS), PIXEL_TICKS, axis=1)
    inner = np.zeros(truth.shape, dtype=bool)
    inner[:, : pixels.shape[1]] = pixels
    found = inner.copy()
    for step in range(1, WIDER_TICKS + 1):
        found[:, step:] |= inner[:, :-step]
        found[:, :-step] |= inner[:, step:]
    return found


def charge(waveform: np.ndarray, truth: np.ndarray, induction: bool) -> np.ndarray:
    """waveform, truth (channel, tick) electrons -> charge inside the regions, zero elsewhere, (channel, tick)."""
    found = regions(truth)
    result = np.where(found, waveform, 0)
    if induction:
        for channel, inside in enumerate(found):
            edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
            for first, end in edges.reshape(-1, 2):
                if end - first > 1:
                    result[channel, first:end] -= np.linspace(
                        waveform[channel, first], waveform[channel, end - 1], end - first
                    )
    return result
