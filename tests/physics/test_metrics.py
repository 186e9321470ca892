# SPDX-License-Identifier: Apache-2.0
"""Figures of merit on hand-made charge, compared with hand-computed values and with the independent reference."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.physics import roc
from spng import metrics
from tests.reference import metrics as reference

Counts = metrics.Counts


def image(*rows: list[float]) -> np.ndarray:
    """Return (channel, tick) float32."""
    return np.array(rows, dtype=np.float32)


def test_pixels_hold_four_ticks_and_a_rest_is_left_out() -> None:
    condition = np.array([[0, 0, 0, 1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 1, 0, 0, 0]], dtype=bool)
    assert metrics.any_tick(condition).tolist() == [[True, False], [False, True]]


def test_a_true_pixel_has_a_tick_above_500_electrons() -> None:
    truth = image([400, 400, 400, 400, 500, 0, 0, 0, 0, 0, 501, 0])
    assert metrics.true_pixels(truth).tolist() == [[False, False, True]]


def test_counts_and_ratios() -> None:
    """Two channels of three pixels; the output has charge 1500 + 900 of 2000 + 1000, one pixel too many, one missed."""
    truth = image([0, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1000, 0, 0, 0, 0, 0, 0, 0])
    signal = image([0, 700, 800, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 450, 450, 0])
    counts = metrics.count(signal, truth)
    assert counts == Counts(2400.0, 3000.0, 2, 2, 1, 6)
    ratios = {name: ratio(counts) for name, ratio in metrics.RATIOS.items()}
    assert ratios == {"charge": 0.8, "efficiency": 0.5, "purity": 0.5, "kept": 2 / 6}
    assert (counts + counts) - counts == counts


def test_ratios_without_a_denominator_are_nan() -> None:
    counts = metrics.count(image([0] * 8), image([0] * 8))
    assert all(np.isnan(metrics.RATIOS[name](counts)) for name in ("charge", "efficiency", "purity"))
    assert metrics.RATIOS["kept"](counts) == 0.0


def test_channel_ratios_take_channels_above_5000_electrons() -> None:
    truth, signal = image([3000, 3000], [4000, 1000], [0, 8000]), image([3000, 0], [9, 9], [6000, 6000])
    assert metrics.channel_ratios(signal, truth).tolist() == [0.5, 1.5]


def test_resolution_is_half_the_central_68_percent() -> None:
    assert metrics.resolution(np.linspace(0, 1, 101)) == pytest.approx(0.34)
    assert np.isnan(metrics.resolution(np.ones(1)))


def test_pooled_ratio_and_its_jackknife_error() -> None:
    """Charges 1/1, 2/2, 6/3: in total 9/6; without one of them 8/5, 7/4, 3/3, mean 1.45."""
    events = [Counts(1, 1), Counts(2, 2), Counts(6, 3)]
    found = metrics.pooled(events, metrics.RATIOS["charge"])
    assert found.value == 1.5
    assert found.error == pytest.approx(np.sqrt(2 / 3 * (0.15**2 + 0.30**2 + 0.45**2)))
    assert np.isnan(metrics.pooled(events[:1], metrics.RATIOS["charge"]).error)


def test_mean_and_its_error() -> None:
    found = metrics.mean([1.0, 2.0, 3.0, float("nan")])
    assert found.value == 2.0 and found.error == pytest.approx(1 / np.sqrt(3))
    assert np.isnan(metrics.mean([]).value)


@pytest.mark.parametrize("delay", [0, 3, -5])
def test_best_shift(delay: int) -> None:
    truth = np.zeros((3, 200), dtype=np.float32)
    truth[1] = 100 * np.exp(-0.5 * ((np.arange(200) - 90) / 4) ** 2)
    assert metrics.best_shift(np.roll(truth, delay, axis=1), truth) == pytest.approx(delay, abs=1e-6)


def test_runs_are_counted_per_channel() -> None:
    regions = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]], dtype=bool)
    assert metrics.runs(regions) == 4


def test_agreement_with_the_reference() -> None:
    """tests/reference/metrics.py has the same definitions independently."""
    generator = np.random.default_rng(900_100)
    truth = (generator.exponential(800, (40, 400)) * (generator.random((40, 400)) < 0.2)).astype(np.float32)
    signal = (truth * generator.normal(1, 0.2, truth.shape) * (generator.random(truth.shape) < 0.8)).astype(
        np.float32
    )
    counts, expected = metrics.count(signal, truth), reference.merit(signal, truth)
    for name in ("charge", "efficiency", "purity"):
        assert metrics.RATIOS[name](counts) == pytest.approx(getattr(expected, name), rel=1e-5)
    assert metrics.channel_ratios(signal, truth) == pytest.approx(
        reference.channel_ratios(signal, truth), rel=1e-5
    )
    assert metrics.best_shift(signal, truth) == pytest.approx(reference.best_shift(signal, truth), abs=1e-3)


def test_roc_of_four_pixels() -> None:
    """Probabilities 0.15 (false), 0.3 (true), 0.5 (false), 0.97 (true); a pixel must be strictly above the threshold."""
    probability = np.array([[0.15, 0.3], [0.5, 0.97]], dtype=np.float32)
    true = np.array([[False, True], [False, True]])
    curve = roc.count(probability, true).json()
    rows = {
        threshold: (curve["efficiency"][index], curve["purity"][index], curve["false_rate"][index])
        for index, threshold in enumerate(curve["threshold"])
    }
    assert rows[0.1] == (1.0, 0.5, 1.0)
    assert rows[0.2] == (1.0, pytest.approx(2 / 3), 0.5)
    assert rows[0.3] == (0.5, 0.5, 0.5), "0.3 is not strictly above 0.3"
    assert rows[0.5] == (0.5, 1.0, 0.0)
    assert rows[0.98][0] == 0.0 and np.isnan(rows[0.98][1])


def test_roc_adds_up() -> None:
    generator = np.random.default_rng(900_101)
    probability, true = generator.random((20, 30)).astype(np.float32), generator.random((20, 30)) < 0.3
    whole = roc.count(probability, true)
    halves = roc.count(probability[:7], true[:7]) + roc.count(probability[7:], true[7:])
    assert halves.json() == whole.json()
    index = roc.THRESHOLDS.tolist().index(0.5)
    assert whole.passed[index] == (probability > 0.5).sum()
    assert whole.passed_true[index] == ((probability > 0.5) & true).sum()
