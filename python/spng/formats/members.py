# SPDX-License-Identifier: Apache-2.0
"""The arrays of an event in HDF5 and Zarr files, with the names of the members of .npz files, without the ident.

frame_<tag> (channel, tick), or runs_<tag>, values_<tag> and shape_<tag>     samples, dense or sparse
channels_<tag> (channel) int32, tickinfo_<tag> (3) float64, summary_<tag> (channel) float64, optional
chanmask_<name> (n, 3) int32, notes_spng (byte), optional
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from wirecell_profile.path_names import readable

from ..arguments import is_text
from ..errors import Error
from ..frame import Frame, SparseSamples, runs_of
from .checksums import require_checksum, require_members

CHUNK_BYTES = 1 << 22  # of samples before compression
MOST_CHUNKS = 100_000  # of an array: 4 GiB in chunks of 43 kB
# Rows of all masks of an event: 270 ranges in each of 15 360 channels. Each becomes an object of about 100 bytes.
MOST_MASK_ROWS = 1 << 22
LARGEST_LIST_BYTES = 1 << 26  # of checksums: 25 bytes for each of 2.6 million events
LONGEST_MEMBER = 100  # letters of the name of a member (spng/io/archive/archive_writer.cxx)
NAME = re.compile("[ -.0-~]*")
MASK_TICKS = "mask_ticks"  # key of the note mask_ticks_note (spng/io/frame_parts.h)
NOTES = "notes_spng"


def rows_in_chunk(shape: tuple[int, ...], itemsize: int) -> int:
    """Return the rows of a chunk (rows, all ticks) of about CHUNK_BYTES."""
    return max(1, min(shape[0], CHUNK_BYTES // max(1, shape[1] * itemsize)))


def sparse(samples: np.ndarray) -> SparseSamples:
    """Return the shortest runs of the samples (channel, tick) whose bits are not 0: -0.0 and NaN survive."""
    samples = np.ascontiguousarray(samples)
    is_set = samples.view(f"i{samples.dtype.itemsize}") != 0
    return SparseSamples(runs_of(is_set), samples[is_set], samples.shape)


def as_numpy(samples: object) -> np.ndarray:
    """Return samples, possibly a torch tensor on any device, as a NumPy array."""
    return samples.detach().cpu().numpy() if hasattr(samples, "detach") else np.asarray(samples)


def arrays_of(frame: Frame, form: str, path: str) -> dict[str, np.ndarray]:
    """Return the members of an event by their names, in their order. Raise Error if they are too large to be read."""
    arrays: dict[str, np.ndarray] = {}
    for tag, traces in frame.traces.items():
        samples = as_numpy(traces.dense())
        if form == "dense":
            arrays[f"frame_{tag}"] = samples
        else:
            parts = sparse(samples)
            arrays |= {f"runs_{tag}": parts.runs.astype(np.int32), f"values_{tag}": parts.values}
            arrays[f"shape_{tag}"] = np.array(parts.shape, np.int64)
        arrays[f"channels_{tag}"] = np.asarray(traces.channels, np.int32)
        if traces.summary is not None:
            arrays[f"summary_{tag}"] = np.asarray(traces.summary, np.float64)
        arrays[f"tickinfo_{tag}"] = np.array([traces.start_ns, traces.tick_ns, traces.first_tick], np.float64)
    for name, mask in frame.masks.items():
        arrays[f"chanmask_{name}"] = np.asarray(mask, np.int32).reshape(-1, 3)
    if notes := notes_of(frame):
        arrays[NOTES] = bytes_of(notes)
    require_event_size(f"{path}, event {frame.ident}", arrays)
    return arrays


def bytes_of(notes: object) -> np.ndarray:
    """Return notes as the member of a .npz: the bytes of JSON."""
    return np.frombuffer(json.dumps(notes).encode(), np.uint8)


def frame_of(
    path: Path,
    ident: int,
    tags: tuple[str, ...],
    names: list[str],
    find: Callable[[str], Any],
    checksums: dict[str, int] | None,
) -> Frame:
    """Return an event of a file, with the checks of .npz files (spng/io/frame_assembly.h).

    names: its arrays; others than members of a frame are left out. find: returns one, to be read by [()]. Raise Error if
    they do not fit each other, or their checksums (None: the file has none).
    """
    from ..native import core

    event = core.FrameAssembly(str(path), ident, list(tags))
    for name in names:
        if not is_text(name):
            raise Error(
                "Input", "a name cannot be read", f"{readable(path)}, event {ident}", repr(name), "UTF-8"
            )
    members = [name for name in names if event.is_member(name)]
    if checksums is not None:
        require_members(f"{readable(path)}, event {ident}", members, list(checksums))
        members = list(checksums)
    where = f"{readable(path)}, event {ident}"
    nodes = {name: find(name) for name in members if event.wants(name)}
    for name, node in nodes.items():
        require_array(f"{where}, {name}", node)
    require_event_size(where, nodes)
    for name, node in nodes.items():
        content = node[()]
        has_text = name == NOTES and isinstance(content, bytes)
        array = np.frombuffer(content, np.uint8) if has_text else np.asarray(content)
        if checksums is not None:
            require_checksum(f"{where}, {name}", array, name, checksums[name])
        event.add(name, array)
    return event.frame()


def require_event_size(where: str, arrays: Mapping[str, Any]) -> None:
    """Raise Error if the arrays of an event are together larger than one array may be, or its masks too long: before they are
    allocated.
    """
    from ..native import core

    size = sum(_bytes_of(array.shape, array) for array in arrays.values())
    rows = sum(
        array.shape[0] for name, array in arrays.items() if name.startswith("chanmask_") and array.shape
    )
    for count, most, unit in (
        (size, core.LARGEST_ARRAY_BYTES, "bytes"),
        (rows, MOST_MASK_ROWS, "rows of masks"),
    ):
        if count > most:
            raise Error(
                "Input",
                "an event claims too large a size",
                where,
                f"{count} {unit} in all",
                f"at most {most} {unit}",
            )


def _bytes_of(shape: tuple[int, ...], array: Any) -> int:
    return math.prod(shape) * array.dtype.itemsize


def require_array(where: str, node: Any, largest: int | None = None) -> None:
    """Raise Error for what is no array, and for one, or a chunk of one, that is larger than any in a .npz may be: before it is
    allocated.
    """
    from ..native import core

    largest = largest or core.LARGEST_ARRAY_BYTES
    chunks = getattr(node, "chunks", None) or ()
    if getattr(node, "shape", None) is None:  # a group, a type, or a data set without a space
        raise Error("Input", "this is no array", where, repr(node), "an array")
    for shape in (node.shape, chunks):
        if (size := _bytes_of(shape, node)) > largest:
            raise Error(
                "Input",
                "an array of the file claims too large a size",
                where,
                f"shape {shape}: {size} bytes",
                f"at most {largest} bytes",
            )
    count = math.prod(-(-size // max(1, chunk)) for size, chunk in zip(node.shape, chunks))
    if count > MOST_CHUNKS:  # also absent ones take time and memory
        raise Error(
            "Input",
            "an array of the file has too many chunks",
            where,
            f"shape {node.shape} in chunks of {chunks}: {count} chunks",
            f"at most {MOST_CHUNKS} chunks",
            "write it in larger chunks",
        )


def notes_of(frame: Frame) -> dict[str, str]:
    """Return the notes to store: with the mark of masks that count from the start, where an event needs it."""
    has_masks = any(len(mask) for mask in frame.masks.values())
    if frame.notes and has_masks and any(traces.first_tick for traces in frame.traces.values()):
        return frame.notes | {MASK_TICKS: "from the start"}
    return frame.notes


def check_names(frame: Frame, path: Path) -> None:
    """Raise Error for tags and names of masks that .npz files cannot have either: every format can be converted."""
    for kind, names in (("channels", frame.traces), ("chanmask", frame.masks)):
        for name in names:
            taken = len(f"{kind}__{frame.ident}.npy")
            if not NAME.fullmatch(name) or len(name) > LONGEST_MEMBER - taken:
                raise Error(
                    "Output",
                    "a tag or the name of a mask cannot be stored",
                    f"{readable(path)}, event {frame.ident}",
                    repr(name),
                    f"at most {LONGEST_MEMBER - taken} printable ASCII characters, no '/'",
                    "choose another name",
                )
