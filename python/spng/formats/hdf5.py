# SPDX-License-Identifier: Apache-2.0
"""Frame files in HDF5, in the layout of the Wire-Cell Toolkit's HDF5FrameTap (docs/decisions/frame-formats.md).

/<ident>/frame_<tag>, channels_<tag>, tickinfo_<tag> = [start ns, tick ns, first tick]
/<ident>/summary_<tag>, chanmask_<name>, notes_spng (JSON), runs_<tag>, values_<tag>, shape_<tag>: our additions
/<ident>/checksums_spng, /checksums_spng (JSON): see checksums.py
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from wirecell_profile.path_names import readable

from ..errors import Error
from ..frame import Frame
from ..packages import required
from . import members
from .checksums import checked_list, checksum, list_checksum, require_list, require_members
from .input import readable_input, require_regular_file
from .output import replaced_file, require_own_kind
from .patient_file import patient_file

NEED = "HDF5 files need"
CHECKSUMS = "checksums_spng"  # in an event: of its members, by name; in the file: of these lists, by ident
GZIP_LEVEL = 1
IDENT = re.compile("-?[0-9]+")
SAMPLES = ("frame_", "runs_")


def read(path: Path, tags: tuple[str, ...]) -> Generator[Frame, None, None]:
    """Yield the events of a file: in the order of writing, or by ident if the file does not keep that order."""
    with _readable(path) as file:
        listed = require_list(
            readable(path), _json_of(file, CHECKSUMS, readable(path)) if CHECKSUMS in file else {}
        )
        for name in _events(file, listed, path):
            yield _frame_from(_own(file, name), int(name), tags, path, listed.get(name))


def write(path: Path, frames: Iterable[Frame], form: str, overwrite: bool) -> None:
    """Write events. Raise Error if two have the same ident."""
    h5py = required("h5py", NEED)
    if not overwrite:
        require_own_kind(path, _holds_frames, "frames in HDF5")
    with (
        replaced_file(path) as partial,
        patient_file(partial) as output,
        h5py.File(output, "w", track_order=True) as file,
    ):
        listed: dict[str, int] = {}
        for frame in frames:
            listed[str(frame.ident)] = _write_frame(file, frame, form, str(path))
            output.require_success()
        file[CHECKSUMS] = _text(json.dumps(listed).encode())


def _events(file: Any, listed: dict[str, int], path: Path) -> list[str]:
    """Return the names of the events, the listed ones first. Raise Error if there is none, or if a listed one is absent."""
    groups = [name for name in _names(file) if IDENT.fullmatch(name) and hasattr(_own(file, name), "items")]
    if not groups and not listed:
        raise Error(
            "Input",
            "the file has no event",
            readable(path),
            ", ".join(_names(file)) or "nothing",
            "groups such as /0",
        )
    for name in groups:
        if not -(2**31) <= int(name) < 2**31 or name != str(int(name)):
            raise Error(
                "Input",
                "the ident of an event is wrong",
                readable(path),
                f"/{name}",
                "an integer of 32 bits, such as /7",
            )
    if not file["/"].id.get_create_plist().get_link_creation_order():
        groups.sort(key=int)
    require_members(readable(path), [name for name in groups if name in listed], list(listed))
    return list(dict.fromkeys([*listed, *groups]))


def _holds_frames(path: Path) -> bool:
    """Tell whether a file is one of frames, of this or another program."""
    try:
        with _readable(path) as file:
            events = [_own(file, name) for name in _names(file) if IDENT.fullmatch(name)]
            return CHECKSUMS in file or any(
                name.startswith(SAMPLES) for event in events for name in _names(event)
            )
    except Error:
        return False


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """Open a file. Turn failures of HDF5, also those of later reads, into Error(Input)."""
    h5py = required("h5py", NEED)
    with readable_input(path, "the HDF5 file cannot be read"):
        require_regular_file(path)
        with h5py.File(path, "r") as file:
            yield file


def _names(group: Any) -> Iterator[str]:
    """Return the names of members; h5py gives bytes for those that are not UTF-8."""
    return map(os.fsdecode, group)


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


def _frame_from(group: Any, ident: int, tags: tuple[str, ...], path: Path, expected: int | None) -> Frame:
    where = f"{readable(path)}, event {ident}"
    checksums = checked_list(where, ident, _json_of(group, CHECKSUMS, where), expected)
    return members.frame_of(path, ident, tags, list(_names(group)), partial(_own, group), checksums)


def _json_of(group: Any, name: str, where: str) -> Any:
    """Return a text in JSON; None if there is none."""
    if name not in group:
        return None
    text = _own(group, name)
    members.require_array(f"{where}, {name}", text, members.LARGEST_LIST_BYTES)
    return json.loads(text[()])


def _text(content: bytes) -> np.bytes_:
    """Return a text of fixed length: in the heap with those of variable length, HDF5 may search a damaged one for ever."""
    return np.bytes_(content)


def _write_frame(file: Any, frame: Frame, form: str, path: str) -> int:
    """Write an event; return the checksum of its list."""
    if str(frame.ident) in file:
        raise Error("Output", "two events have the same id", path, str(frame.ident))
    group = file.create_group(str(frame.ident), track_order=True)
    checksums: dict[str, int] = {}
    for name, array in members.arrays_of(frame, form, path).items():
        checksums[name] = checksum(name, array)
        if name == members.NOTES:
            group[name] = _text(array.tobytes())
        else:
            _write_array(group, name, array)
    group[CHECKSUMS] = _text(json.dumps(checksums).encode())
    return list_checksum(frame.ident, checksums)


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
