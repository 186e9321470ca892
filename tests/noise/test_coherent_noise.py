# SPDX-License-Identifier: Apache-2.0
"""The job removes coherent noise of front-end boards that is added to the default event, with little effect
on the charge.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def run(folder: Path, added: list[np.ndarray], **arguments: str) -> wire_cell.Arrays:
    """Process the default event with added noise, an event for each entry of `added`."""
    samples, channels, start = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident, noise in enumerate(added):
        counts = np.clip(samples + np.rint(noise), 0, 2**14 - 1).astype(np.int16)
        arrays |= wire_cell.event(counts, channels, ident, start_ns=start)
    given = wire_cell.write_arrays(folder / "adc.npz", arrays)
    return wire_cell.job(folder, input=given, **arguments)


@dataclass(frozen=True)
class Filtered:
    """Events of a run with the filter: `added` noise, charge [electrons] and filtered waveforms [counts], by the noise's name.

    All are (channel, tick) by channel id.
    """

    added: dict[str, np.ndarray]
    charge: dict[str, np.ndarray]
    waveforms: dict[str, np.ndarray]


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Filtered:
    """Filter the default event without added noise (`clean`) and with each kind of shared noise."""
    folder = tmp_path_factory.mktemp("filtered")
    added = {"clean": np.zeros((2560, TICKS))} | {
        name: np.rint(shared_noise(np.random.default_rng(1), shape, SHARED_RMS))
        for name, shape in shapes().items()
    }
    output = run(folder, list(added.values()), noise_filter="coherent", dump="adc")
    charge = {name: output[f"frame_signal_{ident}"] for ident, name in enumerate(added)}
    waveforms = {name: np.zeros((2560, TICKS)) for name in added}
    for group in ("induction", "collection"):
        tap = wire_cell.read_arrays(folder / f"output-adc-{group}.npz")
        for ident, rows in enumerate(waveforms.values()):
            rows[tap[f"{group}_ids_{ident}"].reshape(-1)] = tap[f"{group}_{ident}"].reshape(-1, TICKS)
    return Filtered(added, charge, waveforms)


def test_without_shared_noise_nothing_is_lost(filtered: Filtered, tmp_path: Path) -> None:
    unfiltered = run(tmp_path, [filtered.added["clean"]])["frame_signal_0"]
    for view in VIEWS:
        assert filtered.charge["clean"][view].sum() / unfiltered[view].sum() == pytest.approx(1, abs=0.005), (
            view
        )


@pytest.mark.parametrize("shape", shapes())
def test_noise_goes_and_charge_stays(filtered: Filtered, shape: str) -> None:
    charge, added = filtered.charge, filtered.added[shape]
    left = filtered.waveforms[shape] - filtered.waveforms["clean"]
    for view, (_, boards, channels) in zip(VIEWS, BOARDS, strict=True):
        assert charge[shape][view].sum() / charge["clean"][view].sum() == pytest.approx(1, abs=0.02), view
        # Share of the wave that is left on each board, by regression on the wave.
        share = (left[view] * added[view]).sum(axis=1) / (added[view] ** 2).sum(axis=1)
        assert np.abs(share.reshape(boards, channels).mean(axis=1)).max() < 0.10, view


def test_unknown_filter_is_rejected(tmp_path: Path) -> None:
    block = wire_cell.rejected(
        "-c", wire_cell.PIPELINE, "-A", "noise_filter=median", folder=tmp_path, status=2
    )
    assert (
        "known: none, default, sticky, response, chirping, tails, lines, negative, coherent, channels"
        in block
    )
