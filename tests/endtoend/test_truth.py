# SPDX-License-Identifier: Apache-2.0
"""The whole chain with its defaults against what was simulated: charge, purity, time, and the form of the output."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import chain, detector, metrics, response, simulate
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

VIEWS = {"U": slice(0, 800), "V": slice(800, 1600), "W": slice(1600, 2560)}
BUSY_TRACKS, BUSY_SEED, NOISE_SEED = 60, 904, 905
# Regions where there is nothing. Seeds are 5 sigma on a pixel, 3e-7 of Gaussian samples, in up to three images of 1500
# pixels; 4 sigma (3e-5) count where two other views, each hit in some 1e-2 of the pixels, cross. A seed makes a region of some
# ten pixels: a few 1e-5 of all pixels, and noise of this kind has somewhat longer tails.
FALSE_PIXELS = {"U": 5e-4, "V": 5e-4, "W": 1e-4}


@pytest.fixture(name="output", scope="module")
def fixture_output(tmp_path_factory: pytest.TempPathFactory) -> wire_cell.Arrays:
    """The default job on the default event."""
    return wire_cell.job(tmp_path_factory.mktemp("default"))


@pytest.fixture(name="truth", scope="module")
def fixture_truth() -> np.ndarray:
    """True charge, (channel, tick) electrons, by ascending channel."""
    arrays = wire_cell.read_arrays(wire_cell.TRUTH)
    np.testing.assert_array_equal(arrays["channels_*_0"], np.arange(2560))
    return arrays["frame_*_0"].astype(np.float64)


@pytest.fixture(name="simulated", scope="module")
def fixture_simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[wire_cell.Arrays, np.ndarray]:
    """Output of the chain on two simulated events, 60 tracks and noise only, and the true charge of the first on W.

    The tracks are on W alone, whose regions do not depend on U and V.
    """
    folder = tmp_path_factory.mktemp("simulated")
    described = chain.Chain(
        wire_cell.description("protodunehd-wires-larsoft-v1"),
        wire_cell.description("dune-garfield-1d565"),
    )
    noise = wire_cell.DATA / "protodunehd-noise-spectra-14mVfC-v1.json.bz2"
    tracks = simulate.random_tracks(np.random.default_rng(BUSY_SEED), BUSY_TRACKS)
    channels = np.concatenate(described.order)
    nothing, _ = simulate.event(described, noise, np.zeros((0, 2, 3)), NOISE_SEED)
    order = described.order[detector.W]
    rng = np.random.default_rng(BUSY_SEED)
    depositions = simulate.drift(rng, tracks)
    charge = simulate.charge_image(depositions, *simulate.face_wires(described, detector.W), len(order))
    kernel = response.response_kernel(described.field, detector.W)
    groups = np.split(charge, np.cumsum(chain.GROUP_SIZES[detector.W])[:-1])
    counts = np.concatenate([simulate.convolve(group, kernel, False) for group in groups])
    counts += simulate.noise(rng, noise, detector.W, len(order))
    busy = [*nothing[: detector.W], simulate.digitise(counts, simulate.BASELINE_COUNTS[detector.W])]
    arrays = {
        **wire_cell.event(np.concatenate(busy), channels, 0),
        **wire_cell.event(np.concatenate(nothing), channels, 1),
    }
    wire_cell.write_arrays(folder / "adc.npz", arrays)
    truth = simulate.smeared_charge(described, depositions, detector.W)
    return wire_cell.job(folder, input="adc.npz"), truth[np.argsort(order)]


@pytest.mark.parametrize("view, least, most", [("U", 0.80, 1.10), ("V", 0.80, 1.10), ("W", 0.97, 1.03)])
def test_charge_and_purity(
    output: wire_cell.Arrays, truth: np.ndarray, view: str, least: float, most: float
) -> None:
    """Regions of U and V that follow the noise upwards collect some of it: a few percent more than the truth."""
    merit = metrics.merit(output["frame_signal_0"][VIEWS[view]], truth[VIEWS[view]])
    assert least <= merit.charge <= most, f"{view}: {merit}"
    assert merit.purity >= 0.6, f"{view}: {merit}"


@pytest.mark.parametrize("view", VIEWS)
def test_alignment(output: wire_cell.Arrays, truth: np.ndarray, view: str) -> None:
    """By cross-correlation, positive when the signal is late."""
    late = metrics.best_shift(output["frame_signal_0"][VIEWS[view]], truth[VIEWS[view]])
    assert abs(late) <= 1.0, f"{view}: late by {late:.2f} ticks"


def test_form_of_the_output(output: wire_cell.Arrays) -> None:
    """One tag, electrons as float32, channels in order, the input's ticks and start."""
    assert set(output) == {"frame_signal_0", "channels_signal_0", "tickinfo_signal_0", "notes_spng_0"}
    assert output["frame_signal_0"].shape == (2560, 6000) and output["frame_signal_0"].dtype == np.float32
    np.testing.assert_array_equal(output["channels_signal_0"], np.arange(2560))
    np.testing.assert_array_equal(output["tickinfo_signal_0"], [wire_cell.default_adc()[2], 500.0, 0.0])


def test_charge_of_a_busy_frame(simulated: tuple[wire_cell.Arrays, np.ndarray]) -> None:
    """60 tracks overlap, and the baseline of collection channels is where charge could be lost."""
    output, truth = simulated
    merit = metrics.merit(output["frame_signal_0"][VIEWS["W"]], truth)
    assert abs(merit.charge - 1) < 0.05, str(merit)


@pytest.mark.parametrize("view", VIEWS)
def test_noise_makes_few_regions(simulated: tuple[wire_cell.Arrays, np.ndarray], view: str) -> None:
    found = metrics.any_tick(simulated[0]["frame_signal_1"][VIEWS[view]] != 0).mean()
    assert found < FALSE_PIXELS[view], f"{view}: {found:.1e} of the pixels"
