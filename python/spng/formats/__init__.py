# SPDX-License-Identifier: Apache-2.0
"""Frame files in HDF5 and Zarr, chosen by the ending of their names. docs/frame-files.md describes their layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..frame import Frame
from . import hdf5, members, zarr

BY_ENDING = {".h5": hdf5, ".hdf5": hdf5, ".zarr": zarr}


def read(path: Path, tags: Iterable[str] = ("*",)) -> Iterator[Frame]:
    """Yield the events of a file in its order, one at a time, with the chosen tags; "*": all.

    Raise Error(Input) for a damaged file or an event with none of the tags.
    """
    return BY_ENDING[path.suffix].read(path, tuple(tags))


def write(path: Path, frames: Iterable[Frame], form: str = "dense", overwrite: bool = False) -> None:
    """Write events; the complete file replaces an existing one of frames, or with overwrite any file.

    form: dense or sparse, of the samples in the file, whatever their form in the frames. Raise Error(Output) if writing fails,
    and Error(Input) for events that cannot be written.
    """
    BY_ENDING[path.suffix].write(path, (_checked(frame, path) for frame in frames), form, overwrite)


def _checked(frame: Frame, path: Path) -> Frame:
    from ..native import core

    frame = core.checked(frame, path)
    members.check_names(frame, path)
    return frame
