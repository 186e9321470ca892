# SPDX-License-Identifier: Apache-2.0
"""A readout of any length, made frame by frame without storing it: simulated events at known ticks, on a baseline with noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spng import Frame, Traces, read_frames
from tests.support import wire_cell
from tests.support.synthetic import Detector

TICK_NS = 500.0
BASELINE_COUNTS = (2350.0, 2350.0, 900.0)  # of planes U, V, W
NOISE_COUNTS = 2.5
POOL_TICKS = 1 << 18
# Longer than an event, and without a common factor with readout windows, so that events meet seams at every phase.
SPACING_TICKS = 7919


@dataclass(frozen=True)
class Template:
    """One simulated event of 6000 ticks. counts: ADC above the baseline; truth: electrons; both (channel, tick)."""

    counts: np.ndarray
    truth: np.ndarray


def simulated(folder: Path, flags: list[str], events: int, seed: int) -> list[Template]:
    """Simulate events of three tracks each by cfg/simulate.jsonnet without noise. flags: give the detector's description."""
    wire_cell.job(
        folder,
        *flags,
        job_file="cfg/simulate.jsonnet",
        output="digits.npz",
        signal="signal.npz",
        truth="truth.npz",
        noise="false",
        kind="tracks",
        tracks=3,
        nevents=events,
        seed=seed,
        threads=1,
    )
    return [
        Template(np.asarray(signal.only().dense()), np.asarray(truth["truth"].dense()))
        for signal, truth in zip(
            read_frames(folder / "signal.npz"), read_frames(folder / "truth.npz"), strict=True
        )
    ]


@dataclass(frozen=True)
class Readout:
    """A readout. ticks: its length; frame_ticks: length of each frame except the last; seed: of the noise."""

    anode: Detector
    templates: list[Template]
    ticks: int
    frame_ticks: int = 6000
    seed: int = 20261121

    def placements(self) -> list[tuple[int, Template]]:
        """Return first tick and event, ordered by time."""
        length = self.templates[0].counts.shape[1]
        starts = range(0, self.ticks - length, SPACING_TICKS)
        return [(start, self.templates[index % len(self.templates)]) for index, start in enumerate(starts)]

    def samples(self) -> Iterator[np.ndarray]:
        """Yield ADC counts (channel, tick), int16. The noise is white, from random positions in a pool of 2^18 values."""
        rng = np.random.default_rng(self.seed)
        pool = rng.normal(0, NOISE_COUNTS, POOL_TICKS + self.frame_ticks).astype(np.float32)
        baseline = np.zeros((len(self.anode.channels), 1), np.float32)
        for view in self.anode.views:
            baseline[np.searchsorted(self.anode.channels, view.channels)] = BASELINE_COUNTS[view.plane]
        length = self.templates[0].counts.shape[1]
        placements = self.placements()
        for begin in range(0, self.ticks, self.frame_ticks):
            ticks = min(self.frame_ticks, self.ticks - begin)
            offsets = rng.integers(0, POOL_TICKS, len(baseline))
            samples = baseline + np.stack([pool[offset : offset + ticks] for offset in offsets])
            first = max(0, (begin - length) // SPACING_TICKS)
            for start, template in placements[first : (begin + ticks) // SPACING_TICKS + 1]:
                low, high = max(begin, start), min(begin + ticks, start + length)
                if low < high:
                    samples[:, low - begin : high - begin] += template.counts[:, low - start : high - start]
            yield np.clip(np.rint(samples), 0, 2**self.anode.bits - 1).astype(np.int16)

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of samples()."""
        for ident, samples in enumerate(self.samples()):
            start_ns = TICK_NS * self.frame_ticks * ident
            yield Frame({"*": Traces("*", samples, self.anode.channels, TICK_NS, start_ns)}, ident)
