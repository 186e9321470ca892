# SPDX-License-Identifier: Apache-2.0
"""Inputs of the benchmarks: copies of the default event in one file, unchanged, or cut, tiled and copied to other anodes.

python -m scripts.bench.frames FRAME COUNT FOLDER    makes a file with COUNT events and prints its path
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from wirecell_profile.output_file import output_file

from scripts.frames import ENDING, add_array, npy_bytes, stream_arrays

CHANNELS = 2560  # of an anode; the channels of the next anode follow
TICKS = 6000  # of the default event
Mode = Literal["w", "w:gz", "w:bz2"]
MODES: dict[str, Mode] = {".tar": "w", ".tar.gz": "w:gz", ".tar.bz2": "w:bz2"}
Arrays = Iterator[tuple[str, np.ndarray]]


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
        event = {name.rsplit("_", 1)[0]: array for name, array in stream_arrays(frame)}
        if (wanted.ticks, wanted.anodes) != (TICKS, 1):
            event = {stem: changed(stem, array, wanted) for stem, array in event.items()}
        arrays = (
            (f"{stem}_{ident}", array) for ident in range(wanted.events) for stem, array in event.items()
        )
        with output_file(path) as partial:
            if wanted.ending == ".npz":
                write_zip(partial, arrays)
            else:
                write_tar(partial, arrays, MODES[wanted.ending])
    return path


def copies_of_frame(frame: Path, count: int, folder: Path) -> Path:
    """Return a file with the default event as events 0 to count - 1, not compressed, since decompression would use a core."""
    return make_input(frame, Input(count), folder)


def changed(stem: str, array: np.ndarray, wanted: Input) -> np.ndarray:
    """Return an array of the default event for the ticks and anodes of `wanted`."""
    if stem.startswith("frame_"):
        array = np.tile(array, (wanted.anodes, -(-wanted.ticks // array.shape[1])))[:, : wanted.ticks]
    elif stem.startswith("channels_"):
        array = np.concatenate([array + CHANNELS * anode for anode in range(wanted.anodes)])
    return np.ascontiguousarray(array)


def write_tar(path: Path, arrays: Arrays, mode: Mode) -> None:
    """Write a tar, compressed as `mode` says (gzip level 1, which takes seconds instead of minutes)."""
    kind = tarfile.USTAR_FORMAT
    with (
        tarfile.open(path, mode, format=kind, compresslevel=1)
        if mode == "w:gz"
        else tarfile.open(path, mode, format=kind)
    ) as target:
        for name, array in arrays:
            add_array(target, name, array)


def write_zip(path: Path, arrays: Arrays) -> None:
    """Write as numpy.savez_compressed does, but at level 1."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for name, array in arrays:
            target.writestr(name + ENDING, npy_bytes(array))


if __name__ == "__main__":
    print(copies_of_frame(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
