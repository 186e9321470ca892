# SPDX-License-Identifier: Apache-2.0
"""Frame files in HDF5, in the layout of the Wire-Cell Toolkit's HDF5FrameTap (docs/decisions/frame-formats.md).

/<ident>/frame_<tag>, channels_<tag>, tickinfo_<tag> = [start ns, tick ns, first tick]
/<ident>/summary_<tag>, chanmask_<name>, notes_spng (JSON), runs_<tag>, values_<tag>, shape_<tag>: our additions
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from ..frame import Frame
from ..packages import required
from . import members
from .delayed_signals import delayed_signals
from .output import replaced_file

NEED = "HDF5 files need"
NOTES = "notes_spng"
GZIP_LEVEL = 1


def read(path: Path, tags: tuple[str, ...]) -> Iterator[Frame]:
    """Yield the events of a file: in the order of writing, or by ident if the file does not keep that order."""
    with _readable(path) as file:
        groups = [name for name in file if _is_ident(name) and hasattr(_own(file, name), "items")]
        if not groups:
            raise Error(
                "Input", "the file has no event", str(path), ", ".join(file) or "nothing", "groups such as /0"
            )
        if not file["/"].id.get_create_plist().get_link_creation_order():
            groups.sort(key=int)
        for name in groups:
            with delayed_signals():
                frame = _frame_from(file[name], int(name), tags, f"{path}, event {name}")
            yield frame


def write(path: Path, frames: Iterable[Frame], form: str) -> None:
    """Write events. Raise Error if two have the same ident."""
    h5py = required("h5py", NEED)
    with replaced_file(path) as partial:
        with delayed_signals():
            file = h5py.File(partial, "w", track_order=True)
        with file:
            for frame in frames:
                members.check_names(frame, str(path))
                with delayed_signals():
                    _write_frame(file, frame, form, str(path))


def _is_ident(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """Open a file. Turn failures of HDF5, also those of later reads, into Error(Input)."""
    h5py = required("h5py", NEED)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise Error("Input", "the HDF5 file cannot be read", str(path), str(error)) from None


def _own(group: Any, name: str) -> Any:
    """Return a member. Raise ValueError if HDF5 would take it from another file: a file of somebody else could name any
    file of the reader, whose bytes would get into the reader's output.
    """
    h5py = required("h5py", NEED)
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is a link, expected a group or an array of this file")
    member = group[name]
    if isinstance(member, h5py.Dataset) and (member.external or member.is_virtual):
        raise ValueError(f"the bytes of {name} are in another file, expected them in this file")
    return member


def _frame_from(group: Any, ident: int, tags: tuple[str, ...], where: str) -> Frame:
    for name in group:
        _own(group, name)
    traces = {}
    for tag in members.tags_in(group, tags, where):
        kinds = ("frame", *members.SPARSE, "channels", "summary")
        arrays = {kind: group[f"{kind}_{tag}"][()] for kind in kinds if f"{kind}_{tag}" in group}
        times = tuple(group[f"tickinfo_{tag}"][()])
        traces[tag] = members.traces_from(tag, arrays, times, where)
    prefix = "chanmask_"
    masks = {
        name.removeprefix(prefix): group[name][()].astype(np.int64).reshape(-1, 3)
        for name in group
        if name.startswith(prefix)
    }
    notes = json.loads(group[NOTES][()]) if NOTES in group else {}
    return members.frame_from(traces, ident, masks, notes)


def _write_frame(file: Any, frame: Frame, form: str, path: str) -> None:
    if str(frame.ident) in file:
        raise Error("Output", "two events have the same id", path, str(frame.ident))
    group = file.create_group(str(frame.ident), track_order=True)
    for tag, traces in frame.traces.items():
        for kind, array in members.arrays_of(traces, form).items():
            _write_array(group, f"{kind}_{tag}", array)
        group[f"tickinfo_{tag}"] = np.array([traces.start_ns, traces.tick_ns, traces.first_tick], np.float64)
    for name, mask in frame.masks.items():
        group[f"chanmask_{name}"] = np.asarray(mask, np.int32).reshape(-1, 3)
    if notes := members.notes_of(frame):
        group[NOTES] = json.dumps(notes)


def _write_array(group: Any, name: str, array: np.ndarray) -> None:
    """Write an array, compressed if it has many samples."""
    if array.ndim != 2 and array.size < 1024 or not array.size:
        group[name] = array
        return
    chunk = (
        (len(array),)
        if array.ndim == 1
        else (
            members.rows_in_chunk(array.shape, array.dtype.itemsize),
            array.shape[1],
        )
    )
    group.create_dataset(name, data=array, chunks=chunk, compression="gzip", compression_opts=GZIP_LEVEL)
