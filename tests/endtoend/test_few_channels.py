# SPDX-License-Identifier: Apache-2.0
"""Frames with few channels of a view: charge, ROIs, noise, memory, warnings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.endtoend import few_channels
from tests.endtoend.few_channels import Case
from tests.reference import roi
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

CASES = [
    Case("U", 48, "one piece", np.arange(60, 108)),
    Case("W", 8, "one piece", np.arange(2200, 2208), is_beside=False),
    Case("W", 48, "one piece", np.arange(2190, 2238)),
    Case("W", 200, "one piece", np.arange(2100, 2300), is_beside=False),
    Case("W", 100, "scattered", np.arange(2082, 2560, 4)[:100]),
    Case("V", 1, "one piece", np.array([1200]), is_beside=False),
]


@pytest.fixture(name="signals", scope="module")
def fixture_signals(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    return few_channels.run(tmp_path_factory.mktemp("few"), CASES, model="none", threads=1)


@pytest.mark.parametrize("index", range(4))
def test_a_piece_has_the_charge_and_rois_of_the_whole_event(signals: list[np.ndarray], index: int) -> None:
    found = few_channels.ratios(CASES[index], signals[0], signals[index + 1])
    assert abs(found.charge - 1) < 0.02
    assert abs(found.regions - 1) < 0.02


def test_channels_without_neighbours_on_collection(signals: list[np.ndarray]) -> None:
    """Of lone channels the charge of neighbours' currents is missing, but the noise and its cap are those of a view."""
    found = few_channels.ratios(CASES[4], signals[0], signals[5])
    assert abs(found.charge - 1) < 0.05
    assert found.share < 0.06


def test_absent_channels_have_no_charge(signals: list[np.ndarray]) -> None:
    for case, signal in zip(CASES, signals[1:], strict=True):
        if not case.is_beside:
            assert np.isin(np.flatnonzero(signal.any(axis=1)), case.channels).all()


def test_expected_noise_is_the_measured_one(tmp_path: Path) -> None:
    """The noise that replaces the measurement: that of the default event, which has the noise of the spectra."""
    wire_cell.run(
        *(
            "-c",
            wire_cell.PIPELINE,
            "-l",
            "run.log",
            "-L",
            "debug",
            "-A",
            f"input={wire_cell.default_input()}",
        ),
        *("-A", "output=out.npz", "-A", "dump=loose,tight", "-A", "device=cpu"),
        folder=tmp_path,
    )
    log = (tmp_path / "run.log").read_text(encoding="utf-8")
    expected = {
        (image, view): float(noise)
        for image, view, noise in re.findall(
            r"SPNGImageNoise:(\w+)-\w+ \] view (\w+): expected noise ([\d.]+) electrons", log
        )
    }
    planes = {"U": ("induction", 0), "V": ("induction", 1), "W0": ("collection", 0), "W1": ("collection", 1)}
    images = [("tight", view) for view in planes] + [("loose", view) for view in "UV"]
    assert set(expected) == set(images)
    for image, view in images:
        kind, index = planes[view]
        samples = wire_cell.read_arrays(tmp_path / f"out-{image}-{kind}.npz")[f"{image}_0"]
        measured = np.median(roi.robust_levels(samples[index], 3, stride=4)[2])
        # Tracks raise the measured noise a little.
        assert 0.92 < expected[image, view] / measured < 1.04, (image, view)


def test_few_channels_take_little_memory(tmp_path: Path) -> None:
    """The deconvolution, the largest step, needs memory for the rows around 48 of 480 channels only."""
    samples, channels, start = wire_cell.default_adc()
    peaks = []
    for kept in (channels >= 0, np.isin(channels, np.arange(2200, 2248))):
        wire_cell.write_arrays(
            tmp_path / "adc.tar", wire_cell.event(samples[kept], channels[kept], start_ns=start)
        )
        arguments = {"input": "adc.tar", "model": "none", "max_bad_share": 1}
        wire_cell.job(tmp_path, "--timing", "timing.json", **arguments)
        timing = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))
        peaks.append({node["name"]: node["cpu_peak_bytes"] for node in timing["nodes"]})
    whole, few = peaks
    for name in ("SPNGDecon:induction", "SPNGDecon:collection", "SPNGApply1DSpectrum:gauss-collection"):
        assert few[name] < 0.4 * whole[name], name


def test_a_view_with_too_few_channels_is_named(tmp_path: Path) -> None:
    samples, channels, start = wire_cell.default_adc()
    kept = np.isin(channels, [5, 1300, *range(2200, 2209), *range(1700, 1710)])
    arrays = wire_cell.event(samples[kept], channels[kept], 0, start_ns=start)
    wire_cell.write_arrays(tmp_path / "adc.tar", arrays)
    words = ["input=adc.tar", "output=out.npz", "device=cpu", "max_bad_share=1", "model=none"]
    done = wire_cell.run(
        *("-c", wire_cell.PIPELINE, "--strict"), *(f"-A{word}" for word in words), folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    named = re.findall(r"too few channels of a view to measure its noise \(anode 0, view (\w+)", done.stderr)
    assert named == ["U", "V", "W0"]
    assert "seen 9 of 480 channels, expected at least 10" in done.stderr


@pytest.mark.parametrize("kept", [[2200], [3, 900]])
def test_frames_with_one_channel_or_none_of_a_view(tmp_path: Path, kept: list[int]) -> None:
    samples, channels, start = wire_cell.default_adc()
    rows = np.isin(channels, kept)
    wire_cell.write_arrays(
        tmp_path / "adc.tar", wire_cell.event(samples[rows], channels[rows], 0, start_ns=start)
    )
    for model in ("none", "default"):
        output = wire_cell.job(tmp_path, input="adc.tar", model=model)
        signal = output["frame_signal_0"]
        assert signal.shape == samples.shape
        assert np.isfinite(signal).all()
        assert np.isin(np.flatnonzero(signal.any(axis=1)), kept).all()
        assert np.count_nonzero(signal) < 0.1 * len(kept) * samples.shape[1]
