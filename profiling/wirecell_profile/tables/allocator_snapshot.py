# SPDX-License-Identifier: Apache-2.0
"""Snapshot of LibTorch's caching allocator: its blocks, and the history of allocations if it was recorded.

A snapshot is a pickle from elsewhere, so it is read without any class or function: an unpickler that looks one
up could execute code.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from ..errors import MissingData, ProfileError, system_error
from ..output import Result, columns

Block = dict[str, Any]
Owner = tuple[str | None, str | None]  # function, and line of its source

MAX_BLOCKS = 20  # blocks shown
NOBODY: Owner = (None, None)  # no stack was recorded
EARLIER: Owner = ("before the history", None)
# Change of a level by an entry of the history. Sizes of allocations are those requested.
REQUESTED = {"alloc": 1, "free_requested": -1}
RESERVED = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
# Frames of the allocator itself and of the code that every allocation passes.
COMMON = ("c10::", "at::", "torch::", "std::", "non-virtual thunk", "__", "_start", "??")


class _PlainUnpickler(pickle.Unpickler):
    """Reads containers, numbers and strings."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"the class or function {module_name}.{global_name}")


@dataclass
class Device:
    """Segments of a device, and the entries of its history, oldest first."""

    index: int
    segments: list[dict[str, Any]]
    trace: list[dict[str, Any]]

    def blocks(self) -> list[Block]:
        """Return the blocks of all segments."""
        return [block for segment in self.segments for block in segment["blocks"]]

    def peak(self, changes: dict[str, int], last: int) -> tuple[int, int] | None:
        """Return the highest level in the history that ends at the level `last`, and the count of entries before it.

        Return None without a history.
        """
        steps = [changes.get(entry["action"], 0) * entry["size"] for entry in self.trace]
        levels = list(accumulate(steps, initial=last - sum(steps)))
        return (max(levels), levels.index(max(levels))) if steps else None

    def requested(self) -> int:
        """Return the bytes requested for the blocks that are allocated."""
        return sum(block["requested"] for block in self.blocks() if block["state"] == "active_allocated")

    def held_at_peak(self) -> dict[Owner, list[int]]:
        """Return owner -> sizes of the blocks that were allocated at the peak, of requested bytes.

        Raise MissingData if the history contradicts the blocks.
        """
        peak = self.peak(REQUESTED, self.requested())
        if peak is None:
            return {}
        level, entries = peak
        held: dict[int, tuple[Owner, int]] = {}
        for entry in self.trace[:entries]:
            if entry["action"] == "alloc":
                held[entry["address"]] = entry["owner"], entry["size"]
            elif entry["action"] == "free_requested":
                held.pop(entry["address"], None)
        owners: dict[Owner, list[int]] = defaultdict(list)
        for owner, size in held.values():
            owners[owner].append(size)
        earlier = level - sum(size for _, size in held.values())
        if earlier < 0:
            raise MissingData("the history does not fit the blocks")
        if earlier:
            owners[EARLIER].append(earlier)
        return owners


