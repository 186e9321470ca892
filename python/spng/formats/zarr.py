# SPDX-License-Identifier: Apache-2.0
"""Frame files as Zarr groups (format 3), a folder each.

/                    attributes: events, the idents in order; checksums of the lists of the events
/<ident>             attributes: tags in order, masks by name, notes, checksums of the members (checksums.py)
/<ident>/frame_<tag> (channel, tick), chunks of whole rows, or runs_<tag>, values_<tag>, shape_<tag>
                     attributes of the first: start_ns, tick_ns, first_tick
/<ident>/channels_<tag>, summary_<tag>
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from wirecell_profile.path_names import readable

from ..arguments import fits, seen
from ..errors import Error
from ..frame import Frame
from ..packages import required
from . import members
from .checksums import checked_list, checksum, list_checksum, require_list, require_members
from .input import readable_input, require_regular_tree
from .output import replaced_folder

NEED = "Zarr files need"
CHECKSUMS = "checksums"
TIMES = ("start_ns", "tick_ns", "first_tick")
FIRST = ("frame", "runs")  # the array of a tag that has its times
ARRAYS = (*FIRST, "values", "shape", "channels", "summary")
# Dimensions, as xarray needs them: it gives one size to each name, so those of a tag have names of their own.
AXES = {
    "frame": ("channel", "tick"),
    "runs": ("run", "row_begin_end"),
    "values": ("sample",),
    "shape": ("axis",),
    "channels": ("channel",),
    "summary": ("channel",),
}


def read(path: Path, tags: tuple[str, ...]) -> Generator[Frame, None, None]:
    """Yield the events of a group in the order of its attribute `events`."""
    zarr = required("zarr", NEED)
    with readable_input(path, "the Zarr group cannot be read"):
        require_regular_tree(path)
        root = zarr.open_group(path, mode="r")
        listed = require_list(readable(path), root.attrs.get(CHECKSUMS, {}))
        idents = _events(root, path)
        if listed:
            require_members(readable(path), list(map(str, idents)), list(listed))
        for ident in idents:
            yield _frame_from(root[str(ident)], ident, tags, path, listed.get(str(ident)))


def write(path: Path, frames: Iterable[Frame], form: str, overwrite: bool) -> None:
    """Write events. Raise Error if two have the same ident."""
    zarr = required("zarr", NEED)
    with replaced_folder(path, overwrite) as partial:
        root = zarr.create_group(partial, zarr_format=3)
        listed: dict[str, int] = {}
        for frame in frames:
            if str(frame.ident) in listed:
                raise Error("Output", "two events have the same id", str(path), str(frame.ident))
            listed[str(frame.ident)] = _write_frame(root, frame, form, str(path))
        root.attrs.update({"events": [int(ident) for ident in listed], CHECKSUMS: listed})


def _list_of(kind: type, node: Any, name: str, where: str) -> list[Any]:
    """Return an attribute. Raise Error if it is no list of different members of the type, at least one."""
    value = node.attrs.get(name)
    is_list = isinstance(value, list) and value and all(type(each) is kind for each in value)
    if not is_list or len(set(value)) < len(value):
        raise _unreadable(name, where, value, f"a list of different values of type {kind.__name__}")
    return value


def _object(node: Any, name: str, where: str) -> dict[str, Any]:
    """Return an attribute, empty if it is absent. Raise Error if it is no object."""
    value = node.attrs.get(name, {})
    if not isinstance(value, dict):
        raise _unreadable(name, where, value, "an object")
    return value


def _unreadable(name: str, where: str, value: Any, expected: str) -> Error:
    return Error("Input", f"the attribute '{name}' cannot be read", where, seen(value), expected)


def _events(root: Any, path: Path) -> list[int]:
    """Return the idents. Raise Error if they are none."""
    idents = _list_of(int, root, "events", readable(path))
    if not fits(idents, Sequence[int]):
        raise _unreadable("events", readable(path), idents, "integers of 32 bits")
    return idents


def _numbers(value: Any, where: str) -> np.ndarray:
    """Return numbers of an attribute. Raise Error for others: also for true, which is 1 for NumPy."""
    rows = value if isinstance(value, list) else [value]
    try:
        array = np.array(value)
        has_truth = any(
            isinstance(each, bool) for row in rows for each in (row if isinstance(row, list) else [row])
        )
    except ValueError:  # lists of different lengths
        array, has_truth = np.array(None), False
    if has_truth or array.dtype.kind not in "iuf":
        raise Error("Input", "an attribute holds no numbers", where, seen(value), "numbers of 64 bits")
    return array


def _frame_from(group: Any, ident: int, tags: tuple[str, ...], path: Path, expected: int | None) -> Frame:
    where = f"{readable(path)}, event {ident}"
    checksums = checked_list(where, ident, group.attrs.get(CHECKSUMS), expected)
    masks, notes = (_object(group, name, where) for name in ("masks", "notes"))
    event_tags = _list_of(str, group, "tags", where)
    # A list of the members would print a warning of each one that is damaged.
    names_of_arrays = [f"{kind}_{tag}" for tag in event_tags for kind in ARRAYS]
    present = {name for name in names_of_arrays if hasattr(group.get(name), "shape")}
    first = {tag: f"runs_{tag}" if f"runs_{tag}" in present else f"frame_{tag}" for tag in event_tags}
    names = []
    for tag, name in first.items():
        arrays = [f"{kind}_{tag}" for kind in ARRAYS if f"{kind}_{tag}" in present]
        names += [*(arrays or [name]), f"tickinfo_{tag}"]
    names += [f"chanmask_{name}" for name in masks] + ([members.NOTES] if notes else [])

    def find(name: str) -> Any:
        kind, _, label = name.partition("_")
        if kind == "tickinfo":
            attributes = group[first[label]].attrs
            return _numbers([attributes.get(each) for each in TIMES], f"{where}, {name}")
        if kind == "chanmask":
            rows = masks[label]
            return np.zeros((0, 3), np.int64) if rows == [] else _numbers(rows, f"{where}, {name}")
        if name == members.NOTES:
            return members.bytes_of(notes)
        return group[name]

    return members.frame_of(path, ident, tags, names, find, checksums)


def _write_frame(root: Any, frame: Frame, form: str, path: str) -> int:
    """Write an event; return the checksum of its list."""
    arrays = members.arrays_of(frame, form, path)
    masks = {name: arrays[f"chanmask_{name}"].tolist() for name in frame.masks}
    for name in frame.masks:  # as they are read from the attribute
        arrays[f"chanmask_{name}"] = arrays[f"chanmask_{name}"].astype(np.int64)
    checksums = {name: checksum(name, array) for name, array in arrays.items()}
    attributes = {"tags": list(frame.traces), "masks": masks, "notes": members.notes_of(frame)}
    group = root.create_group(str(frame.ident), attributes=attributes | {CHECKSUMS: checksums})
    for name, array in arrays.items():
        kind, _, tag = name.partition("_")
        if kind in ARRAYS:
            traces = frame.traces[tag]
            times = (float(traces.start_ns), float(traces.tick_ns), int(traces.first_tick))
            _write_array(group, name, array, dict(zip(TIMES, times)) if kind in FIRST else {})
    return list_checksum(frame.ident, checksums)


def _write_array(group: Any, name: str, array: np.ndarray, attributes: dict[str, float]) -> None:
    """Write an array; a checksum follows each chunk."""
    codec = required("zarr.codecs", NEED).ZstdCodec(level=1, checksum=True)
    kind, _, tag = name.partition("_")
    rows = members.rows_in_chunk(array.shape, array.dtype.itemsize) if array.ndim == 2 else array.shape[0]
    group.create_array(
        name,
        data=array,
        chunks=(max(1, rows), *array.shape[1:]),
        compressors=codec,
        attributes=attributes,
        dimension_names=[f"{axis}_{tag}" for axis in AXES[kind]],
    )
