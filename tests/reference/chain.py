# SPDX-License-Identifier: Apache-2.0
"""The whole chain for ProtoDUNE-HD: ADC counts of one anode in, charge with ROIs (regions of interest)
out.

Run: python -m tests.reference.chain ADC.npz TRUTH.npz WIRES.json.gz FIELD.json.gz
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from . import decon, detector, filters, frames, metrics, regions, response, roi

VIEWS = "UVW"
# Channels transformed together: wrapped planes whole, collection by face.
GROUP_SIZES = ((800,), (800,), (480, 480))
# Equal to the group where the channel axis is cyclic; 480 + 21 - 1 for collection.
PADDED_CHANNELS = (800, 800, 500)
CHANNEL_SCALE = (0.27, 0.27, 10 / np.sqrt(np.pi))  # cycles per wire; U, V: docs/decisions/wire-filter.md
GAUSS_SCALE_MHZ = 0.12


@dataclass(frozen=True)
class Chain:
    """The tables that are prepared once for an anode, and for readouts of up to padded_ticks - 299 ticks."""

    wires: Path
    field: Path
    anode: int = 0
    padded_ticks: int = decon.PADDED_TICKS

    @cached_property
    def order(self) -> list[np.ndarray]:
        """Return the channel ids of the rows of each view."""
        return detector.pdhd_channel_order(self.anode)

    @cached_property
    def cells(self) -> np.ndarray:
        """Return the rows of each cell in U, V, W: (cell, 3)."""
        return detector.channel_cells(detector.load_planes(self.wires, self.anode), self.order)

    @cached_property
    def responses(self) -> list[np.ndarray]:
        """Return the response of each view: (padded channel, padded tick//2 + 1) complex [ADC/electron]."""
        kernels = [response.response_kernel(self.field, view) for view in range(3)]
        return [
            response.response_spectrum(kernel, channels, self.padded_ticks)
            for kernel, channels in zip(kernels, PADDED_CHANNELS)
        ]

    def rows(self, frame: frames.Frame) -> list[np.ndarray]:
        """Split a frame into the rows of the views: three (channel, tick)."""
        return [frames.rows_of(frame, order) for order in self.order]

    def spectra(
        self, views: list[np.ndarray], channel_scale: tuple[float, float, float] = CHANNEL_SCALE
    ) -> list[np.ndarray]:
        """Deconvolve three (channel, tick) ADC -> three (channel, frequency) complex electrons."""
        out = []
        for view, samples in enumerate(views):
            weights = filters.channel_filter(PADDED_CHANNELS[view], channel_scale[view])
            edges = np.cumsum(GROUP_SIZES[view])[:-1]
            groups = [
                decon.deconvolve(group, self.responses[view], weights, self.padded_ticks)
                for group in np.split(samples, edges)
            ]
            out.append(np.concatenate(groups))
        return out

    def apply(self, spectra: list[np.ndarray], found: list[np.ndarray], ticks: int) -> list[np.ndarray]:
        """Return the charge [electrons] inside ROIs on pixels, with the baseline subtracted.

        spectra, found per view -> (channel, tick).
        """
        out = []
        for view, (spectrum, region) in enumerate(zip(spectra, found)):
            waveform = decon.to_ticks(spectrum, gauss_filter(), ticks)
            mask = regions.region_ticks(region, regions.RegionRule.padding_ticks)
            take_off = roi.restore_baseline if view == detector.W else roi.rebaseline_linear
            out.append(take_off(waveform, mask))
        return out

    def signal(self, views: list[np.ndarray]) -> list[np.ndarray]:
        """Return the charge inside the ROIs from ADC counts of three views: (channel, tick) [electrons] each."""
        ticks = views[0].shape[1]
        spectra = self.spectra(views)
        return self.apply(spectra, regions.find_regions(spectra, self.cells, ticks), ticks)


def gauss_filter() -> np.ndarray:
    """Return the filter of the output waveform, with its zero bin, so that it keeps the charge."""
    return filters.low_pass(filters.time_frequencies(decon.PADDED_TICKS), GAUSS_SCALE_MHZ)


def main(arguments: list[str]) -> None:
    """Print the figures of merit of one event."""
    adc, truth, wires, field = arguments
    chain = Chain(Path(wires), Path(field))
    signals = chain.signal(chain.rows(frames.read_frame(adc)))
    truths = chain.rows(frames.read_frame(truth))
    for name, signal, true in zip(VIEWS, signals, truths):
        print(name, metrics.merit(signal, true), f"late by {metrics.best_shift(signal, true):.2f} ticks")


if __name__ == "__main__":
    main(sys.argv[1:])