def read(path: Path) -> list[Device]:
    """Read the devices that have segments or a history. Raise ProfileError for anything but a snapshot."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise system_error("cannot read the snapshot", path, error) from None
    try:
        return _devices(_PlainUnpickler(io.BytesIO(content)).load())
    except Exception as error:  # a damaged pickle raises errors of many types
        raise ProfileError(
            "not a snapshot of LibTorch's allocator",
            str(path),
            f"{error}" if isinstance(error, pickle.UnpicklingError) else f"{type(error).__name__}: {error}",
            "a pickle of containers, numbers and strings with the keys segments and device_traces",
            "wire-cell --memory-snapshot FILE and torch.cuda.memory._dump_snapshot(FILE) write one",
        ) from None


def _devices(snapshot: Any) -> list[Device]:
    """Return the devices, with the fields that the tables use checked."""
    segments: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for segment in snapshot["segments"]:
        segments[int(segment["device"])].append(
            {
                "device": int(segment["device"]),
                "total_size": int(segment["total_size"]),
                "blocks": [_block(block) for block in segment["blocks"]],
            }
        )
    traces = [[_entry(entry) for entry in trace] for trace in snapshot["device_traces"]]
    used = sorted({*segments, *(index for index, trace in enumerate(traces) if trace)})
    return [Device(index, segments[index], traces[index] if index < len(traces) else []) for index in used]


def _block(block: Any) -> Block:
    size = int(block["size"])
    return {
        "address": int(block["address"]),
        "size": size,
        "requested": int(block.get("requested_size", size)),
        "state": str(block["state"]),
        "owner": _owner(block.get("frames", [])),
    }


def _entry(entry: Any) -> dict[str, Any]:
    action = str(entry["action"])
    return {
        "action": action,
        "size": int(entry["size"]),
        "address": int(entry["addr"]) if action in REQUESTED else None,
        "owner": _owner(entry.get("frames", [])) if action == "alloc" else NOBODY,
    }


def devices(found: Iterable[Device]) -> Result:
    """Make the table of the devices."""
    rows = []
    for device in found:
        blocks = device.blocks()
        reserved = sum(segment["total_size"] for segment in device.segments)
        allocated = [block for block in blocks if block["state"] == "active_allocated"]
        free = [block["size"] for block in blocks if block["state"] == "inactive"]
        requested = device.requested()
        peaks = [
            device.peak(changes, last) for changes, last in ((RESERVED, reserved), (REQUESTED, requested))
        ]
        rows.append(
            (
                device.index,
                len(device.segments),
                reserved,
                _size(block for block in blocks if block["state"] != "inactive"),
                _size(allocated),
                requested,
                max(free, default=0),
                100 * (1 - max(free) / sum(free)) if free else None,
                *(peak[0] if peak else None for peak in peaks),
                sum(entry["action"] == "oom" for entry in device.trace) if device.trace else None,
            )
        )
    return Result(
        columns(
            "Device, Segments, Reserved (B), Active (B), Allocated (B), Requested (B), Largest free (B)",
            "Fragmentation (%), Peak reserved (B), Peak requested (B), Out of memory",
        ),
        _required(rows, "no block and no history"),
    )


def blocks(found: Iterable[Device]) -> Result:
    """Make the table of the largest blocks in use, with the function that allocated each."""
    rows = [
        (block["size"], device.index, hex(block["address"]), block["state"], *block["owner"])
        for device in found
        for block in device.blocks()
        if block["state"] != "inactive"
    ]
    rows.sort(key=lambda row: (-row[0], row[1:3]))
    return Result(
        columns("Size (B), Device, Address, State, Allocated by, Source"),
        _required(rows[:MAX_BLOCKS], "no block is in use"),
    )


def at_peak(found: Iterable[Device]) -> Result:
    """Make the table of the bytes that were requested at the peak of each device, by owner."""
    rows = [
        (sum(sizes), device.index, len(sizes) if owner != EARLIER else None, *owner)
        for device in found
        for owner, sizes in device.held_at_peak().items()
    ]
    rows.sort(key=lambda row: (-row[0], row[1], str(row[3:])))
    return Result(
        columns("Size (B), Device, Blocks, Allocated by, Source"),
        _required(rows, "the snapshot has no history of allocations"),
    )


def _size(blocks_: Iterable[Block]) -> int:
    return sum(block["size"] for block in blocks_)


def _owner(frames: list[Any]) -> Owner:
    """Return the innermost frame outside of LibTorch, else the outermost."""
    found = None
    for frame in frames:
        found = frame
        if not str(frame["name"]).startswith(COMMON):
            break
    if found is None:
        return NOBODY
    file, line = Path(found["filename"]).name, int(found["line"])
    # Without addr2line LibTorch gives the offset in a library instead of a line.
    return str(found["name"]), f"{file}:{line}" if line and ".so" not in file else None


def _required(rows: list[tuple[Any, ...]], what: str) -> list[tuple[Any, ...]]:
    if not rows:
        raise MissingData(what)
    return rows
