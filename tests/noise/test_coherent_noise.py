# SPDX-License-Identifier: Apache-2.0
"""The job removes coherent noise of front-end boards that is added to the default event, with little effect
on the charge.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

TICKS = 6000
TICK_US = 0.5
# First channel, boards and channels on each of them: U, V, W.
BOARDS = ((0, 20, 40), (800, 20, 40), (1600, 20, 48))
VIEWS = (slice(0, 800), slice(800, 1600), slice(1600, 2560))
SHARED_RMS = 9.0  # counts, about 0.7 of the noise of a channel of the default event


def shapes() -> dict[str, np.ndarray]:
    """Return amplitudes by frequency of two kinds of shared noise: regulators (below 30 kHz) and pick-up
    around 100 kHz.
    """
    frequency = np.fft.rfftfreq(TICKS, TICK_US)
    low, middle = 1 / (1 + (frequency / 0.03) ** 2), np.exp(-(((frequency - 0.1) / 0.1) ** 2))
    low[0] = middle[0] = 0
    return {"low": low, "middle": middle}


def shared_noise(rng: np.random.Generator, amplitude: np.ndarray, rms: float) -> np.ndarray:
    """Return one random wave for each board on all of its channels: (channel, tick) [counts]."""
    waves = []
    for _, boards, channels in BOARDS:
        parts = rng.normal(size=(2, boards, len(amplitude)))
        wave = np.fft.irfft(amplitude * (parts[0] + 1j * parts[1]), TICKS, axis=1)
        waves.append(np.repeat(rms * wave / wave.std(axis=1, keepdims=True), channels, axis=0))
    return np.concatenate(waves)


def run(folder: Path, name: str, added: np.ndarray, **arguments: str) -> np.ndarray:
    """Return the charge of the default event with added noise: (channel, tick) [electrons]."""
    samples, channels, start = wire_cell.default_adc()
    counts = np.clip(samples + np.rint(added), 0, 2**14 - 1).astype(np.int16)
    event = wire_cell.event(counts, channels, start_ns=start)
    given = wire_cell.write_arrays(folder / f"{name}-adc.npz", event)
    return wire_cell.job(folder, input=given, output=f"{name}.npz", **arguments)["frame_signal_0"]


def cleaned(folder: Path, name: str) -> np.ndarray:
    """Return the filtered waveforms of a run with dump=adc, by channel id: (channel, tick) [counts]."""
    result = np.zeros((2560, TICKS))
    for group in ("induction", "collection"):
        tap = wire_cell.read_arrays(folder / f"{name}-adc-{group}.npz")
        result[tap[f"{group}_ids_0"].reshape(-1)] = tap[f"{group}_0"].reshape(-1, TICKS)
    return result


@pytest.fixture(scope="module")
def clean_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, np.ndarray]:
    """Filter the default event without added noise; return its charge and its filtered waveforms."""
    folder = tmp_path_factory.mktemp("clean")
    charge = run(folder, "clean", np.zeros((2560, TICKS)), noise_filter="coherent", dump="adc")
    return charge, cleaned(folder, "clean")


def test_without_shared_noise_nothing_is_lost(
    clean_run: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    unfiltered = run(tmp_path, "unfiltered", np.zeros((2560, TICKS)))
    for view in VIEWS:
        assert clean_run[0][view].sum() / unfiltered[view].sum() == pytest.approx(1, abs=0.005), view


@pytest.mark.parametrize("shape", shapes())
def test_noise_goes_and_charge_stays(
    clean_run: tuple[np.ndarray, np.ndarray], tmp_path: Path, shape: str
) -> None:
    added = np.rint(shared_noise(np.random.default_rng(1), shapes()[shape], SHARED_RMS))
    charge = run(tmp_path, "noisy", added, noise_filter="coherent", dump="adc")
    left = cleaned(tmp_path, "noisy") - clean_run[1]
    for view, (_, boards, channels) in zip(VIEWS, BOARDS, strict=True):
        assert charge[view].sum() / clean_run[0][view].sum() == pytest.approx(1, abs=0.02), view
        # Share of the wave that is left on each board, by regression on the wave.
        share = (left[view] * added[view]).sum(axis=1) / (added[view] ** 2).sum(axis=1)
        assert np.abs(share.reshape(boards, channels).mean(axis=1)).max() < 0.10, view


def test_unknown_filter_is_rejected(tmp_path: Path) -> None:
    block = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, "-A", "noise_filter=median", folder=tmp_path, status=2
    )
    assert "known: none, coherent" in block
