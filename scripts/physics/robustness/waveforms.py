# SPDX-License-Identifier: Apache-2.0
"""Changes of simulated waveforms: gain, charge, noise, noisy channels, drift of the baseline, steps of the pedestal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TICK_S = 0.5e-6
ADC_MAX = 16383
NOISY_SHARE, NOISY_FACTOR = 0.03, 3.0  # of the channels; of their noise
STEP_SHARE = 0.03
STEP_TICKS = (500, 5500)  # of 6000; a step begins between these
DRIFT_HZ = 5000.0  # no drift at this frequency and above


@dataclass(frozen=True)
class Waveforms:
    """One event: baseline (channel, 1), signal and noise (channel, tick) [ADC]; their sum is the frame."""

    baseline: np.ndarray
    signal: np.ndarray
    noise: np.ndarray


def separated(adc: np.ndarray, signal: np.ndarray) -> Waveforms:
    """Return the parts of a frame. adc: with noise; signal: without noise and baseline, both (channel, tick) [ADC]."""
    rest = adc - signal
    baseline = rest.mean(axis=1, dtype=np.float64, keepdims=True).astype(np.float32)
    return Waveforms(baseline, signal, rest - baseline)


def drift(generator: np.random.Generator, channels: int, ticks: int) -> np.ndarray:
    """Return a drift (channel, tick) with an RMS of 1 in each channel: amplitudes of 1 / frequency and random phases below DRIFT_HZ."""
    step = 1 / (ticks * TICK_S)
    index = np.arange(1, int(np.ceil(DRIFT_HZ / step)))
    parts = generator.standard_normal((2, channels, len(index))) / index
    parts *= np.sqrt(2 / (parts**2).sum(axis=(0, 2), keepdims=True))
    angle = 2 * np.pi * np.outer(index, np.arange(ticks)) / ticks
    return parts[0].astype(np.float32) @ np.cos(angle).astype(np.float32) + parts[1].astype(
        np.float32
    ) @ np.sin(angle).astype(np.float32)


def steps(generator: np.random.Generator, channels: int, ticks: int) -> np.ndarray:
    """Return steps of +1 or -1 on STEP_SHARE of the channels, from a random tick to the end: (channel, tick)."""
    found = np.zeros((channels, ticks), dtype=np.float32)
    scale = ticks / 6000
    for channel in chosen(generator, channels, STEP_SHARE):
        first = generator.integers(int(STEP_TICKS[0] * scale), int(STEP_TICKS[1] * scale))
        found[channel, first:] = generator.choice([-1, 1])
    return found


def chosen(generator: np.random.Generator, channels: int, share: float) -> np.ndarray:
    """Return the rows of randomly chosen channels."""
    return generator.choice(channels, int(round(share * channels)), replace=False)


@dataclass(frozen=True)
class Change:
    """A change of waveforms.

    signal        factor of the signal, and of the true charge
    noise         factor of the noise
    gain          factor of signal and noise; the true charge stays
    noisy         NOISY_SHARE of the channels have NOISY_FACTOR times the noise
    drift, steps  RMS of the drift, height of the steps [ADC]
    """

    signal: float = 1.0
    noise: float = 1.0
    gain: float = 1.0
    noisy: bool = False
    drift: float = 0.0
    steps: float = 0.0

    def apply(self, given: Waveforms, seed: int) -> np.ndarray:
        """Return the frame (channel, tick) int16 of the changed waveforms. The seed chooses channels, drift and steps."""
        channels, ticks = given.signal.shape
        generator = np.random.default_rng(seed)
        noise = np.full((channels, 1), self.noise * self.gain, dtype=np.float32)
        if self.noisy:
            noise[chosen(generator, channels, NOISY_SHARE)] *= NOISY_FACTOR
        found = noise * given.noise
        if self.signal:
            found += np.float32(self.signal * self.gain) * given.signal
        if self.drift:
            found += np.float32(self.drift) * drift(generator, channels, ticks)
        if self.steps:
            found += np.float32(self.steps) * steps(generator, channels, ticks)
        found += given.baseline
        np.rint(found, out=found)
        return np.clip(found, 0, ADC_MAX, out=found).astype(np.int16)
