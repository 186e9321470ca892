# SPDX-License-Identifier: Apache-2.0
"""Simulated events: ADC counts, truth, and the channels of each line of a line scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.frames import Frame, FrameFile, write_frames

from . import linescan
from .program import Program
from .settings import DEAD_FRACTION, Sample
from .wires import Anode

TRUTH_TAG = "truth"


@dataclass(frozen=True)
class Events:
    """Files of one run of the simulation. dead: the same ADC counts with dead channels, if a variant needs them."""

    adc: Path
    truth: Path
    depositions: Path | None
    dead: Path | None
    seconds: float

    def true_charge(self) -> Iterator[tuple[int, Frame]]:
        """Yield the id and the truth [electrons] of each event."""
        with FrameFile(self.truth) as file:
            tag = TRUTH_TAG if TRUTH_TAG in file.tags() else file.tags()[0]
            for ident in file.idents(tag):
                yield ident, file.frame(tag, ident)

    def line_channels(
        self, anode: Anode, view: int, ident: int, angles: tuple[int, ...] | None = None
    ) -> list[np.ndarray]:
        """Return the channels of one event's line at each of the angles (default linescan.ANGLES)."""
        assert self.depositions is not None, "samples of lines have depositions"
        with FrameFile(self.depositions) as file:
            data, info = (_columns(file.array(f"depo_{what}_{ident}")) for what in ("data", "info"))
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
    seconds = program.simulate(**arguments)
    dead = None
    if with_dead:
        dead = folder / "adc-dead.tar"
        with FrameFile(adc) as file:
            (tag,) = file.tags()
            write_frames(
                dead, {ident: with_dead_channels(file.frame(tag, ident), seed) for ident in file.idents(tag)}
            )
    return Events(adc, truth, depositions, dead, seconds)


def dead_channels(channels: np.ndarray, seed: int) -> np.ndarray:
    """Choose DEAD_FRACTION of the channels at random; return them in increasing order."""
    count = int(round(DEAD_FRACTION * len(channels)))
    return np.sort(np.random.default_rng(seed).choice(np.sort(channels), count, replace=False))


def with_dead_channels(frame: Frame, seed: int) -> Frame:
    """Return the frame with dead channels set to a constant value and listed in the mask `bad`."""
    dead = dead_channels(frame.channels, seed)
    samples = frame.samples.copy()
    samples[np.isin(frame.channels, dead)] = 0
    ticks = np.full_like(dead, frame.samples.shape[1])
    return Frame(
        samples,
        frame.channels,
        frame.start_ns,
        frame.tick_ns,
        {**frame.masks, "bad": np.stack([dead, np.zeros_like(dead), ticks], axis=1)},
    )
