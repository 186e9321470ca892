# SPDX-License-Identifier: Apache-2.0
"""ROIs (regions of interest): noise level, thresholds, growth, and their application to the charge waveform."""

from __future__ import annotations

import numpy as np

from scripts.dnnroi.levels import order_statistic, robust_levels


def in_sigmas(
    waveform: np.ndarray, cut: float = 3.0, stride: int = 1, cap: float | None = None
) -> np.ndarray:
    """Return (waveform - median)/RMS per channel (channel, pixel); 0 for a channel without noise (dead). Same shape.

    With `cap`, no RMS exceeds cap times the lower median of the channels' RMS, and the centre is at most
    the lower level plus the RMS: a channel that a track along the drift fills for most of the readout would
    hide it otherwise.
    """
    low, centre, rms = robust_levels(waveform, cut, stride)
    alive = rms > 0
    if cap is not None and alive.any():
        rms = np.minimum(rms, cap * order_statistic(rms[alive], 0.5))
        centre = np.minimum(centre, low + rms)
    return np.where(alive, (waveform - centre) / np.where(alive, rms, 1.0), 0.0)


def running_sum(waveform: np.ndarray, samples: int) -> np.ndarray:
    """Return the sum over the `samples` (odd) samples centred on each; zero beyond the ends. (..., n) -> (..., n)."""
    half = samples // 2
    padding = [(0, 0)] * (waveform.ndim - 1) + [(half + 1, half)]
    total = np.cumsum(np.pad(waveform, padding), axis=-1)
    return total[..., samples:] - total[..., :-samples]


def run_ends(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last index of the run of set samples that contains each sample of a mask (...,
    n).

    -> two int arrays of the mask's shape; meaningless where the mask is not set.
    """
    index = np.arange(mask.shape[-1])
    before = np.zeros_like(mask)
    before[..., 1:] = mask[..., :-1]
    after = np.zeros_like(mask)
    after[..., :-1] = mask[..., 1:]
    first = np.maximum.accumulate(np.where(mask & ~before, index, 0), axis=-1)
    last = np.where(mask & ~after, index, mask.shape[-1] - 1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    return first, last


def count_in_runs(mask: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return the number of `counted` samples in the run of `mask` that contains each sample; 0 outside.

    bool, bool -> int.
    """
    first, last = run_ends(mask)
    total = np.concatenate(
        [np.zeros_like(counted[..., :1], dtype=np.int32), np.cumsum(counted, axis=-1)], axis=-1
    )
    inside = np.take_along_axis(total, last + 1, -1) - np.take_along_axis(total, first, -1)
    return np.where(mask, inside, 0)


def grow_in_time(seeds: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the runs of (seeds | allowed) along the last axis that contain at least one seed.

    bool, bool -> bool, same shapes.
    """
    union = seeds | allowed
    return count_in_runs(union, seeds) > 0


def pad_in_time(mask: np.ndarray, samples: int) -> np.ndarray:
    """Widen every run by `samples` on either side, cropped at the ends. (..., n) bool -> the same."""
    out = mask.copy()
    for step in range(1, samples + 1):
        out[..., step:] |= mask[..., :-step]
        out[..., :-step] |= mask[..., step:]
    return out


LEVEL_TICKS, LEVEL_DISTANCE = 8, 6


def _level(row: np.ndarray, first: int) -> float | None:
    """Return the mean of LEVEL_TICKS ticks, or None if they are not all in the row."""
    if first < 0 or first + LEVEL_TICKS > len(row):
        return None
    return float(row[first : first + LEVEL_TICKS].mean())


def rebaseline_linear(waveform: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Set samples outside the mask to zero; in each run subtract the line through the levels beside it. (..., tick) -> same.

    The level on a side is the mean of LEVEL_TICKS ticks whose centre is LEVEL_DISTANCE ticks from the run, or half-way
    to the next run if that is nearer. A level beyond the end of the row is that of the other side. The baseline of a
    run with a negative sum bends at its lowest tick (docs/physics-notes.md#roi-application).
    """
    out = np.zeros_like(waveform)
    ticks = waveform.shape[-1]
    rows = zip(waveform.reshape(-1, ticks), mask.reshape(-1, ticks), out.reshape(-1, ticks))
    for samples, inside, result in rows:
        steps = np.diff(np.pad(inside.astype(np.int8), 1))
        begins, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        for index, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist())):
            before = (begin - int(ends[index - 1])) // 2 if index else LEVEL_DISTANCE
            after = (int(begins[index + 1]) - end) // 2 if index + 1 < len(begins) else LEVEL_DISTANCE
            before, after = min(before, LEVEL_DISTANCE), min(after, LEVEL_DISTANCE)
            left = _level(samples, begin - before - LEVEL_TICKS // 2)
            right = _level(samples, end + after - LEVEL_TICKS // 2)
            left, right = (right if left is None else left), (left if right is None else right)
            tick = np.arange(begin, end)
            line = np.zeros(end - begin)
            if left is not None and right is not None:
                share = (tick - begin + before + 0.5) / (end - begin + before + after)
                line = left + (right - left) * share
            result[begin:end] = _bent(samples[begin:end] - line)
    return out


def _bent(charge: np.ndarray) -> np.ndarray:
    """Bend the baseline of a run with a negative sum at its first lowest tick. (tick,) -> same.

    At most until that tick is 0, and until the sum is as far above 0 as it was below.
    """
    total = charge.sum()
    if total >= 0:
        return charge
    lowest = int(charge.argmin())
    bend = np.interp(np.arange(len(charge)), [-1, lowest, len(charge)], [0, charge[lowest], 0])
    return charge - bend * min(1.0, 2 * total / bend.sum())


def restore_baseline(waveform: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Subtract each channel's mean outside the mask, then set samples outside the mask to zero. (..., tick) -> same.

    For collection views: the ADC median sits above the true baseline when a channel is busy, and a filter
    without its zero bin removes the mean of the signal; the samples without signal show both offsets.  No baseline is subtracted from a channel whose mask is full.
    """
    quiet = ~mask
    count = quiet.sum(axis=-1, keepdims=True)
    baseline = (waveform * quiet).sum(axis=-1, keepdims=True) / np.maximum(count, 1)
    return np.where(mask, waveform - baseline, 0.0)
