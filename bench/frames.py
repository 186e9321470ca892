# SPDX-License-Identifier: Apache-2.0
"""Inputs of the benchmarks: copies of the default event in one file, unchanged, or cut, tiled and copied to other anodes.

python -m bench.frames FRAME COUNT FOLDER    makes a file with COUNT events and prints its path
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from spng import Traces, read_frames, write_frames

CHANNELS = 2560  # of an anode; the channels of the next anode follow
TICKS = 6000  # of the default event


@dataclass(frozen=True)
class Input:
    """Content of a frame file. ending: its format; .tar is not compressed, .npz is (deflate)."""

    events: int
    ticks: int = TICKS
    anodes: int = 1
    ending: str = ".tar"

    @property
    def name(self) -> str:
        """The name of the file."""
        plain = (
            f"adc-x{self.events}"
            if (self.ticks, self.anodes) == (TICKS, 1)
            else (f"adc-{self.ticks}-ticks-{self.anodes}-anodes-x{self.events}")
        )
        return plain + self.ending


def make_input(frame: Path, wanted: Input, folder: Path) -> Path:
    """Return the file in `folder`; make it from `frame` (.tar.bz2) unless there is one that is not older."""
    path = folder / wanted.name
    if not path.exists() or path.stat().st_mtime < frame.stat().st_mtime:
        event = next(read_frames(frame))
        if (wanted.ticks, wanted.anodes) != (TICKS, 1):
            event = replace(
                event, traces={tag: changed(traces, wanted) for tag, traces in event.traces.items()}
            )
        write_frames(path, (replace(event, ident=ident) for ident in range(wanted.events)))
    return path


def copies_of_frame(frame: Path, count: int, folder: Path) -> Path:
    """Return a file with the default event as events 0 to count - 1, not compressed, since decompression would use a core."""
    return make_input(frame, Input(count), folder)


def changed(traces: Traces, wanted: Input) -> Traces:
    """Return traces of the default event for the ticks and anodes of `wanted`."""
    samples = np.asarray(traces.dense())
    tiled = np.tile(samples, (wanted.anodes, -(-wanted.ticks // samples.shape[1])))[:, : wanted.ticks]
    channels = [traces.channels + CHANNELS * anode for anode in range(wanted.anodes)]
    return replace(traces, samples=tiled, channels=np.concatenate(channels))


if __name__ == "__main__":
    print(copies_of_frame(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
