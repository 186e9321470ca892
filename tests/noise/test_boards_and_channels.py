# SPDX-License-Identifier: Apache-2.0
"""Faults of real boards, made for the small detector: shared noise, noisy channels, a low gain, and a track along a board.

U, V and W of the small detector have one board each.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import synthetic, wire_cell
from tests.support.small_site import NOISE_COUNTS, Site

pytestmark = wire_cell.needs_program

TICKS = 2000
SHARED_COUNTS = 28.0
CLEAN, SHARED, NOISY, LOW_GAIN, ALONG, ALONG_SHARED, ALL_NOISY = range(7)
NOISY_ROWS = slice(4, 24)  # of U
LOW_GAIN_FACTOR = 4.7 / 14
ALONG_TICKS = range(200, 1900, 170)


def slow_wave(rng: np.random.Generator) -> np.ndarray:
    """Noise below 30 kHz with SHARED_COUNTS."""
    amplitude = 1 / (1 + (np.fft.rfftfreq(TICKS, 0.5) / 0.03) ** 2)
    amplitude[0] = 0
    phases = rng.normal(size=(2, len(amplitude)))
    wave = np.fft.irfft(amplitude * (phases[0] + 1j * phases[1]), TICKS)
    return SHARED_COUNTS * wave / wave.std()


def along_track(site: Site) -> np.ndarray:
    """Tracks that each reach all W wires at one time: (channel, tick) counts without noise, pulses of 120 counts."""
    w = site.anode.views[2]
    charge = np.zeros((len(w.channels), TICKS))
    for tick in ALONG_TICKS:
        charge[:, tick - 4 : tick + 5] = 8_000 * np.exp(-(np.arange(-4, 5) ** 2) / 8) / 5.01
    samples = np.zeros((len(site.anode.channels), TICKS))
    samples[np.searchsorted(site.anode.channels, w.channels)] = synthetic.waveforms(
        w, site.anode.kernel(w.plane), charge
    )
    return samples


@pytest.fixture(name="frames", scope="module")
def fixture_frames(site: Site) -> wire_cell.Arrays:
    """A busy frame (CLEAN) with a fault of U in each of the next ones, and quiet frames with a track along W."""
    rng = np.random.default_rng(39)
    clean = site.busy_frames(1, TICKS)["frame_*_0"].astype(np.float64)
    u = np.searchsorted(site.anode.channels, site.anode.views[0].channels)
    w = np.searchsorted(site.anode.channels, site.anode.views[2].channels)
    level = np.median(clean, axis=1, keepdims=True)
    rows = {each: clean.copy() for each in (CLEAN, SHARED, NOISY, LOW_GAIN)}
    wave = slow_wave(rng)
    rows[SHARED][u] += wave
    common = rng.normal(0, 20 * NOISE_COUNTS, TICKS)
    rows[NOISY][u[NOISY_ROWS]] += common + rng.normal(0, 10 * NOISE_COUNTS, (20, TICKS))
    rows[LOW_GAIN][u] = level[u] + LOW_GAIN_FACTOR * (rows[SHARED][u] - level[u])
    quiet = level + rng.normal(0, NOISE_COUNTS, clean.shape)
    rows[ALONG] = quiet + along_track(site)
    rows[ALONG_SHARED] = rows[ALONG].copy()
    rows[ALONG_SHARED][w] += wave
    rows[ALL_NOISY] = level + 6 * (quiet - level)
    arrays: wire_cell.Arrays = {}
    for ident, samples in rows.items():
        counts = np.clip(np.rint(samples), 0, 2**14 - 1).astype(np.int16)
        arrays |= wire_cell.event(counts, site.anode.channels, ident)
    return arrays


@pytest.fixture(name="outputs", scope="module")
def fixture_outputs(site: Site, frames: wire_cell.Arrays) -> dict[str, wire_cell.Arrays]:
    """The output of each choice of steps. The order of the argument is not that of the chain."""
    along = {name: array for name, array in frames.items() if name.endswith(f"_{ALONG}")}
    return {
        steps: site.job(along if steps == "none" else frames, noise_filter=steps)
        for steps in ("none", "coherent", "channels", "channels,coherent")
    }


def masked(output: wire_cell.Arrays, ident: int, name: str = "bad") -> list[int]:
    mask = output.get(f"chanmask_{name}_{ident}", np.zeros((0, 3)))
    return sorted({int(row[0]) for row in mask})


def charge(site: Site, output: wire_cell.Arrays, ident: int, view: int, keep: slice = slice(None)) -> float:
    """Charge of channels of a view."""
    rows = np.searchsorted(site.anode.channels, site.anode.views[view].channels[keep])
    return float(output[f"frame_signal_{ident}"][rows].sum())


STEPS_WITH_CHANNELS = ("channels", "channels,coherent")


@pytest.mark.parametrize("steps", STEPS_WITH_CHANNELS)
def test_shared_noise_masks_no_channel(site: Site, outputs: dict[str, wire_cell.Arrays], steps: str) -> None:
    for ident in (CLEAN, SHARED, LOW_GAIN, ALONG, ALONG_SHARED):
        assert masked(outputs[steps], ident) == [], ident


@pytest.mark.parametrize("steps", ("coherent", "channels,coherent"))
def test_shared_noise_goes_and_charge_stays(
    site: Site, outputs: dict[str, wire_cell.Arrays], steps: str
) -> None:
    seen, clean = (charge(site, outputs[steps], ident, 0) for ident in (SHARED, CLEAN))
    assert seen / clean == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize("steps", STEPS_WITH_CHANNELS)
def test_noisy_channels_are_named(site: Site, outputs: dict[str, wire_cell.Arrays], steps: str) -> None:
    expected = sorted(int(channel) for channel in site.anode.views[0].channels[NOISY_ROWS])
    assert masked(outputs[steps], NOISY) == masked(outputs[steps], NOISY, "noisy") == expected


def test_noisy_channels_leave_the_others_as_they_are(
    site: Site, outputs: dict[str, wire_cell.Arrays]
) -> None:
    """Three wires away from them, which is what the filter along wires mixes."""
    others = slice(NOISY_ROWS.stop + 3, None)
    for steps in ("coherent", *STEPS_WITH_CHANNELS):
        seen, clean = (charge(site, outputs[steps], ident, 0, others) for ident in (NOISY, CLEAN))
        assert seen / clean == pytest.approx(1, abs=0.04), steps


@pytest.mark.parametrize("steps", ("coherent", "channels,coherent"))
def test_track_along_a_board_is_kept(site: Site, outputs: dict[str, wire_cell.Arrays], steps: str) -> None:
    """Shared noise may cost a part of the charge: straight lines replace it during a pulse (docs/limits.md)."""
    clean = charge(site, outputs["none"], ALONG, 2)
    assert charge(site, outputs[steps], ALONG, 2) / clean == pytest.approx(1, abs=0.04)
    assert 0.85 < charge(site, outputs[steps], ALONG_SHARED, 2) / clean < 1.04


def test_masked_share_of_a_view_is_a_warning(
    site: Site, frames: wire_cell.Arrays, outputs: dict[str, wire_cell.Arrays]
) -> None:
    assert len(masked(outputs["channels"], ALL_NOISY)) == len(site.anode.channels)
    one = {name: array for name, array in frames.items() if name.endswith(f"_{NOISY}")}
    wire_cell.write_arrays(site.folder / "noisy.npz", one)
    words = ("input=noisy.npz", "output=noisy-out.npz", "device=cpu", "noise_filter=channels,coherent")
    arguments = [*site.flags, *wire_cell.settings(*words), "-c", wire_cell.PIPELINE]
    block = wire_cell.rejected("--strict", *arguments, folder=site.folder, status=1)
    assert "the step channels masks many channels of a view" in block and "view U" in block
    assert f"0 dead and 20 noisy of {len(site.anode.views[0].channels)} channels" in block
    assert "max_bad_share" in block


def test_repeated_step_is_rejected(site: Site) -> None:
    block = wire_cell.rejected(
        "-c",
        wire_cell.PIPELINE,
        *site.flags,
        "-A",
        "noise_filter=lines,coherent,lines",
        folder=site.folder,
        status=2,
    )
    assert "noise filter lines is given twice" in block
