# SPDX-License-Identifier: Apache-2.0
"""Work of ranges or node calls on host and device, one row each: the basis of all tables per range or node.

An owner is a range or a node call. A range owns everything launched within it, including in its children. A
node call owns everything launched within it, except in calls nested in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.events import BLOCKING, MEMCPY, MEMSET, Calls, Operations
from ..model.grouping import percent
from ..model.intervals import union_by_owner
from ..model.selection import Scope
from ..model.table import NULL

HOST_TO_DEVICE, DEVICE_TO_HOST = (1, 11), (2, 12)  # copyKind; 11 and 12 for unified memory


@dataclass
class DeviceWork:
    """Device work per owner. Times in ns; all values are 0 for an owner without operations."""

    operations: np.ndarray
    launches: np.ndarray  # distinct launching API calls; a graph launch counts once
    gpu_sum: np.ndarray  # durations added up
    kernel_sum: np.ndarray
    gpu_busy: np.ndarray  # union of the operations
    copy_busy: np.ndarray  # union of copies and sets
    span: np.ndarray  # first start to last end
    last: np.ndarray  # last end, NULL without operations
    to_device: np.ndarray  # bytes copied from the host
    to_host: np.ndarray


def device_work(
    operations: Operations, launch: np.ndarray, owner: np.ndarray, operation: np.ndarray, owners: int
) -> DeviceWork:
    """Return the device work of pairs (owner, operation).

    `launch`: index of each operation's API call, -1 for none.
    """
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

    def summed(values: np.ndarray, mask: np.ndarray | slice = slice(None)) -> np.ndarray:
        total = np.zeros(owners, dtype=np.int64)
        np.add.at(total, owner[mask], values[mask])
        return total

    return DeviceWork(
        operations=np.bincount(owner, minlength=owners),
        launches=np.bincount(launched[0][launched[1] >= 0], minlength=owners),
        gpu_sum=summed(duration),
        kernel_sum=summed(duration, ~is_copy),
        gpu_busy=union_by_owner(mine.start, mine.end, owner, owners),
        copy_busy=union_by_owner(mine.start[is_copy], mine.end[is_copy], owner[is_copy], owners),
        span=np.where(end == NULL, 0, end - np.where(end == NULL, 0, start)),
        last=end,
        to_device=summed(size, np.isin(mine.copy_kind, HOST_TO_DEVICE)),
        to_host=summed(size, np.isin(mine.copy_kind, DEVICE_TO_HOST)),
    )


@dataclass
class ApiWork:
    """Per owner: time in CUDA API calls, and in those that wait for the device [ns]."""

    api: np.ndarray
    waiting: np.ndarray


def is_waiting(calls: Calls) -> np.ndarray:
    """Return the mask of API calls that wait for the device: synchronisation, and copies and sets without
    Async."""
    return calls.name.matching(
        lambda name: (
            any(part in name for part in BLOCKING)
            or (("Memcpy" in name or "Memset" in name) and "Async" not in name and "Graph" not in name)
        )
    )


def api_work(calls: Calls, owner: np.ndarray, call: np.ndarray, owners: int) -> ApiWork:
    """Return the API time of pairs (owner, API call).

    Times are unions, because driver calls lie in runtime calls.
    """
    mine = calls.take(call)
    waiting = is_waiting(mine)
    return ApiWork(
        union_by_owner(mine.start, mine.end, owner, owners),
        union_by_owner(mine.start[waiting], mine.end[waiting], owner[waiting], owners),
    )


def queue_times(scope: Scope) -> np.ndarray:
    """Return for each operation its wait after the end of the launching call, at least 0;

    NULL without a call.
    """
    projection = scope.projection
    launch = projection.call_of_operation
    if not len(projection.calls):
        return np.full(len(launch), NULL, dtype=np.int64)
    waited = np.maximum(0, projection.operations.start - projection.calls.end[launch])
    return np.where(launch >= 0, waited, NULL)


def quantiles(values: np.ndarray) -> tuple[float | None, float | None]:
    """Return median and 95th percentile of the values that are not NULL, None without values."""
    known = values[values != NULL]
    if not len(known):
        return None, None
    middle, high = np.percentile(known, (50, 95))
    return float(middle), float(high)


def device_columns(calls: str, busy: str, efficiency: str = "") -> str:
    """Return the heads of device_cells, with those of the additional cells. calls: name of the owner's calls."""
    return (
        f"GPU ops, Ops per {calls}, Launches, gpu_sum (ns), gpu_busy (ns), {busy}, proj_span (ns), proj_idle (ns), "
        f"proj_eff (%), {efficiency}API (ns), Waiting API (ns), Queue p50 (ns), Queue p95 (ns), To device (B), To host (B)"
    )


def device_cells(
    work: DeviceWork,
    api: ApiWork,
    rows: np.ndarray,
    queue: np.ndarray,
    busy: np.ndarray | None,
    copies: bool,
    with_kernels: bool = False,
) -> tuple:
    """Return the cells of all tables of device work, summed over some owners.

    `queue`: their operations' queue times. `busy`: busy time by another definition, per owner, None if the file lacks
    it. `copies`: whether the file records copies. `with_kernels`: also the sum of the kernels' durations over the span.
    """

    def total(part: np.ndarray) -> int:
        return int(part[rows].sum())

    operations, span, union = total(work.operations), total(work.span), total(work.gpu_busy)
    shares = [union, total(work.kernel_sum)] if with_kernels else [union]
    return (
        *(operations, operations / len(rows), total(work.launches), total(work.gpu_sum), union),
        None if busy is None else total(busy),
        *(span, span - union, *(percent(share, span) if span else None for share in shares)),
        *(total(api.api), total(api.waiting), *quantiles(queue)),
        *((total(work.to_device), total(work.to_host)) if copies else (None, None)),
    )
