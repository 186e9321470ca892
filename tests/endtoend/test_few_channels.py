# SPDX-License-Identifier: Apache-2.0
"""Frames with few channels of a view: charge, ROIs, noise, memory, warnings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.physics.real.few_channels import PIECE, SCATTERED
from tests.endtoend import few_channels
from tests.endtoend.few_channels import case
from tests.reference import roi
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

CASES = [
    case("U", 48, 84, PIECE),
    case("W", 8, 2204, PIECE, is_beside=False),
    case("W", 48, 2214, PIECE),
    case("W", 200, 2200, PIECE, is_beside=False),
    case("U", 100, 84, SCATTERED),
    case("V", 100, 1200, SCATTERED),
    case("W", 100, 2204, SCATTERED),
    case("V", 1, 1200, PIECE, is_beside=False),
]


@pytest.fixture(name="signals", scope="module")
def fixture_signals(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    return few_channels.run(tmp_path_factory.mktemp("few"), CASES, model="none", threads=1)


@pytest.mark.parametrize("index", range(4))
def test_a_piece_has_the_charge_and_rois_of_the_whole_event(signals: list[np.ndarray], index: int) -> None:
    found = few_channels.ratios(CASES[index], signals[0], signals[index + 1])
    assert abs(found.charge - 1) < 0.02
    assert abs(found.regions - 1) < 0.02


@pytest.mark.parametrize(("index", "low", "high"), [(4, 1.60, 1.75), (5, 1.22, 1.34), (6, 1.02, 1.05)])
def test_channels_without_neighbours(signals: list[np.ndarray], index: int, low: float, high: float) -> None:
    """Lone channels have the charge of their absent neighbours' currents too, and the noise and its cap of a view."""
    found = few_channels.ratios(CASES[index], signals[0], signals[index + 1])
    assert low < found.charge < high
    assert found.share < 0.06


def test_absent_channels_have_no_charge(signals: list[np.ndarray]) -> None:
    for each, signal in zip(CASES, signals[1:], strict=True):
        if not each.is_beside:
            assert np.isin(np.flatnonzero(signal.any(axis=1)), each.channels).all()


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


@pytest.fixture(name="timings", scope="module")
def fixture_timings(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The reports of the whole event, of 48 channels in one piece, and of 48 scattered channels of each plane."""
    folder = tmp_path_factory.mktemp("memory")
    samples, channels, start = wire_cell.default_adc()
    piece = case("W", 48, 2224, PIECE).channels
    scattered = [case(view, 48, int(ids[84]), SCATTERED).channels for view, ids in few_channels.VIEWS.items()]
    timings = []
    for kept in (channels, piece, np.concatenate(scattered)):
        rows = np.isin(channels, kept)
        wire_cell.write_arrays(
            folder / "adc.tar", wire_cell.event(samples[rows], channels[rows], start_ns=start)
        )
        wire_cell.job(
            folder, "--timing", "timing.json", input="adc.tar", model="none", max_bad_share=1, threads=1
        )
        timings.append(json.loads((folder / "timing.json").read_text(encoding="utf-8")))
    return timings


def node_peaks(timing: dict[str, Any]) -> dict[str, int]:
    return {node["name"]: node["cpu_peak_bytes"] for node in timing["nodes"]}


def test_few_channels_take_little_memory(timings: list[dict[str, Any]]) -> None:
    """The deconvolution, the largest step, needs memory for the rows around 48 of 480 channels only."""
    whole, piece = node_peaks(timings[0]), node_peaks(timings[1])
    for name in ("SPNGDecon:induction", "SPNGDecon:collection", "SPNGApply1DSpectrum:gauss-collection"):
        assert piece[name] < 0.4 * whole[name], name


def test_few_channels_take_no_more_memory_than_the_whole_event(timings: list[dict[str, Any]]) -> None:
    """Scattered channels take the rows of the whole view, and no more."""
    whole = timings[0]
    for few in timings[1:]:
        assert max(node_peaks(few).values()) <= max(node_peaks(whole).values())
        assert few["run"]["process_peak_bytes"] < 1.02 * whole["run"]["process_peak_bytes"]


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
