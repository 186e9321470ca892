# SPDX-License-Identifier: Apache-2.0
"""Deconvolution to a spectrum per channel, and the time filters that bring it back to ticks or pixels.

Formulas: docs/physics-notes.md#deconvolution and #time-filters, on real transforms: the channel axis is already inverse
transformed, the time axis is not.
"""

from __future__ import annotations

import numpy as np

from . import filters

PADDED_TICKS = 6300  # 6000 + 300 - 1, rounded up to a product of small primes
ROLL_TICKS = 128  # 100 mm / 1.565 mm/us = 63.9 us: charge is drawn at its arrival at the collection plane
PIXEL_TICKS = 4


def lower_median(samples: np.ndarray) -> np.ndarray:
    """Return the median of each channel of (channel, tick), the lower of the two middle values: (channel, 1)."""
    middle = (samples.shape[-1] - 1) // 2
    return np.partition(samples, middle, axis=-1)[..., middle : middle + 1]


def deconvolve(
    samples: np.ndarray,
    response: np.ndarray,
    channel_filter: np.ndarray,
    padded_ticks: int = PADDED_TICKS,
) -> np.ndarray:
    """Deconvolve one group of channels.

    samples (channel, tick) ADC; response (padded channel, padded tick//2 + 1) ADC/electron; channel_filter
    (padded channel,).  Channels beyond the samples are zero padding and are cropped again; with equal
    numbers the axis is cyclic.
    -> (channel, padded tick//2 + 1) complex: spectrum over time of the charge [electrons] at the response
    plane.
    """
    channels = samples.shape[0]
    spectrum = np.fft.rfft(samples - lower_median(samples), padded_ticks, axis=1)
    spectrum = np.fft.fft(spectrum, response.shape[0], axis=0)
    safe = np.where(response == 0, 1.0, response)
    spectrum *= np.where(response == 0, 0.0, channel_filter[:, None] / safe)
    return np.fft.ifft(spectrum, axis=0)[:channels]


def to_ticks(
    spectrum: np.ndarray, time_filter: np.ndarray, ticks: int = 6000, padded_ticks: int = PADDED_TICKS
) -> np.ndarray:
    """Filter and return to ticks:

    roll by ROLL_TICKS, crop to `ticks`. spectrum (channel, f) -> (channel, tick).
    """
    waveform = np.fft.irfft(spectrum * time_filter, padded_ticks, axis=-1)
    return np.roll(waveform, ROLL_TICKS, axis=-1)[..., :ticks]


def to_pixels(
    spectrum: np.ndarray, time_filter: np.ndarray, ticks: int = 6000, padded_ticks: int = PADDED_TICKS
) -> np.ndarray:
    """Filter and return to pixels of PIXEL_TICKS ticks, each the band-limited mean over its own ticks.

    Only the lowest padded_ticks/PIXEL_TICKS frequencies are kept before the inverse transform, so a quarter
    of the work; above 0.25 MHz the Wiener filters pass below 4 %, and dropping those frequencies avoids
    aliasing.
    -> (channel, ticks/PIXEL_TICKS)
    """
    pixels = padded_ticks // PIXEL_TICKS
    kept = pixels // 2 + 1
    transfer = time_filter * filters.pixel_average(padded_ticks, PIXEL_TICKS)
    low = spectrum[..., :kept] * transfer[:kept] / PIXEL_TICKS
    waveform = np.fft.irfft(low, pixels, axis=-1)
    return np.roll(waveform, ROLL_TICKS // PIXEL_TICKS, axis=-1)[..., : ticks // PIXEL_TICKS]
