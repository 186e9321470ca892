# SPDX-License-Identifier: Apache-2.0
"""Frame files in HDF5 and Zarr, chosen by the ending of their names. docs/frame-files.md describes their layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from ..frame import Frame
from . import hdf5, zarr

Form = Literal["dense", "sparse"]
BY_ENDING = {".h5": hdf5, ".hdf5": hdf5, ".zarr": zarr}


def is_ours(path: Path) -> bool:
    """Return whether the ending names a format of this package."""
    return path.suffix.lower() in BY_ENDING


def read(path: Path, tags: Iterable[str] = ("*",)) -> Iterator[Frame]:
    """Yield the events of a file in its order, one at a time, with the chosen tags; "*": all.

    Raise Error(Input) for a damaged file or an event with none of the tags.
    """
    return BY_ENDING[path.suffix.lower()].read(path, tuple(tags))


def write(path: Path, frames: Iterable[Frame], form: Form = "dense") -> None:
    """Write events; the complete file replaces an existing one.

    form: of the samples in the file, whatever their form in the frames. Raise Error(Output) if writing fails.
    """
    BY_ENDING[path.suffix.lower()].write(path, frames, form)
