# SPDX-License-Identifier: Apache-2.0
"""Numbers of output frames, with NumPy from their samples alone.

charge        sum of all samples [electrons]
ROI share     samples that are not 0 / all samples
quiet noise   1.4826 times the median of |x| of a channel, where x is less a line through each SLOW_TICKS ticks, median
              over channels [electrons per tick]; tracks and slow noise hardly change it
"""

from __future__ import annotations

import numpy as np

MILLION = 1e6
MAD_TO_RMS = 1.4826  # of normal noise
SLOW_TICKS = 200  # 100 us: slower noise is not counted


def charge(signal: np.ndarray) -> float:
    """Return the charge [million electrons] of a signal (channel, tick)."""
    return float(signal.sum(dtype=np.float64)) / MILLION


def roi_share(signal: np.ndarray) -> float:
    """Return the share of samples in ROIs."""
    return float((signal != 0).mean())


def channel_noise(waveform: np.ndarray) -> np.ndarray:
    """Return the quiet noise (channel,) of waveforms (channel, tick)."""
    whole = waveform.shape[1] // SLOW_TICKS * SLOW_TICKS
    parts = waveform[:, :whole].reshape(len(waveform), -1, SLOW_TICKS)
    time = np.arange(SLOW_TICKS) - 0.5 * (SLOW_TICKS - 1)
    slope = parts @ time / (time @ time)
    fast = parts - parts.mean(axis=2, keepdims=True) - slope[:, :, None] * time
    return MAD_TO_RMS * np.median(np.abs(fast), axis=(1, 2))


def quiet_noise(waveform: np.ndarray) -> float:
    """Return the median quiet noise of the channels that are not all zero; nan if all are."""
    used = waveform[waveform.any(axis=1)]
    return float(np.median(channel_noise(used))) if len(used) else float("nan")


def channels_with_charge(signal: np.ndarray, first: int, last: int, electrons: float) -> np.ndarray:
    """Return (channel,) bool: more than this charge in the ticks from first to last."""
    return signal[:, first:last].sum(axis=1, dtype=np.float64) > electrons


def end_of_track(signal: np.ndarray, share: float = 0.05) -> np.ndarray:
    """Return (channel,) the tick after the last sample above a share of the channel's largest one; 0 for a channel of zeros."""
    high = signal > share * signal.max(axis=1, keepdims=True)
    last = signal.shape[1] - np.argmax(high[:, ::-1], axis=1)
    return np.where(high.any(axis=1), last, 0)


def longest_pulses(signal: np.ndarray) -> np.ndarray:
    """Return (channel,) the most ticks in a row above 0."""
    count = np.cumsum(np.pad(signal > 0, ((0, 0), (1, 0))), axis=1)
    gaps = np.pad(signal <= 0, ((0, 0), (1, 0)), constant_values=True)
    return (count - np.maximum.accumulate(np.where(gaps, count, 0), axis=1)).max(axis=1)


def mean_after(waveform: np.ndarray, begins: np.ndarray, ticks: int) -> float:
    """Return the mean of waveforms (channel, tick) over `ticks` ticks from the tick of each channel in `begins`."""
    parts = [row[begin : begin + ticks] for row, begin in zip(waveform, begins, strict=True)]
    return float(np.concatenate(parts).mean()) if parts else float("nan")


def whole_readout(mask: np.ndarray | None, ticks: int) -> np.ndarray:
    """Return the channels that a mask (n, 3) [channel, begin, end] covers for the whole readout, ascending."""
    if mask is None or not len(mask):
        return np.zeros(0, dtype=np.int64)
    return np.unique(mask[(mask[:, 1] <= 0) & (mask[:, 2] >= ticks), 0])


def ratio(value: float, reference: float) -> float:
    """Return value / reference; nan if the reference is 0."""
    return value / reference if reference else float("nan")
