"""The output of a long readout, read frame by frame, against the charge that went in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.frames import stream_arrays

from .readout import TICK_NS, Readout

MARGIN_TICKS = 900  # of an event on either side: what regions reach beyond its charge


@dataclass(frozen=True)
class Charges:
    """By event and plane U, V, W.

    seen, true  (event, plane) electrons
    at_seam     (event,) whether its 6000 ticks hold the end of a core
    """

    seen: np.ndarray
    true: np.ndarray
    at_seam: np.ndarray

    def ratios(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Seen over true of events without a seam and with one, and the standard error of their difference, by plane."""
        ratio = self.seen / self.true
        parts = [ratio[~self.at_seam], ratio[self.at_seam]]
        error = np.sqrt(sum(part.var(axis=0, ddof=1) / len(part) for part in parts))
        return parts[0].mean(axis=0), parts[1].mean(axis=0), error


def output_frames(path: Path) -> Iterator[tuple[int, np.ndarray]]:
    """First tick and signal (channel, tick) of each frame. Raises ValueError where frames do not follow each other."""
    expected = 0
    signal = None
    for name, array in stream_arrays(path):
        if name.startswith("frame_"):
            signal = array
        elif name.startswith("tickinfo_"):
            start, tick, first = array
            if signal is None or tick != TICK_NS or first != 0 or start != expected * TICK_NS:
                raise ValueError(f"{path}: {name} starts at {start} ns, expected {expected * TICK_NS}")
            yield expected, signal
            expected += signal.shape[1]
            signal = None


def charges(path: Path, readout: Readout) -> tuple[Charges, int]:
    """Charge of each event in the readout, and the ticks of the output."""
    placements = readout.placements()
    length = readout.templates[0].counts.shape[1]
    rows = [np.searchsorted(readout.anode.channels, view.channels) for view in readout.anode.views]
    seen, true = np.zeros((len(placements), 3)), np.zeros((len(placements), 3))
    at_seam = np.zeros(len(placements), bool)
    for number, (_, template) in enumerate(placements):
        true[number] = [template.truth[of_plane].sum(dtype=np.float64) for of_plane in rows]
    ticks = 0
    for begin, signal in output_frames(path):
        ticks = begin + signal.shape[1]
        by_plane = np.stack([signal[of_plane].sum(axis=0, dtype=np.float64) for of_plane in rows])
        for number, (start, _) in enumerate(placements):
            low, high = max(begin, start - MARGIN_TICKS), min(ticks, start + length + MARGIN_TICKS)
            if low < high:
                seen[number] += by_plane[:, low - begin : high - begin].sum(axis=1)
                at_seam[number] |= start < ticks < start + length
    return Charges(seen, true, at_seam), ticks
