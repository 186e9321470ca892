# SPDX-License-Identifier: Apache-2.0
"""Conditions of the training events: noise, channels and baselines as real data have them.

An event is simulated once; its waveforms without noise and its noise are then combined anew. So the network sees noise of
half to twice the nominal level, noisy and dead channels, drifting baselines, and a gain and a shaping time that differ from
the description of the detector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .draws import log_uniform

TICK_US = 0.5


@dataclass(frozen=True)
class Conditions:
    """Ranges from which the conditions of an event are drawn. A share is the share of events with the condition."""

    nominal: float = 0.35  # share with nominal noise
    noise: tuple[float, float] = (0.5, 2.3)  # factor on the noise of the others; the logarithm is uniform
    gain: float = 0.03  # standard deviation of the gain, around 1
    shaping: tuple[float, ...] = (1.0, 1.0, 0.9, 1.1, 0.95, 1.05)  # factors on the shaping time
    hot: float = 0.3  # share with noisy channels
    hot_channels: tuple[float, float] = (0.005, 0.04)  # share of noisy channels
    hot_noise: tuple[float, float] = (1.4, 4.0)  # factor on their noise
    dead: float = 0.2  # share with dead channels
    dead_channels: tuple[float, float] = (0.005, 0.04)
    drift: float = 0.2  # share with baselines that drift on all channels
    drift_adc: tuple[float, float] = (1.0, 25.0)  # RMS; the logarithm is uniform
    drift_mhz: float = 0.005  # highest frequency
    steps: float = 0.2  # share with steps of the baseline on some channels
    step_channels: tuple[float, float] = (0.005, 0.04)
    step_adc: tuple[float, float] = (5.0, 80.0)


# Nominal noise and a perfect detector.
NOMINAL = Conditions(nominal=1, gain=0, shaping=(1.0,), hot=0, dead=0, drift=0, steps=0)


def _chosen(rng: np.random.Generator, channels: int, share: tuple[float, float]) -> np.ndarray:
    """Draw a share of the channels."""
    return rng.choice(channels, int(rng.uniform(*share) * channels), replace=False)


def drift(rng: np.random.Generator, channels: int, ticks: int, highest_mhz: float) -> np.ndarray:
    """Return baselines (channel, tick) float32 of RMS 1 with an amplitude that falls as 1/f up to a frequency."""
    frequency = np.fft.rfftfreq(ticks, TICK_US)
    used = (frequency > 0) & (frequency < highest_mhz)
    count = int(np.flatnonzero(used)[-1]) + 1
    amplitude = np.where(used, 1 / np.maximum(frequency, 1 / (ticks * TICK_US)), 0)[:count]
    spectrum = np.zeros((channels, len(frequency)), dtype=np.complex64)
    shape = (channels, count)
    spectrum[:, :count] = amplitude * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))
    waves = np.fft.irfft(spectrum, ticks, axis=1).astype(np.float32)
    return waves / waves.std(axis=1, keepdims=True)


def changed(
    signal: np.ndarray, noise: np.ndarray, rng: np.random.Generator, rule: Conditions = Conditions()
) -> tuple[np.ndarray, np.ndarray]:
    """Return ADC counts above the baseline (channel, tick) float32 under conditions drawn at random, and the dead rows.

    signal, noise: (channel, tick) ADC counts above the baseline. Dead channels are constant.
    """
    channels, ticks = signal.shape
    factor = 1.0 if rng.random() < rule.nominal else float(log_uniform(rng, rule.noise))
    factors = np.full(channels, factor, dtype=np.float32)
    if rng.random() < rule.hot:
        hot = _chosen(rng, channels, rule.hot_channels)
        factors[hot] *= log_uniform(rng, rule.hot_noise, len(hot))
    samples = signal * np.float32(rng.normal(1.0, rule.gain)) + noise * factors[:, None]
    if rng.random() < rule.drift:
        samples += np.float32(log_uniform(rng, rule.drift_adc)) * drift(rng, channels, ticks, rule.drift_mhz)
    if rng.random() < rule.steps:
        for row in _chosen(rng, channels, rule.step_channels):
            size = float(log_uniform(rng, rule.step_adc)) * rng.choice([-1, 1])
            samples[row, rng.integers(ticks) :] += np.float32(size)
    dead = np.zeros(0, dtype=np.int64)
    if rng.random() < rule.dead:
        dead = _chosen(rng, channels, rule.dead_channels)
        samples[dead] = 0
    return samples, dead
