# SPDX-License-Identifier: Apache-2.0
"""The data of the pictures of a comparison: a map of the differences and waveforms around the first of them."""

from __future__ import annotations

import numpy as np

from .result import Picture, Waveform

MAP = (240, 400)  # at most as many bins of channels and ticks
WAVEFORMS = 4
TICKS_AROUND = 100


def picture(
    a: np.ndarray, b: np.ndarray, channels: np.ndarray, first_tick: int, positions: np.ndarray
) -> Picture:
    """Return the data of the pictures of one tag of one event.

    a, b (channel, tick); positions (n, 2): row and tick of the samples that differ, in order
    """
    order = np.argsort(channels, kind="stable")
    position_of_row = np.argsort(order)
    bins = [min(size, most) for size, most in zip(a.shape, MAP)]
    row, tick = position_of_row[positions[:, 0]], positions[:, 1]
    flat = row * bins[0] // a.shape[0] * bins[1] + tick * bins[1] // a.shape[1]
    counts = np.bincount(flat, minlength=bins[0] * bins[1]).reshape(bins)
    rows, first = np.unique(positions[:, 0], return_index=True)
    waveforms = []
    for row, tick in zip(rows[:WAVEFORMS].tolist(), positions[first[:WAVEFORMS], 1].tolist()):
        begin = max(0, tick - TICKS_AROUND)
        part = slice(begin, tick + TICKS_AROUND)
        waveforms.append(
            Waveform(int(channels[row]), first_tick + begin, a[row, part].copy(), b[row, part].copy())
        )
    ends = int(channels[order[0]]), int(channels[order[-1]])
    return Picture(counts, ends, (first_tick, first_tick + a.shape[1]), waveforms)
