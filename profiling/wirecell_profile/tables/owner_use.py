"""What ranges or node calls did on host and device, one row each: the numbers under every table per range or node.

An owner is a range, which owns all that was launched within it (its children's too), or a node call, which owns what no call
nested in it owns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.events import BLOCKING, MEMCPY, MEMSET, Calls, Operations
from ..model.intervals import union_by_owner
from ..model.selection import Scope
from ..model.table import NULL

HOST_TO_DEVICE, DEVICE_TO_HOST = (1, 11), (2, 12)  # copyKind; 11 and 12 are those of unified memory


@dataclass
class DeviceWork:
    """Per owner. Times in ns; everything is 0 for an owner without operations."""

    operations: np.ndarray
    launches: np.ndarray  # different launching API calls: a graph launch counts once
    gpu_sum: np.ndarray  # durations added up
    kernel_sum: np.ndarray
    gpu_busy: np.ndarray  # union of the operations
    copy_busy: np.ndarray  # union of copies and sets
    span: np.ndarray  # first start to last end
    last: np.ndarray  # last end, NULL without operations
    to_device: np.ndarray  # bytes copied from the host
    to_host: np.ndarray
    copied: np.ndarray  # bytes of all copies and sets

    @property
    def idle(self) -> np.ndarray:
        """proj_idle: span without an operation of the owner."""
        return self.span - self.gpu_busy


def device_work(
    operations: Operations, launch: np.ndarray, owner: np.ndarray, operation: np.ndarray, owners: int
) -> DeviceWork:
    """Of pairs (owner, operation); `launch`: index of each operation's API call, -1 for none."""
    mine = operations.take(operation)
    is_copy = np.isin(mine.kind, (MEMCPY, MEMSET))
    duration = mine.duration
    start, end = np.full(owners, np.iinfo(np.int64).max), np.full(owners, NULL)
    np.minimum.at(start, owner, mine.start)
    np.maximum.at(end, owner, mine.end)
    size = np.where(mine.bytes == NULL, 0, mine.bytes)
    launched = (
        np.unique(np.stack([owner, launch[operation]]), axis=1) if len(owner) else np.empty((2, 0), np.int64)
    )

    def added(values: np.ndarray, mask: np.ndarray | slice = slice(None)) -> np.ndarray:
        total = np.zeros(owners, dtype=np.int64)
        np.add.at(total, owner[mask], values[mask])
        return total

    return DeviceWork(
        operations=np.bincount(owner, minlength=owners),
        launches=np.bincount(launched[0][launched[1] >= 0], minlength=owners),
        gpu_sum=added(duration),
        kernel_sum=added(duration, ~is_copy),
        gpu_busy=union_by_owner(mine.start, mine.end, owner, owners),
        copy_busy=union_by_owner(mine.start[is_copy], mine.end[is_copy], owner[is_copy], owners),
        span=np.where(end == NULL, 0, end - np.where(end == NULL, 0, start)),
        last=end,
        to_device=added(size, np.isin(mine.copy_kind, HOST_TO_DEVICE)),
        to_host=added(size, np.isin(mine.copy_kind, DEVICE_TO_HOST)),
        copied=added(size, is_copy),
    )


@dataclass
class ApiWork:
    """Per owner, ns: time in the CUDA API, and in those calls of it that wait for the device."""

    api: np.ndarray
    waiting: np.ndarray


def is_waiting(calls: Calls) -> np.ndarray:
    """Mask of the API calls that wait for the device: synchronisation, and copies and sets that are not Async."""
    return calls.name.matching(
        lambda name: (
            any(part in name for part in BLOCKING)
            or (("Memcpy" in name or "Memset" in name) and "Async" not in name and "Graph" not in name)
        )
    )


def api_work(calls: Calls, owner: np.ndarray, call: np.ndarray, owners: int) -> ApiWork:
    """Of pairs (owner, API call). Unions, since a driver call lies in the runtime call that makes it."""
    mine = calls.take(call)
    waiting = is_waiting(mine)
    return ApiWork(
        union_by_owner(mine.start, mine.end, owner, owners),
        union_by_owner(mine.start[waiting], mine.end[waiting], owner[waiting], owners),
    )


def queue_times(scope: Scope) -> np.ndarray:
    """For each operation how long it waited after its launching call ended, 0 when it started before; NULL without a call."""
    projection = scope.projection
    launch = projection.call_of_operation
    if not len(projection.calls):
        return np.full(len(launch), NULL, dtype=np.int64)
    waited = np.maximum(0, projection.operations.start - projection.calls.end[launch])
    return np.where(launch >= 0, waited, NULL)


def quantiles(values: np.ndarray) -> tuple[float | None, float | None]:
    """Median and 95th percentile of what is not NULL, None without a value."""
    known = values[values != NULL]
    if not len(known):
        return None, None
    middle, high = np.percentile(known, (50, 95))
    return float(middle), float(high)
