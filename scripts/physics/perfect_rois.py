# SPDX-License-Identifier: Apache-2.0
"""Charge in regions of interest (ROIs) taken from the truth, which separates errors of deconvolution from those of ROI finding.

The ROIs are the true pixels above 100 electrons, widened by two ticks, as in `ideal_roi` of data/osp-linescan.json. The
baseline of an ROI is the line through its ends on induction views and zero on collection views.
"""

from __future__ import annotations

import numpy as np
from spng.metrics import PIXEL_TICKS, any_tick

PIXEL_ELECTRONS = 100.0
WIDER_TICKS = 2


def regions(truth: np.ndarray) -> np.ndarray:
    """Return the ROIs: (channel, tick) electrons -> (channel, tick) bool. Ticks after the last whole pixel are in no ROI."""
    pixels = np.repeat(any_tick(truth > PIXEL_ELECTRONS), PIXEL_TICKS, axis=1)
    inner = np.zeros(truth.shape, dtype=bool)
    inner[:, : pixels.shape[1]] = pixels
    found = inner.copy()
    for step in range(1, WIDER_TICKS + 1):
        found[:, step:] |= inner[:, :-step]
        found[:, :-step] |= inner[:, step:]
    return found


def charge(waveform: np.ndarray, truth: np.ndarray, induction: bool) -> np.ndarray:
    """Return the charge inside the ROIs of a waveform, zero elsewhere; all are (channel, tick) [electrons]."""
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
