# SPDX-License-Identifier: Apache-2.0
"""Conditions of the training events."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from scripts.dnnroi.conditions import NOMINAL, Conditions, changed, drift

CHANNELS, TICKS = 200, 6000
SIGNAL = np.zeros((CHANNELS, TICKS), dtype=np.float32)


def noise() -> np.ndarray:
    """White noise of RMS 3 ADC counts."""
    return np.random.default_rng(1).normal(0, 3, (CHANNELS, TICKS)).astype(np.float32)


def one(**changes: object) -> np.ndarray:
    """Return the samples of an event without signal, nominal except for some changes."""
    rule = dataclasses.replace(NOMINAL, **changes)
    return changed(SIGNAL, noise(), np.random.default_rng(2), rule)[0]


def test_nominal_changes_nothing() -> None:
    samples, dead = changed(SIGNAL + 5, noise(), np.random.default_rng(2), NOMINAL)
    np.testing.assert_allclose(samples, noise() + 5, rtol=1e-6)
    assert not len(dead)


def test_noise_and_noisy_channels() -> None:
    np.testing.assert_allclose(one(nominal=0, noise=(2.0, 2.0)), 2 * noise(), rtol=1e-6)
    rms = one(hot=1, hot_channels=(0.1, 0.1), hot_noise=(3.0, 3.0)).std(axis=1)
    assert (rms > 8).sum() == 0.1 * CHANNELS and (rms < 4).sum() == 0.9 * CHANNELS


def test_drift_has_its_rms_and_band() -> None:
    waves = drift(np.random.default_rng(3), 20, TICKS, 0.005)
    np.testing.assert_allclose(waves.std(axis=1), 1, rtol=1e-5)
    spectrum = np.abs(np.fft.rfft(waves, axis=1))
    frequency = np.fft.rfftfreq(TICKS, 0.5)
    assert spectrum[:, frequency > 0.0051].max() < 1e-3 * spectrum.max()
    drifting = one(drift=1, drift_adc=(20.0, 20.0)) - noise()
    np.testing.assert_allclose(drifting.std(axis=1), 20, rtol=1e-3)


def test_steps_and_dead_channels() -> None:
    steps = one(steps=1, step_channels=(0.05, 0.05), step_adc=(40.0, 40.0)) - noise()
    changes = np.abs(np.diff(steps, axis=1)).max(axis=1)
    assert (changes > 39.9).sum() == 0.05 * CHANNELS and (changes < 1e-4).sum() == 0.95 * CHANNELS
    samples, dead = changed(
        SIGNAL,
        noise(),
        np.random.default_rng(2),
        dataclasses.replace(NOMINAL, dead=1, dead_channels=(0.1, 0.1)),
    )
    assert len(dead) == 0.1 * CHANNELS and not samples[dead].any()


def test_every_condition_occurs() -> None:
    """Of 300 events about a third is nominal, and each condition has its share."""
    rule = Conditions()
    few = SIGNAL[:4, :8]
    rms = []
    for seed in range(300):
        samples, _ = changed(
            few, few + 1, np.random.default_rng((seed, 1)), dataclasses.replace(rule, drift=0)
        )
        rms.append(np.median(np.abs(samples)))
    assert np.mean(np.isclose(rms, 1)) == pytest.approx(rule.nominal, abs=0.1)
    assert np.min(rms) > 0.45 and np.max(rms) < 2.5
