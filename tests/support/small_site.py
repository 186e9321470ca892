# SPDX-License-Identifier: Apache-2.0
"""A folder in which jobs run on the small detector (small_detector.py), and frames of it with known charge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import small_detector, synthetic, wire_cell
from tests.support.synthetic import Charge, Detector, View

TICK_NS = 500.0
START_NS = 1000.0
SIGMA_TICKS = 2.0  # diffusion
NOISE_COUNTS = 12.0  # that of the noise spectra: 13.7 on U and V, 10.8 on W


@dataclass(frozen=True)
class Site:
    """A folder with the files of the small detector."""

    folder: Path
    flags: list[str]
    anode: Detector

    @classmethod
    def at(cls, folder: Path) -> Site:
        """Write the files."""
        return cls(folder, small_detector.write_description(folder), small_detector.small_detector(folder))

    def raw_flags(self, tick_ns: float, ticks: int) -> list[str]:
        """Return the flags with which jobs find the detector with frames of other ticks than those of its chain."""
        changes = f"{{ name: 'small-data', raw_readout: {{ tick: {tick_ns}, nticks: {ticks} }} }}"
        return ["-P", str(self.folder), "--tla-code", f"detname=(import 'small.jsonnet') + {changes}"]

    def job(self, arrays: wire_cell.Arrays, *flags: str, **arguments: Any) -> wire_cell.Arrays:
        """Write the input and run the job."""
        wire_cell.write_arrays(self.folder / "adc.npz", arrays)
        given: dict[str, Any] = {"input": "adc.npz", "threads": 1, **arguments}
        return wire_cell.job(self.folder, *self.flags, *flags, **given)

    def samples(
        self, charge: Charge, ticks: int, noise_counts: float = 2.5, seed: int = 20261121
    ) -> np.ndarray:
        """ADC counts (channel, tick) of a readout, int16: each point a Gaussian of SIGMA_TICKS, white noise, digitised."""
        samples = np.random.default_rng(seed).normal(0, noise_counts, (len(self.anode.channels), ticks))
        for view in self.anode.views:
            rows = np.searchsorted(self.anode.channels, view.channels)
            samples[rows] += synthetic.BASELINE_COUNTS[view.plane]
            samples[rows] += synthetic.waveforms(
                view, self.anode.kernel(view.plane), smeared_charge(view, charge, ticks)
            )
        return np.clip(np.floor(samples + 0.5), 0, 2**self.anode.bits - 1).astype(np.int16)

    def busy_frames(self, count: int, ticks: int) -> wire_cell.Arrays:
        """Frames of `ticks`, `count` of them, with a track in each and as much noise as in data."""
        ends = np.array([[30.0, 40.0], [160.0, 150.0]])
        starts = ticks * np.arange(count) + 200 - self.anode.delay_ticks
        planes = self.anode.planes()
        tracks = [
            synthetic.straight_track(planes, 0, ends, (start, start + 100), 20_000.0) for start in starts
        ]
        samples = self.samples(synthetic.joined(tracks), count * ticks, NOISE_COUNTS)
        return self.frames(samples, [ticks * (index + 1) for index in range(count)])

    def frames(self, samples: np.ndarray, ends: list[int]) -> wire_cell.Arrays:
        """A readout in frames that end at these ticks."""
        arrays: wire_cell.Arrays = {}
        for ident, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            arrays.update(
                wire_cell.event(
                    np.ascontiguousarray(samples[:, begin:end]),
                    self.anode.channels,
                    ident,
                    start_ns=START_NS + TICK_NS * begin,
                )
            )
        return arrays


def smeared_charge(view: View, charge: Charge, ticks: int) -> np.ndarray:
    """Electrons of a view at (channel, tick). As synthetic.charge_image, but by one transform, for many points in long readouts:
    a point between two ticks is shared by them.
    """
    image = np.zeros((len(view.channels), ticks))
    seen = np.isin(charge.channel[view.plane], view.channels)
    row = np.searchsorted(view.channels, charge.channel[view.plane][seen])
    tick = np.floor(charge.tick[seen]).astype(np.int64)
    later = charge.tick[seen] - tick
    for offset, share in ((0, 1 - later), (1, later)):
        inside = (tick + offset >= 0) & (tick + offset < ticks)
        np.add.at(image, (row[inside], tick[inside] + offset), (charge.electrons[seen] * share)[inside])
    angle = 2 * np.pi * np.fft.rfftfreq(ticks)
    return np.fft.irfft(np.fft.rfft(image) * np.exp(-0.5 * (SIGMA_TICKS * angle) ** 2), ticks)
