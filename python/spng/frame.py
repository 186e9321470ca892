# SPDX-License-Identifier: Apache-2.0
"""One event of waveforms: Frame, and Traces, the waveforms of one tag."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

    Samples = np.ndarray | torch.Tensor


@dataclass(frozen=True)
class SparseSamples:
    """The samples that are not 0, of all rows one after the other.

    runs    (run, 3) int64: row, begin tick, end tick (not included), in ascending order
    values  (sample,) the samples of the runs, int16 or float32
    shape   (channels, ticks) of the dense samples
    """

    runs: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    def dense(self) -> np.ndarray:
        """Return all samples (channel, tick)."""
        samples = np.zeros(self.shape, self.values.dtype)
        lengths = self.runs[:, 2] - self.runs[:, 1]
        # Tick of each value in the flat frame: the first of its run, plus its position in the run.
        starts = self.runs[:, 0] * self.shape[1] + self.runs[:, 1]
        positions = np.arange(len(self.values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        samples.reshape(-1)[np.repeat(starts, lengths) + positions] = self.values
        return samples


def runs_of(is_set: np.ndarray) -> np.ndarray:
    """Return the runs of true values (row, tick): (run, 3) int64 row, begin tick, end tick (not included), ascending."""
    edges = np.diff(np.pad(is_set, ((0, 0), (1, 1))).view(np.int8), axis=1)
    rows, begins = np.nonzero(edges == 1)
    return np.stack([rows, begins, np.nonzero(edges == -1)[1]], axis=1)


@dataclass(frozen=True)
class Traces:
    """The waveforms of one tag. Sample t of a row was taken at start_ns + (first_tick + t) * tick_ns.

    samples     (channel, tick) int16 or float32 [ADC] or [electrons]; a torch tensor if the frame came from one.
                SparseSamples if the file or the pipeline gave ROIs only; dense() expands them
    channels    (channel,) int32: channel ids of the rows
    summary     (channel,) float64: one value per row, such as its noise RMS; or None
    """

    tag: str
    samples: Samples | SparseSamples
    channels: np.ndarray
    tick_ns: float = 500.0
    start_ns: float = 0.0
    first_tick: int = 0
    summary: np.ndarray | None = None

    def dense(self) -> Samples:
        """Return all samples (channel, tick)."""
        return self.samples.dense() if isinstance(self.samples, SparseSamples) else self.samples

    def rows(self, channels: np.ndarray) -> np.ndarray:
        """Return the samples (channel, tick) of these channels in their order; zeros for channels that are absent."""
        samples = np.asarray(self.dense())
        order = np.argsort(self.channels, kind="stable")
        found = order[np.searchsorted(self.channels, channels, sorter=order).clip(max=len(order) - 1)]
        is_present = self.channels[found] == channels
        rows = samples[found]
        rows[~is_present] = 0
        return rows

    @property
    def times_us(self) -> np.ndarray:
        """Return the start of each tick (tick,) [us]."""
        ticks = self.samples.shape[1]
        return (self.start_ns + (self.first_tick + np.arange(ticks)) * self.tick_ns) / 1e3


@dataclass(frozen=True)
class Frame:
    """One event.

    traces  by tag, in file order
    masks   by name ("bad", "saturated", ...): (n, 3) int64: channel id, begin tick, end tick (not included). Ticks count
            from start_ns, as in the Wire-Cell Toolkit: sample t of a row is tick first_tick + t
    notes   provenance by key, such as the network and its checksum
    """

    traces: dict[str, Traces]
    ident: int = 0
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, tag: str) -> Traces:
        """Return the traces of a tag. Raise KeyError that lists the tags of the frame if there is none."""
        if tag not in self.traces:
            raise KeyError(f"the frame has no tag {tag!r}; its tags: {', '.join(map(repr, self.traces))}")
        return self.traces[tag]

    def only(self) -> Traces:
        """Return the traces of the only tag. Raise ValueError if the frame has several."""
        if len(self.traces) != 1:
            raise ValueError(f"the frame has {len(self.traces)} tags: {', '.join(map(repr, self.traces))}")
        return next(iter(self.traces.values()))
