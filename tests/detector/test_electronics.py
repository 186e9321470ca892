# SPDX-License-Identifier: Apache-2.0
"""Electronics by plane: U has warm electronics, V cold ones, and W samples from a file. Charge that the NumPy reference convolves
with them comes back from the program, and the simulation makes the waveforms of the same electronics.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from scripts.depositions import write_depositions
from tests.detector.test_detectors import SIGMA_TICKS, TICKS, TOTAL_WITHIN, described, kind, some_charge
from tests.reference import response
from tests.support import synthetic, wire_cell

pytestmark = wire_cell.needs_program

MEGAVOLT_PER_ELECTRON = 1e-9 / response.ELECTRONS_PER_FEMTOCOULOMB  # of 1 mV/fC
ELECTRONICS = (
    partial(response.warm_electronics, gain_mv_per_fc=17.0, shaping_us=1.3),
    partial(response.cold_electronics, gain_mv_per_fc=7.8, shaping_us=1.1),
    partial(response.cold_electronics, gain_mv_per_fc=20.0),
)
DESCRIPTION = """
local wc = import 'wirecell.jsonnet';
(import 'detectors/pdhd.jsonnet') {
    readout+: { nticks: %d },
    electronics: [
        { type: 'WarmElecResponse', gain: 17.0 * wc.mV / wc.fC, shaping: 1.3 * wc.us },
        { gain: 7.8 * wc.mV / wc.fC, shaping: 1.1 * wc.us },
        { type: 'JsonElecResponse', filename: '%s', postgain: 2.5 },
    ],
}
"""


def described_with(folder: Path) -> str:
    """Write the file of samples, 8 mV/fC; return the --tla-code of the detector."""
    times = np.arange(0, 12000, 50.0)
    samples = response.cold_electronics(times / 1000, 8.0) * MEGAVOLT_PER_ELECTRON
    file = folder / "samples.json"
    file.write_text(json.dumps({"times": times.tolist(), "amplitudes": samples.tolist()}), encoding="utf-8")
    return "detname=" + DESCRIPTION % (TICKS, file)


def test_a_missing_file_of_samples_names_its_repository(tmp_path: Path) -> None:
    electronics = "electronics: { type: 'JsonElecResponse', filename: 'absent.json' }"
    changes = f"{{ file_source: 'https://example.org/files', {electronics} }}"
    flags = ["--tla-code", f"detname=(import 'detectors/pdhd.jsonnet') + {changes}", "-A", "model=none"]
    block = wire_cell.rejected("-c", wire_cell.PIPELINE, *flags, folder=tmp_path, status=2)
    assert "'absent.json' not found" in block and "it is in https://example.org/files" in block


def of_planes(anode: synthetic.Detector) -> list[synthetic.Detector]:
    """Return the anode with the electronics of each plane."""
    return [replace(anode, electronics=electronics) for electronics in ELECTRONICS]


def test_charge_comes_back_from_each_plane(tmp_path: Path) -> None:
    anode = described("pdhd", 1)
    charge, _ = some_charge(anode)
    frames = [synthetic.frame(each, charge, TICKS, SIGMA_TICKS, 1.0) for each in of_planes(anode)]
    (name,) = [key for key in frames[0] if key.startswith("frame")]
    for view in anode.views:
        rows = np.searchsorted(anode.channels, view.channels)
        frames[0][name][rows] = frames[view.plane][name][rows]
    wire_cell.write_arrays(tmp_path / "adc.npz", frames[0])
    output = wire_cell.job(
        tmp_path, "--tla-code", described_with(tmp_path), input="adc.npz", tpcid=1, model="none"
    )
    signal = output["frame_signal_0"]
    for view in anode.views:
        seen = signal[np.searchsorted(output["channels_signal_0"], view.channels)]
        truth = synthetic.charge_image(view, charge, TICKS, SIGMA_TICKS, anode.delay_ticks)
        assert seen.sum() / truth.sum() == pytest.approx(1, abs=TOTAL_WITHIN[kind(anode, view)]), view.name


def test_the_simulation_uses_the_electronics_of_each_plane(tmp_path: Path) -> None:
    """The sum of all wires of a plane is the charge convolved with the sum of the response over wires."""
    anode = described("pdhd", 1)
    response_plane, speed, electrons, sigma_ticks = 3573.4 - 85.87 / 2 - 100, 1.60563e-3, 1e6, 4.0
    depositions = np.zeros((7, 1))
    sigma_mm = sigma_ticks * response.TICK_NS * speed
    depositions[:, 0] = 0, -electrons, response_plane, 3000.0, 1150.0, sigma_mm, 20.0
    write_depositions(tmp_path / "depositions.npz", [depositions])
    wire_cell.job(
        tmp_path,
        "--tla-code",
        described_with(tmp_path),
        job_file=wire_cell.ROOT / "cfg" / "simulate.jsonnet",
        tpcid=1,
        depos="depositions.npz",
        drift="false",
        noise="false",
        output="adc.npz",
        signal="output.tar",
        process="",
    )
    waveforms = wire_cell.read_arrays(tmp_path / "output.tar")["frame_signal_0"]
    grid = np.arange(-20, 21)
    spread = np.exp(-0.5 * (grid / sigma_ticks) ** 2) / (sigma_ticks * np.sqrt(2 * np.pi))
    for plane, each in enumerate(of_planes(anode)):
        channels = np.concatenate([view.channels for view in anode.views if view.plane == plane])
        seen = waveforms[np.searchsorted(anode.channels, channels)].sum(axis=0)
        expected = electrons * np.convolve(each.kernel(plane).sum(axis=0), spread)
        assert seen.max() == pytest.approx(expected.max(), rel=0.02), plane
        assert seen.min() == pytest.approx(expected.min(), rel=0.02, abs=1), plane
