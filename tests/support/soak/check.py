# SPDX-License-Identifier: Apache-2.0
"""Compare the output of a long readout, read frame by frame, with the true charge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spng import read_frames

from .readout import TICK_NS, Readout

MARGIN_TICKS = 900  # ROIs reach at most so far beyond the charge of an event


@dataclass(frozen=True)
class Charges:
    """By event and plane U, V, W.

    seen, true  (event, plane) electrons
    at_seam     (event,) whether two readout windows meet within its 6000 ticks
    """

    seen: np.ndarray
    true: np.ndarray
    at_seam: np.ndarray

    def ratios(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return by plane seen / true charge of events without and with a seam, and the standard error of the difference."""
        ratio = self.seen / self.true
        parts = [ratio[~self.at_seam], ratio[self.at_seam]]
        error = np.sqrt(sum(part.var(axis=0, ddof=1) / len(part) for part in parts))
        return parts[0].mean(axis=0), parts[1].mean(axis=0), error


def output_frames(path: Path) -> Iterator[tuple[int, np.ndarray]]:
    """Yield first tick and signal (channel, tick) of each frame. Raise ValueError if frames are not consecutive."""
    expected = 0
    for frame in read_frames(path):
        traces = frame.only()
        if (traces.tick_ns, traces.first_tick, traces.start_ns) != (TICK_NS, 0, expected * TICK_NS):
            raise ValueError(
                f"{path}: event {frame.ident} starts at {traces.start_ns} ns, expected {expected * TICK_NS}"
            )
        signal = np.asarray(traces.dense())
        yield expected, signal
        expected += signal.shape[1]


def charges(path: Path, readout: Readout) -> tuple[Charges, int]:
    """Return the charge of each event in the readout, and the number of ticks of the output."""
    placements = readout.placements()
    length = readout.templates[0].counts.shape[1]
    rows = [np.searchsorted(readout.anode.channels, view.channels) for view in readout.anode.views]
    seen, true = np.zeros((len(placements), 3)), np.zeros((len(placements), 3))
    at_seam = np.zeros(len(placements), bool)
    for index, (_, template) in enumerate(placements):
        true[index] = [template.truth[of_plane].sum(dtype=np.float64) for of_plane in rows]
    ticks = 0
    for begin, signal in output_frames(path):
        ticks = begin + signal.shape[1]
        by_plane = np.stack([signal[of_plane].sum(axis=0, dtype=np.float64) for of_plane in rows])
        for index, (start, _) in enumerate(placements):
            low, high = max(begin, start - MARGIN_TICKS), min(ticks, start + length + MARGIN_TICKS)
            if low < high:
                seen[index] += by_plane[:, low - begin : high - begin].sum(axis=1)
                at_seam[index] |= start < ticks < start + length
    return Charges(seen, true, at_seam), ticks
