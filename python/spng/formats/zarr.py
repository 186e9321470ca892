# SPDX-License-Identifier: Apache-2.0
"""Frame files as Zarr groups (format 3), a folder each.

/                    attributes: events, the idents in order
/<ident>             attributes: tags in order, masks by name, notes
/<ident>/frame_<tag> (channel, tick), chunks of whole rows, or runs_<tag>, values_<tag>, shape_<tag>
                     attributes of the first: start_ns, tick_ns, first_tick
/<ident>/channels_<tag>, summary_<tag>
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from ..frame import Frame, Traces
from ..packages import required
from . import members
from .delayed_signals import delayed_signals
from .output import replaced_folder

NEED = "Zarr files need"
MARK = "zarr.json"  # metadata of a group or an array of format 3
TIMES = ("start_ns", "tick_ns", "first_tick")


def read(path: Path, tags: tuple[str, ...]) -> Iterator[Frame]:
    """Yield the events of a group in the order of its attribute `events`."""
    with _readable(path) as root:
        for ident in root.attrs["events"]:
            with delayed_signals():
                frame = _frame_from(root[str(ident)], ident, tags, f"{path}, event {ident}")
            yield frame


def write(path: Path, frames: Iterable[Frame], form: str) -> None:
    """Write events. Raise Error if two have the same ident."""
    zarr = required("zarr", NEED)
    with replaced_folder(path, MARK) as partial:
        with delayed_signals():
            root = zarr.create_group(partial, zarr_format=3)
        idents: list[int] = []
        for frame in frames:
            members.check_names(frame, str(path))
            if frame.ident in idents:
                raise Error("Output", "two events have the same id", str(path), str(frame.ident))
            idents.append(frame.ident)
            with delayed_signals():
                _write_frame(root, frame, form)
        with delayed_signals():
            root.attrs["events"] = idents


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """Open a group. Turn failures of Zarr, also those of later reads, into Error(Input)."""
    zarr = required("zarr", NEED)
    try:
        yield zarr.open_group(path, mode="r")
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise Error("Input", "the Zarr group cannot be read", str(path), str(error)) from None


def _frame_from(group: Any, ident: int, tags: tuple[str, ...], where: str) -> Frame:
    present = set(group.array_keys())
    names = [
        first for tag in group.attrs["tags"] for first in (f"frame_{tag}", f"runs_{tag}") if first in present
    ]
    traces = {}
    for tag in members.tags_in(names, tags, where):
        kinds = ("frame", *members.SPARSE, "channels", "summary")
        arrays = {kind: group[f"{kind}_{tag}"] for kind in kinds if f"{kind}_{tag}" in present}
        attributes = next(iter(arrays.values())).attrs
        start, tick, first = (attributes[name] for name in TIMES)
        values = {kind: array[...] for kind, array in arrays.items()}
        traces[tag] = members.traces_from(tag, values, (start, tick, first), where)
    masks = {
        name: np.array(rows, np.int64).reshape(-1, 3) for name, rows in group.attrs.get("masks", {}).items()
    }
    return members.frame_from(traces, ident, masks, dict(group.attrs.get("notes", {})))


def _write_frame(root: Any, frame: Frame, form: str) -> None:
    masks = {name: np.asarray(mask).tolist() for name, mask in frame.masks.items()}
    attributes = {"tags": list(frame.traces), "masks": masks, "notes": members.notes_of(frame)}
    group = root.create_group(str(frame.ident), attributes=attributes)
    for tag, traces in frame.traces.items():
        for index, (kind, array) in enumerate(members.arrays_of(traces, form).items()):
            _write_array(group, f"{kind}_{tag}", array, _times(traces) if index == 0 else {})


def _times(traces: Traces) -> dict[str, float]:
    return dict(zip(TIMES, (float(traces.start_ns), float(traces.tick_ns), int(traces.first_tick))))


def _write_array(group: Any, name: str, array: np.ndarray, attributes: dict[str, float]) -> None:
    """Write an array; a checksum follows each chunk."""
    codec = required("zarr.codecs", NEED).ZstdCodec(level=1, checksum=True)
    rows = members.rows_in_chunk(array.shape, array.dtype.itemsize) if array.ndim == 2 else array.shape[0]
    chunks = (max(1, rows), *array.shape[1:])
    group.create_array(name, data=array, chunks=chunks, compressors=codec, attributes=attributes)
