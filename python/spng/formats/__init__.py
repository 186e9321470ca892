# SPDX-License-Identifier: Apache-2.0
"""Frame files in HDF5 and Zarr, chosen by the ending of their names. docs/frame-files.md describes their layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..frame import Frame
from . import hdf5, members, zarr
from .delayed_signals import DelayedSignals

BY_ENDING = {".h5": hdf5, ".hdf5": hdf5, ".zarr": zarr}


def read(path: Path, tags: Iterable[str] = ("*",)) -> Iterator[Frame]:
    """Yield the events of a file in its order, one at a time, with the chosen tags; "*": all.

    Raise Error(Input) for a damaged file or an event with none of the tags.
    """
    frames = BY_ENDING[path.suffix].read(path, tuple(tags))
    try:
        while True:
            with DelayedSignals():
                frame = next(frames, None)
            if frame is None:
                return
            yield frame
    finally:
        with DelayedSignals():
            frames.close()


def write(path: Path, frames: Iterable[Frame], form: str = "dense", overwrite: bool = False) -> None:
    """Write events; the complete file replaces an existing one of frames, or with overwrite any file.

    form: dense or sparse, of the samples in the file, whatever their form in the frames. Raise Error(Output) if writing fails,
    and Error(Input) for events that cannot be written.
    """
    events = (_checked(frame, path) for frame in frames)
    with DelayedSignals() as delay:
        BY_ENDING[path.suffix].write(path, delay.undelayed(events), form, overwrite)


def _checked(frame: Frame, path: Path) -> Frame:
    from ..native import core

    frame = core.checked(frame, str(path))
    members.check_names(frame, path)
    return frame
