# SPDX-License-Identifier: Apache-2.0
"""The measure of agreement of two outputs, and its limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.gpu.agreement import DOUBLE, EXACT, FAST, SAME_BYTES, Agreement, compare
from tests.support import wire_cell

CHANNELS, TICKS = 40, 800


def signal() -> np.ndarray:
    """Return an event with an ROI of 400 ticks in every channel, float32."""
    samples = np.zeros((CHANNELS, TICKS), np.float32)
    samples[:, 200:600] = np.random.default_rng(1).normal(1000, 100, (CHANNELS, 400))
    return samples


def agreement(folder: Path, seen: np.ndarray, expected: np.ndarray | None = None) -> Agreement:
    """Return the agreement of an event with the reference."""
    for name, samples in (("one.tar", signal() if expected is None else expected), ("two.tar", seen)):
        wire_cell.write_arrays(folder / name, wire_cell.event(samples, np.arange(CHANNELS), 3))
    (found,) = compare(folder / "one.tar", folder / "two.tar")
    return found


def test_equal_outputs_have_the_same_bytes(tmp_path: Path) -> None:
    found = agreement(tmp_path, signal())
    assert (found.frames, found.same_bytes, found.both, found.either) == (1, 1, 16_000, 16_000)
    assert found.failures(SAME_BYTES) == []


def test_a_lost_roi_is_located(tmp_path: Path) -> None:
    seen = signal()
    seen[7, 200:600] = 0
    found = agreement(tmp_path, seen)
    assert (found.both, found.either, found.differing) == (15_600, 16_000, 1)
    assert found.locations == [(3, 7, 200, 599)] and found.worst_sd == 0
    (failure,) = [line for line in found.failures(EXACT) if "ROIs share 0.975000" in line]
    assert "event 3 row 7 ticks 200-599" in failure


def test_one_decision_at_the_quarter_rate_may_differ(tmp_path: Path) -> None:
    """Four ticks of 16000 are more than 1e-4, but a single decision; eight are two."""
    for ticks, is_accepted in ((4, True), (8, False)):
        seen = signal()
        seen[0, 600 - ticks : 600] = 0
        found = agreement(tmp_path, seen, np.where(signal() > 0, 1, 0).astype(np.float32) * signal())
        failures = [line for line in found.failures(EXACT) if "ROIs" in line]
        assert (failures == []) == is_accepted, ticks


def test_values_are_in_standard_deviations(tmp_path: Path) -> None:
    seen = signal()
    seen[3, 300] += np.float32(0.05)
    found = agreement(tmp_path, seen)
    assert found.worst_sd == pytest.approx(0.05 / 100, rel=0.05)
    assert any("values differ" in line for line in found.failures(EXACT))
    assert found.failures(FAST) == []


def test_charge_is_compared(tmp_path: Path) -> None:
    found = agreement(tmp_path, signal() * np.float32(1.01))
    assert found.charge_ratio == pytest.approx(1.01, abs=1e-5)
    assert any("charge is 1.0" in line for line in found.failures(FAST))


@pytest.mark.parametrize("criterion", [SAME_BYTES, EXACT, FAST, DOUBLE])
def test_nan_and_empty_outputs_fail(tmp_path: Path, criterion: object) -> None:
    seen = signal()
    seen[5, 5] = np.nan
    found = agreement(tmp_path, seen)
    assert any("1 samples are NaN" in line for line in found.failures(criterion))  # type: ignore[arg-type]
    nothing = np.zeros_like(seen)
    empty = agreement(tmp_path, nothing, nothing)
    assert any("all samples are zero" in line for line in empty.failures(criterion))  # type: ignore[arg-type]


def test_a_missing_event_and_another_shape_are_errors(tmp_path: Path) -> None:
    channels = np.arange(CHANNELS)
    one = wire_cell.event(signal(), channels)
    wire_cell.write_arrays(tmp_path / "two-events.tar", one | wire_cell.event(signal(), channels, 1))
    wire_cell.write_arrays(tmp_path / "one-event.tar", one)
    with pytest.raises(ValueError, match="frame_.*_1 is missing"):
        compare(tmp_path / "two-events.tar", tmp_path / "one-event.tar")
    wire_cell.write_arrays(tmp_path / "short.tar", wire_cell.event(signal()[:, :400], channels))
    with pytest.raises(ValueError, match=r"\(40, 400\)"):
        compare(tmp_path / "one-event.tar", tmp_path / "short.tar")


def test_sums_near_zero_are_compared_by_magnitudes(tmp_path: Path) -> None:
    """A waveform without a mean has no charge to divide by."""
    waves = np.random.default_rng(2).normal(0, 100, (CHANNELS, TICKS)).astype(np.float32)
    waves -= waves.mean()
    found = agreement(tmp_path, waves + np.float32(1e-3), waves)
    assert found.charge_ratio == pytest.approx(1 + 1e-3 / np.abs(waves).mean(), abs=1e-6)
    assert found.failures(EXACT) == []
