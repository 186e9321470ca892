# SPDX-License-Identifier: Apache-2.0
"""Simulated events: ADC counts, truth, and the channels of each line of a line scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from spng.charge_tags import TRUTH_TAGS, first_of

from spng import Frame, Traces, read_frames, write_frames

from . import linescan
from .program import Program
from .settings import DEAD_FRACTION, Sample
from .wires import Anode


@dataclass(frozen=True)
class Events:
    """Files of one run of the simulation. dead: the same ADC counts with dead channels, if a variant needs them."""

    adc: Path
    truth: Path
    depositions: Path | None
    dead: Path | None
    seconds: float

    def true_charge(self) -> Iterator[tuple[int, Traces]]:
        """Yield the id and the truth [electrons] of each event."""
        for frame in read_frames(self.truth):
            yield frame.ident, first_of(frame, TRUTH_TAGS)

    def line_channels(
        self, anode: Anode, view: int, ident: int, angles: tuple[int, ...] | None = None
    ) -> list[np.ndarray]:
        """Return the channels of one event's line at each of the angles (default linescan.ANGLES)."""
        assert self.depositions is not None, "samples of lines have depositions"
        with np.load(self.depositions) as file:
            data, info = (_columns(file[f"depo_{what}_{ident}"]) for what in ("data", "info"))
        return linescan.line_channels(anode, view, info[0], data[2:5], angles)


def _columns(array: np.ndarray) -> np.ndarray:
    """Return the array as (quantity, deposition); files may have either order of axes."""
    return array if array.shape[0] <= 7 else array.T


def simulate(
    program: Program, sample: Sample, seed: int, count: int, folder: Path, with_dead: bool
) -> Events:
    """Simulate `count` events. with_dead: also write them with dead channels. Raise program.JobFailed if the job fails."""
    adc, truth = folder / "adc.tar", folder / "truth.tar"
    arguments = {"output": adc, "truth": truth, "seed": seed, "nevents": count, **sample.arguments}
    depositions = None
    if sample.kind == "lines":
        depositions = arguments["write_depos"] = folder / "depos.npz"
    seconds = program.simulate(folder, **arguments)
    dead = None
    if with_dead:
        dead = folder / "adc-dead.tar"
        write_frames(dead, (with_dead_channels(frame, seed) for frame in read_frames(adc)))
    return Events(adc, truth, depositions, dead, seconds)


def dead_channels(channels: np.ndarray, seed: int) -> np.ndarray:
    """Choose DEAD_FRACTION of the channels at random; return them in increasing order."""
    count = int(round(DEAD_FRACTION * len(channels)))
    return np.sort(np.random.default_rng(seed).choice(np.sort(channels), count, replace=False))


def with_dead_channels(frame: Frame, seed: int) -> Frame:
    """Return the frame with dead channels set to a constant value and listed in the mask `bad`."""
    traces = frame.only()
    dead = dead_channels(traces.channels, seed)
    samples = np.array(traces.dense())
    samples[np.isin(traces.channels, dead)] = 0
    first = np.full_like(dead, traces.first_tick)
    mask = np.stack([dead, first, first + samples.shape[1]], axis=1)
    return replace(
        frame,
        traces={traces.tag: replace(traces, samples=samples)},
        masks={**frame.masks, "bad": mask},
    )
